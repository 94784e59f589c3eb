import { Effect, Layer, Logger } from "effect"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import { benchChain } from "./chain.ts"
import { minedHeaders } from "./minedHeaders.ts"
import { NodeProcess } from "./nodeProcess.ts"

const HEADERS = 1_000_000

/** Headers that are accepted at once, as peers send them. */
const AT_ONCE = 2_000

/** Starts that are measured; the median counts. */
const STARTS = 5

const LAYOUT = ["blocks", "chainstate"]

/** A data directory whose block index has a million entries. */
const fill = (directory: string): Promise<void> => {
  for (const name of LAYOUT) mkdirSync(join(directory, name))
  const layer = benchChain(directory, { verifyThreads: 0 })
  const program = Effect.gen(function*() {
    const sink = yield* ChainSink
    for (const part of minedHeaders({ atOnce: AT_ONCE, count: HEADERS })) yield* sink.acceptHeaders(part)
  })
  return Effect.runPromise(Effect.provide(program, Layer.merge(layer, Logger.remove(Logger.defaultLogger))))
}

const knows = (answer: unknown): boolean =>
  typeof answer === "object" && answer !== null && "headers" in answer && answer.headers === HEADERS

/**
 * The start of the daemon on a block index with a million entries: from the call of the program until RPC answers with
 * all of them.
 */
export const benchStart = async (): Promise<object> => {
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-"))
  try {
    await fill(directory)
    const seconds: Array<number> = []
    for (let run = 0; run < STARTS; run++) {
      const node = await NodeProcess.start({
        directory,
        args: ["-maxpeers", "0", "-disablewallet"]
      })
      try {
        seconds.push(await node.until("getblockchaininfo", knows))
      } finally {
        await node.stop()
      }
    }
    seconds.sort((a, b) => a - b)
    return {
      what: "start of the daemon on a block index of a million entries, until RPC answers with them",
      entries: HEADERS,
      seconds: seconds[STARTS >> 1] ?? 0,
      slowest: seconds.at(-1) ?? 0
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
