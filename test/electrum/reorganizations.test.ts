import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect, createServer } from "node:net"
import { Random } from "../../scripts/crash/random.ts"
import { RpcClient } from "../../scripts/crash/rpc.ts"
import { reorganizations } from "../../scripts/electrum/reorganizations.ts"
import { kindOf } from "../../scripts/electrum/ServedPair.ts"
import type { Address } from "../../src/base/addresses.ts"
import { Chain } from "../../src/chain/Chain.ts"
import { RpcServer } from "../../src/node.ts"
import { filledDirectory, indexReady, onNode, tcpPort } from "./servedNode.ts"

/** The comparison of two servers (`scripts/electrum`) while a chain is reorganized. */

const HEIGHT = 180
const HOST = "127.0.0.1"

const served = onNode(filledDirectory(HEIGHT), {}, { electrumIndex: true })

/** A way to a server on which its notifications get lost. */
const deafTo = (port: number) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((client) => {
          const behind = connect(port, HOST)
          client.pipe(behind)
          behind.on("data", (piece: Buffer) => {
            const lines = piece.toString("latin1").split(/(?<=\n)/u)
            client.write(
              lines.filter((line) => !line.startsWith("{\"jsonrpc\":\"2.0\",\"method\":")).join(""),
              "latin1"
            )
          })
          for (const each of [client, behind]) {
            each.on("error", () => {})
            each.on("close", () => [client, behind].map((socket) => socket.destroy()))
          }
        })
        server.listen(0, HOST, () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => void server.close())
    ),
    (server): Address => {
      const address = server.address()
      return { host: HOST, port: typeof address === "object" && address !== null ? address.port : 0 }
    }
  )

const compared = (other?: Address) =>
  Effect.gen(function*() {
    const { address } = yield* RpcServer
    const server = { host: HOST, port: yield* tcpPort }
    return yield* Effect.promise(() =>
      reorganizations({
        servers: [server, other ?? server],
        rpc: new RpcClient(new URL(`http://${HOST}:${address.port}`)),
        random: new Random(1),
        traffic: false,
        depths: 1,
        versions: ["1.4.3"],
        wallets: true,
        ...(other === undefined ? {} : { patience: 500 })
      }, () => {})
    )
  })

describe("a comparison through reorganizations", () => {
  it.scopedLive("finds a server equal to itself, after each", () =>
    served(Effect.gen(function*() {
      yield* indexReady
      const { tree } = yield* Chain
      const old = tree.tip()
      const { asked, differences } = yield* compared()
      assert.deepStrictEqual(differences, [])
      assert.isAbove(asked, 100)
      // One block replaced by two.
      assert.strictEqual(tree.height(tree.tip()), HEIGHT + 1)
      assert.notStrictEqual(tree.ancestor(tree.tip(), HEIGHT), old)
    })))

  it.scopedLive("finds a server that tells nothing", () =>
    served(Effect.gen(function*() {
      yield* indexReady
      const { differences } = yield* compared(yield* deafTo(yield* tcpPort))
      const kinds = new Set(differences.map(kindOf))
      assert.deepStrictEqual([...kinds], ["told headers: result, result", "told status: result, result"])
    })))
})
