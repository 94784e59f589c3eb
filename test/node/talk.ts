import { Effect } from "effect"
import * as Logging from "../../src/node/logging.ts"

/**
 * Logs, also to standard error, until it reads a line on standard input; the last entry has the number of entries. Logs
 * to a file if an argument names one.
 */
let stop = false
process.stdin.once("data", () => void (stop = true))

const talk = Effect.gen(function*() {
  let count = 0
  while (!stop) {
    yield* Effect.logInfo("still here", { count: count++ })
    yield* Effect.sync(() => process.stderr.write("and here\n"))
    yield* Effect.sleep("5 millis")
  }
})

void Effect.runPromise(
  Effect.provide(talk, Logging.layerTo(process.argv[2], { format: "text", level: "info", debugSubsystems: [] }))
).then(() => process.exit(7))
