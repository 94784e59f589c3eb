import { Effect } from "effect"
import * as Logging from "../../src/node/logging.ts"
import { pause } from "../support/eventually.ts"

/**
 * Logs, to standard error as well, until it reads a line on standard input and has logged some entries more: these show how
 * it handles what happened before that line. Logs to a file if an argument names one.
 */
const AFTER = 3

let stop = false
process.stdin.once("data", () => void (stop = true))

const talk = Effect.gen(function*() {
  for (let [count, after] = [0, 0]; after < AFTER; count++) {
    if (stop) after++
    yield* Effect.logInfo("still here", { count })
    yield* Effect.sync(() => process.stderr.write("and here\n"))
    yield* pause
  }
})

void Effect.runPromise(
  Effect.provide(talk, Logging.layerTo(process.argv[2], { format: "text", level: "info", debugSubsystems: [] }))
).then(() => process.exit(7))
