import { assert, describe, it } from "@effect/vitest"
import { closeSync, openSync } from "node:fs"
import { type DiskSteps, DiskWork, doNow } from "../../src/base/diskSteps.ts"

/** No process has a descriptor with this number. */
const NO_DESCRIPTOR = 2 ** 31 - 1

/** Work that waits for the sync of a file between two notes. It notes an error, which ends it, and its end. */
function* syncing(descriptor: number, noted: Array<string>): DiskSteps {
  try {
    noted.push("before")
    yield
    yield descriptor
    noted.push("after")
  } catch (cause) {
    noted.push(cause instanceof Error && "code" in cause ? String(cause.code) : String(cause))
    throw cause
  } finally {
    noted.push("end")
  }
}

const withDescriptor = async (work: (descriptor: number) => unknown): Promise<void> => {
  const descriptor = openSync(import.meta.filename, process.platform === "win32" ? "r+" : "r")
  try {
    await work(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

describe("work on files in steps", () => {
  it("goes on after a sync, at once and aside", () =>
    withDescriptor(async (descriptor) => {
      for (const how of ["now", "aside"] as const) {
        const noted: Array<string> = []
        if (how === "now") doNow(syncing(descriptor, noted))
        else await new DiskWork(syncing(descriptor, noted)).end
        assert.deepStrictEqual(noted, ["before", "after", "end"], how)
      }
    }))

  it("an error of a sync goes into the work and to its caller, at once and aside", async () => {
    const now: Array<string> = []
    assert.throws(() => doNow(syncing(NO_DESCRIPTOR, now)), "EBADF")
    const aside: Array<string> = []
    const failed = await new DiskWork(syncing(NO_DESCRIPTOR, aside)).end.then(() => "no error", String)
    assert.include(failed, "EBADF")
    for (const noted of [now, aside]) assert.deepStrictEqual(noted, ["before", "EBADF", "end"])
  })

  it("work that is stopped during a sync does not go on, whatever the result of the sync is", () =>
    withDescriptor(async (descriptor) => {
      for (const file of [descriptor, NO_DESCRIPTOR]) {
        const noted: Array<string> = []
        const steps = syncing(file, noted)
        // Only the sync is left.
        steps.next()
        const work = new DiskWork(steps)
        work.stop()
        assert.deepStrictEqual(noted, ["before", "end"])
        await work.end
        assert.deepStrictEqual(noted, ["before", "end"])
      }
    }))
})
