import { assert, describe, it } from "@effect/vitest"
import { type FileHandle, open } from "node:fs/promises"
import { join } from "node:path"
import { GroupCommit } from "../../../src/mail/relay/GroupCommit.ts"
import { withDirectoryAsync } from "../../support/temporary.ts"

/** A file whose sync a test can observe and fail. */
const watched = async (path: string, log: Array<string>, name: string, failure?: Error): Promise<FileHandle> => {
  const file = await open(path, "w")
  const sync = file.sync.bind(file)
  file.sync = async () => {
    log.push(`sync ${name}`)
    if (failure !== undefined) throw failure
    await sync()
  }
  return file
}

describe("GroupCommit", () => {
  it("gathers a group while another one is syncing, and renames files only when they are synced", () =>
    withDirectoryAsync(async (directory) => {
      const log: Array<string> = []
      const commits = new GroupCommit(directory)
      const commit = async (name: string, failure?: Error): Promise<void> => {
        const file = await watched(join(directory, name), log, name, failure)
        await commits.commit(file, async () => void log.push(`name ${name}`))
        log.push(`done ${name}`)
      }
      const files = await Promise.allSettled([commit("a"), commit("b", new Error("broken")), commit("c")])
      assert.deepStrictEqual(files.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"])
      for (const name of ["a", "c"]) {
        const order = log.filter((entry) => entry.endsWith(name))
        assert.deepStrictEqual(order, [`sync ${name}`, `name ${name}`, `done ${name}`])
      }
      assert.isFalse(log.includes("name b"))
      // It goes on after a failure.
      await commit("d")
      assert.strictEqual(log.at(-1), "done d")
    }))

  it("fails all of a group whose directory cannot be synced", () =>
    withDirectoryAsync(async (directory) => {
      const commits = new GroupCommit(join(directory, "gone"))
      const file = await open(join(directory, "a"), "w")
      const failure = await commits.commit(file, () => Promise.resolve()).then(
        () => undefined,
        (error: unknown) => error
      )
      assert.instanceOf(failure, Error)
    }))

  it("syncs changed names alone, and reports a failure", () =>
    withDirectoryAsync(async (directory) => {
      await new GroupCommit(directory).syncNames()
      const failure = await new GroupCommit(join(directory, "gone")).syncNames().then(
        () => undefined,
        (error: unknown) => error
      )
      assert.instanceOf(failure, Error)
    }))
})
