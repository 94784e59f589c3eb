import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { AnswerOptions } from "../../../src/rpc/AnswerOptions.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { blockMethods } from "../../../src/rpc/methods/blockMethods.ts"
import { pruneFacts, pruneMethods } from "../../../src/rpc/methods/checkMethods.ts"
import * as ReadThread from "../../../src/rpc/reader/ReadThread.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { callsOf } from "../../support/methodNode.ts"
import { BLOCKS, MANUAL, onPruned, SOURCE, TIP } from "../../support/prunedChain.ts"

const OPTIONS: typeof AnswerOptions.Service = {
  nameEncoding: "ascii",
  valueEncoding: "ascii",
  allowExpired: false,
  nameHistory: true,
  nameHashIndex: true
}

const calls = Effect.map(
  Effect.all([
    pruneMethods,
    blockMethods.pipe(Effect.provide(ReadThread.layerAbsent), Effect.provideService(AnswerOptions, OPTIONS))
  ]),
  (lists) => callsOf(methodTable(lists.flat()))
)

const hashAt = (height: number): string => displayHash(SOURCE.blockAt(height).hash)

describe("pruneblockchain", () => {
  it.scoped("prunes up to a height, and answers with the last block that is gone", () =>
    Effect.gen(function*() {
      yield* onPruned(yield* temporaryDirectory, MANUAL, (chain) =>
        Effect.gen(function*() {
          const { call, refusal } = yield* calls
          yield* chain.sink.deliver(BLOCKS.slice(1, 90), false)
          assert.strictEqual((yield* refusal("pruneblockchain", 1)).message, "Blockchain is too short for pruning.")
          yield* chain.sink.deliver(BLOCKS.slice(90), false)
          assert.strictEqual((yield* call("pruneblockchain", 5)).value, -1)
          const { value } = yield* call("pruneblockchain", TIP)
          assert.isTrue(typeof value === "number" && value > 0 && value <= TIP - 288)
          assert.strictEqual((yield* call("pruneblockchain", TIP)).value, value)
          const gone = yield* refusal("getblock", hashAt(Number(value)))
          assert.deepStrictEqual(gone, { code: -1, message: "Block not available (pruned data)" })
          yield* call("getblock", hashAt(Number(value) + 1), 2)
          yield* call("getblockheader", hashAt(1))
        }))
    }))

  it.scoped("refuses what Namecoin Core refuses", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* onPruned(directory, MANUAL, (chain) =>
        Effect.gen(function*() {
          const { refusal } = yield* calls
          yield* chain.sink.deliver(BLOCKS.slice(1), false)
          const of = (height: number) => refusal("pruneblockchain", height)
          assert.deepStrictEqual(yield* of(-1), { code: -8, message: "Negative block height." })
          assert.deepStrictEqual(yield* of(TIP + 1), {
            code: -8,
            message: "Blockchain is shorter than the attempted prune height."
          })
          assert.deepStrictEqual(yield* of(2_000_000_000), {
            code: -8,
            message: "Could not find block with at least the specified timestamp."
          })
        }))
      yield* onPruned(directory, undefined, () =>
        Effect.gen(function*() {
          const { refusal } = yield* calls
          const refused = yield* refusal("pruneblockchain", 1)
          assert.deepStrictEqual(refused, {
            code: -1,
            message: "Cannot prune blocks because node is not in prune mode."
          })
        }))
    }))

  it("getblockchaininfo has the facts of a node that prunes", () => {
    assert.deepStrictEqual(pruneFacts(undefined, 0), { pruned: false })
    assert.deepStrictEqual(pruneFacts(MANUAL, 0), { pruned: true, pruneheight: 0, automatic_pruning: false })
    assert.deepStrictEqual(pruneFacts({ target: 576_716_800, after: 1_000 }, 10), {
      pruned: true,
      pruneheight: 11,
      automatic_pruning: true,
      prune_target_size: 576_716_800
    })
  })
})
