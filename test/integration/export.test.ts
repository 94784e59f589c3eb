import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Cluster } from "../../scripts/postgres/Cluster.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { start, startNode, wholeDirectory } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"

/** svcd-export as a program: what its bundle loads on use, and its end. */

const cluster = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = await Cluster.start()
    if (server === undefined) throw new Error("PostgreSQL is installed, and does not start")
    return server
  }),
  (server) => Effect.promise(() => server.remove())
)

/** The names that are in the tables; none before there are tables. */
const namesIn = (server: Cluster) =>
  Effect.promise(async () => {
    const [row] = await server.query("postgres", "SELECT count(*)::int AS names FROM svcd.names").catch(() => [])
    return row?.["names"] ?? 0
  })

describe.skipIf(!Cluster.isInstalled())("svcd-export", () => {
  it.scopedLive("copies the names of a node into PostgreSQL, and ends at SIGTERM", () =>
    Effect.gen(function*() {
      const server = yield* cluster
      const node = yield* startNode(yield* wholeDirectory)
      yield* node.ready
      const datadir = yield* temporaryDirectory
      const copy = yield* start("svcd-export", [
        server.url("postgres"),
        "-network=regtest",
        `-datadir=${datadir}`,
        `-rpcaddr=127.0.0.1:${node.port}`
      ])
      yield* eventually("all names are copied", Effect.map(namesIn(server), (names) => names === 391))
      const { code, stderr, stdout } = yield* copy.end()
      assert.strictEqual(code, 0, stderr)
      assert.notMatch(stdout, /error|Error/)
    }))
})
