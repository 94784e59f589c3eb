import { Effect, Layer } from "effect"
import { basename } from "node:path"
import { Worker } from "node:worker_threads"
import { inject } from "vitest"
import { type LaunchOf, Threads } from "../../src/base/threads.ts"
import { bundledSource } from "./bundle.ts"

/** Threads of nodes in this process, which has none by itself, as the sources run directly. */

const PROGRAMS: ReadonlyMap<string, string> = new Map([
  ["backgroundWorker.js", "chain/background/backgroundWorker.ts"],
  ["linkWorker.js", "light/linkWorker.ts"],
  ["readWorker.js", "rpc/reader/readWorker.ts"],
  ["setWorker.js", "chain/indexes/setWorker.ts"],
  ["verifyWorker.js", "chain/write/verifyWorker.ts"]
])

/** Runs the programs of the sources, and notes those that start. */
export const realThreads = (started: Array<string> = []): LaunchOf => ({ limits = {}, program }) => {
  const name = basename(program.pathname)
  const source = PROGRAMS.get(name)
  if (source === undefined) throw new Error(`unknown thread ${name}`)
  const bundle = bundledSource(inject("sharedDirectory"), new URL(`../../src/${source}`, import.meta.url))
  return () => {
    started.push(name)
    return new Worker(bundle, { resourceLimits: limits })
  }
}

export const withThreads = (launchOf: LaunchOf) => Effect.provideService(Threads, launchOf)

/** Starts this thread in place of any other. */
export const threadsLayer = (launch: () => Worker): Layer.Layer<never> => Layer.succeed(Threads, () => launch)
