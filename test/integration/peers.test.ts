import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { temporaryDirectory } from "../support/chain.ts"
import { freePort, type Node, startNode, until, wholeDirectory } from "../support/daemon.ts"
import { fixtureJson } from "../support/fixtures.ts"

const { checkpoints, tipHash } = fixtureJson<{
  readonly tipHash: string
  readonly checkpoints: ReadonlyArray<{ readonly utxo: { readonly hash_serialized_3: string } }>
}>("regtest-names/expected.json")

/** An address without a known key. */
const ADDRESS = "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"

const untilTip = (node: Node, hash: unknown) => until(node, "getbestblockhash", (found) => found === hash)

/** A node that has the whole chain and accepts peers. */
const server = Effect.gen(function*() {
  const port = yield* freePort
  const node = yield* startNode(yield* wholeDirectory, "-maxpeers", "20", "-listen", `127.0.0.1:${port}`)
  yield* node.ready
  return { node, address: `127.0.0.1:${port}` }
})

/** Without a wallet, as both tests are of blocks and coins: the keys of a new one take longer than a start. */
const client = (directory: string, address: string) =>
  startNode(directory, "-disablewallet", "-maxpeers", "20", "-listen", "", "-addpeer", address)

describe("two nodes", () => {
  it.scopedLive("sync, follow each other's blocks and reorganise together", () =>
    Effect.gen(function*() {
      const { address, node: one } = yield* server
      const other = yield* client(yield* temporaryDirectory, address)
      yield* untilTip(other, tipHash)
      yield* other.ready
      const hash = checkpoints.at(-1)?.utxo.hash_serialized_3
      assert.deepInclude(yield* other.call("gettxoutsetinfo"), { bestblock: tipHash, hash_serialized_3: hash })
      const made = yield* one.call("generatetoaddress", 2, ADDRESS)
      yield* untilTip(other, Array.isArray(made) ? made[1] : undefined)
      const back = yield* other.call("generatetoaddress", 1, ADDRESS)
      yield* untilTip(one, Array.isArray(back) ? back[0] : undefined)
      // The common block is disconnected, and a longer branch replaces it.
      yield* one.call("invalidateblock", yield* one.call("getbestblockhash"))
      const branch = yield* one.call("generatetoaddress", 2, "mkBg6GwqZ4XdYQ72vTEqiwfgb6T6WRSDm5")
      yield* untilTip(other, Array.isArray(branch) ? branch[1] : undefined)
      const ended = yield* other.running.end()
      assert.deepStrictEqual([ended.code, ended.stderr], [0, ""])
      yield* until(one, "getconnectioncount", (count) => count === 0)
    }))

  it.scopedLive("one that is killed in the middle of its sync, again and again, ends with the same coins", () =>
    Effect.gen(function*() {
      const { address } = yield* server
      const directory = yield* temporaryDirectory
      for (const height of [1, 80, 250, 450]) {
        const node = yield* client(directory, address)
        yield* until(node, "getblockcount", (count) => typeof count === "number" && count >= height)
        yield* node.running.end("SIGKILL")
      }
      const node = yield* client(directory, address)
      yield* untilTip(node, tipHash)
      assert.deepInclude(yield* node.call("gettxoutsetinfo"), {
        hash_serialized_3: checkpoints.at(-1)?.utxo.hash_serialized_3
      })
    }))
})
