import { assert, describe, it } from "@effect/vitest"
import { buildSync } from "esbuild"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"
import { YOUNG_BYTES } from "../../src/base/boundHeap.ts"

/** A program of one file, from sources in the folder of `boundHeap.ts`. */
const bundled = (contents: string): string => {
  const { outputFiles: [bundle] } = buildSync({
    stdin: { contents, resolveDir: fileURLToPath(new URL("../../src/base", import.meta.url)) },
    bundle: true,
    format: "esm",
    platform: "node",
    write: false
  })
  return bundle?.text ?? ""
}

const bounds = bundled(`import { boundHeap } from "./boundHeap.ts"
      import { Session } from "node:inspector/promises"
      import { getHeapSpaceStatistics } from "node:v8"
      import { Worker } from "node:worker_threads"
      const young = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size
      // Objects of which many survive, as in a sync: V8 enlarges the young generation.
      const work = () => { const kept = []; for (let i = 0; i < 1_000_000; i++) { const one = [i]; if (i % 3 === 0) kept.push(one) } }
      boundHeap()
      work()
      const alone = young()
      // Memory is released, and work goes on.
      const session = new Session()
      session.connect()
      await session.post("HeapProfiler.collectGarbage")
      const released = young()
      // More, for a moment, where a collection has not ended.
      for (const until = Date.now() + 20_000; young() !== alone && Date.now() < until;) {
        work()
        await new Promise((resolve) => setImmediate(resolve))
      }
      const again = young()
      // The bound listens to the same event.
      new Worker("", { eval: true }).once("online", () => setImmediate(() => {
        work()
        console.log(JSON.stringify([alone, released, again, young()]))
      }))`)

// Counts the flags that are set at the start, and in some looks at a thread that works.
const looks = bundled(`import { boundHeap } from "./boundHeap.ts"
      import { syncBuiltinESMExports } from "node:module"
      import v8 from "node:v8"
      const set = v8.setFlagsFromString
      let flags = 0
      v8.setFlagsFromString = (flag) => { flags++; set(flag) }
      syncBuiltinESMExports()
      boundHeap()
      const atStart = flags
      for (const until = Date.now() + 2_500; Date.now() < until;) {
        for (const part = Date.now() + 5; Date.now() < part;);
        await new Promise((resolve) => setImmediate(resolve))
      }
      console.log(JSON.stringify([atStart, flags - atStart]))
      process.exit()`)

const folder = mkdtempSync(join(tmpdir(), "svcd-heap-"))
afterAll(() => rmSync(folder, { force: true, recursive: true }))

/** The numbers that a program writes, in a process of its own. */
const numbersOf = (text: string, options: ReadonlyArray<string>): ReadonlyArray<number> => {
  const program = join(folder, "program.mjs")
  writeFileSync(program, text)
  const { stdout } = spawnSync(process.execPath, [...options, program], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
    timeout: 30_000
  })
  return JSON.parse(stdout)
}

/**
 * The bytes of the young generation after much work, after memory was released, after work behind that, and after work beside a new
 * thread.
 */
const measured = (...options: ReadonlyArray<string>): ReadonlyArray<number> => numbersOf(bounds, options)

describe("bounds of the heap", () => {
  it("hold the young generation, even when a thread starts, and give its room back after memory was released", () => {
    const [before, released = 0, again, after = 0] = measured()
    assert.strictEqual(before, YOUNG_BYTES)
    assert.isBelow(released, YOUNG_BYTES)
    assert.strictEqual(again, YOUNG_BYTES)
    // It may double once if a thread starts while it is full.
    assert.isAtMost(after, 2 * YOUNG_BYTES)
  })

  it("leave the size that the user chose", () => {
    const MIB = 1024 * 1024
    const [before, , again, after = 0] = measured("--max-semi-space-size=8")
    assert.deepStrictEqual([before, again], [16 * MIB, 16 * MIB])
    // V8 counts a third half, in part, while it collects beside a thread that starts.
    assert.isAtLeast(after, 16 * MIB)
    assert.isAtMost(after, 2 * 16 * MIB)
  })

  it("try no growth while the node works that a small heap does not allow for", () => {
    const [atStart, later] = numbersOf(looks, ["--max-heap-size=150"])
    // The limit of growth comes after the start.
    assert.deepStrictEqual([atStart, later], [2, 1])
  })
})
