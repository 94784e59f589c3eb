import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import { equal } from "../../../src/protocol/bytes.ts"
import { headerId } from "../../../src/protocol/keys.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { peerBlockMethods } from "../../../src/rpc/methods/peerTestMethods.ts"
import { callsOf } from "../../support/methodNode.ts"
import { noTree } from "../../support/noTree.ts"
import { peerManager } from "../../support/peers.ts"

const MISSING = "01".repeat(32)
const STORED = "02".repeat(32)
const UNKNOWN = "03".repeat(32)

const tree = {
  ...noTree,
  find: (hash: Uint8Array) =>
    equal(hash, new Uint8Array(32).fill(1))
      ? headerId(1)
      : equal(hash, new Uint8Array(32).fill(2))
      ? headerId(2)
      : NO_HEADER,
  hasBlock: (id: number) => id === 2,
  height: (id: number) => id
}

const calls = (
  outcome: "asked" | "loading" | "no peer" | "no witnesses",
  { prunes, tip }: { readonly prunes: boolean; readonly tip: number } = { prunes: false, tip: 0 }
) =>
  callsOf(methodTable(peerBlockMethods({
    peers: peerManager({ fetchBlock: () => Effect.succeed(outcome) }),
    tree: { ...tree, tip: () => headerId(tip) },
    prunes
  })))

describe("blocks and transactions of single peers", () => {
  it.effect("getblockfrompeer requests a block whose header is known", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* calls("asked").call("getblockfrompeer", MISSING, 0)).value, {})
      const refused = (hash: string, outcome: Parameters<typeof calls>[0] = "asked") =>
        Effect.map(calls(outcome).refusal("getblockfrompeer", hash, 0), ({ code, message }) => `${code} ${message}`)
      assert.strictEqual(yield* refused(UNKNOWN), "-1 Block header missing")
      assert.strictEqual(yield* refused(STORED), "-1 Block already downloaded")
      assert.strictEqual(yield* refused(MISSING, "loading"), "-1 Loading blocks ...")
      assert.strictEqual(yield* refused(MISSING, "no peer"), "-1 Peer does not exist")
      assert.strictEqual(yield* refused(MISSING, "no witnesses"), "-1 Pre-SegWit peer")
    }))

  it.effect("getblockfrompeer requests no block above the tip of a node that prunes", () =>
    Effect.gen(function*() {
      const atTip = calls("asked", { prunes: true, tip: 1 })
      assert.deepStrictEqual((yield* atTip.call("getblockfrompeer", MISSING, 0)).value, {})
      assert.deepStrictEqual(yield* calls("asked", { prunes: true, tip: 0 }).refusal("getblockfrompeer", MISSING, 0), {
        code: -1,
        message: "In prune mode, only blocks that the node has already synced previously can be fetched from a peer"
      })
    }))

  it.effect("no transaction is broadcast privately", () =>
    Effect.gen(function*() {
      const { call, refusal } = calls("asked")
      assert.deepStrictEqual((yield* call("getprivatebroadcastinfo")).value, { transactions: [] })
      assert.deepStrictEqual(yield* refusal("abortprivatebroadcast", MISSING), {
        code: -5,
        message: "Transaction not in private broadcast queue. Check getprivatebroadcastinfo."
      })
    }))
})
