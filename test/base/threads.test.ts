import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { noThreads, Threads } from "../../src/base/threads.ts"
import { temporaryDirectory } from "../support/chain.ts"

describe("threads", () => {
  it.scopedLive("run a compiled program; without one, or where a program wants none, there is no thread", () =>
    Effect.gen(function*() {
      const launchOf = yield* Threads
      const path = join(yield* temporaryDirectory, "worker.mjs")
      const program = pathToFileURL(path)
      assert.isUndefined(launchOf({ program }))
      writeFileSync(path, `import { parentPort } from "node:worker_threads"\nparentPort.postMessage(7)`)
      const worker = launchOf({ program, limits: { maxYoungGenerationSizeMb: 6 } })?.() ?? assert.fail()
      const answer = yield* Effect.async((resume) => {
        worker.once("message", (found) => resume(Effect.succeed(found)))
      })
      assert.strictEqual(answer, 7)
      assert.isUndefined(noThreads({ program }))
    }))
})
