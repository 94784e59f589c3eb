import { assert, describe, it } from "@effect/vitest"
import { buildSync } from "esbuild"
import { once } from "node:events"
import { getPriority } from "node:os"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"

const { outputFiles: [program] } = buildSync({
  stdin: {
    contents: `import { BEHIND_EVENT_LOOP, setThreadPriority } from "./threadPriority.ts"
      import { getPriority } from "node:os"
      import { parentPort } from "node:worker_threads"
      setThreadPriority(BEHIND_EVENT_LOOP)
      parentPort.postMessage([BEHIND_EVENT_LOOP, getPriority(0)])`,
    resolveDir: fileURLToPath(new URL("../../src/base", import.meta.url))
  },
  bundle: true,
  format: "cjs",
  platform: "node",
  write: false
})

describe("the priority of a thread", () => {
  it.runIf(process.platform === "linux")("is its own: the event loop keeps that of the process", async () => {
    const before = getPriority(0)
    const worker = new Worker(program?.text ?? "", { eval: true })
    const [[wanted, its]] = await once(worker, "message")
    // A process that is nicer already stays so.
    assert.strictEqual(its, Math.max(wanted, before))
    assert.strictEqual(getPriority(0), before)
    await worker.terminate()
  })
})
