import * as Effect from "effect/Effect"
import * as DataDirectory from "../../src/config/DataDirectory.ts"

/** Locks the data directory in the first argument, prints that, and holds the lock until the process is killed. */
const [path = ""] = process.argv.slice(2)

const hold = DataDirectory.make({ path, network: "regtest" }).pipe(
  Effect.zipRight(Effect.sync(() => process.stdout.write("held\n"))),
  Effect.zipRight(Effect.never),
  Effect.catchAll((error) => Effect.sync(() => process.stdout.write(`${error._tag}: ${error.message}\n`))),
  Effect.scoped
)

// A waiting fiber alone does not keep a process running.
setInterval(() => {}, 1_000)
void Effect.runPromise(hold).then(() => process.exit(0))
