// svcd-export on the events of a benchmark: exportFollower.js PORT URL HEIGHT.

import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { eventsOf } from "../../src/client/daemonEvents.ts"
import * as DaemonRpc from "../../src/client/DaemonRpc.ts"
import * as Logging from "../../src/node/logging.ts"
import { type ExportSource, runExport } from "../../src/postgres/exporter.ts"
import { EXPORT_QUERY } from "../../src/postgres/lines.ts"
import { DEFAULT_SCHEMA } from "../../src/postgres/schema.ts"

const [port = "", url = "", height = ""] = process.argv.slice(2)

const program = Effect.scoped(Effect.gen(function*() {
  const rpc = yield* DaemonRpc.make({
    host: "127.0.0.1",
    port: Number(port),
    secure: false,
    basePath: "",
    credentials: undefined,
    cookieFile: undefined,
    wallet: undefined,
    timeout: 30_000
  })
  const source: ExportSource = {
    network: "mainnet",
    // The listener of the benchmark has events alone; the height is that of the first copy.
    state: Effect.succeed({ height: Number(height), synced: true, proof: "full" }),
    hashAt: () => Effect.succeed(undefined),
    lines: (from) => eventsOf({ rpc, query: EXPORT_QUERY, from })
  }
  return yield* runExport({ source, target: { url: Redacted.make(url), shown: "bench" }, schema: DEFAULT_SCHEMA })
}))

Effect.runFork(
  Effect.provide(program, Logging.layer({ format: "text", level: "warn", debugSubsystems: [] }))
)
