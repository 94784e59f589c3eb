import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import { makeBlocks } from "../../src/electrum/sources/Blocks.ts"
import { evidenceInChain } from "../../src/names/chainEvidence.ts"
import { EMPTY } from "../../src/protocol/bytes.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { BLOCKS, MANUAL, onPruned, SOURCE, TIP } from "../support/prunedChain.ts"
import { text } from "../support/regtest.ts"

const txidAt = (height: number) => SOURCE.blockAt(height).transactions[0]?.txid ?? assert.fail()

describe("a pruned block", () => {
  it.scoped("is what a server says that it lacks, and who has it", () =>
    Effect.gen(function*() {
      yield* onPruned(yield* temporaryDirectory, MANUAL, (chain) =>
        Effect.gen(function*() {
          const { pruning } = yield* ChainControl
          yield* chain.sink.deliver(BLOCKS.slice(1), false)
          yield* pruning.upTo(TIP)
          const { placed, txids } = makeBlocks(chain)

          const gone = { height: 1, txid: txidAt(1) }
          const said = "the block at height 1 was pruned on this server; ask one that keeps all blocks"
          const refused = [yield* Effect.flip(placed(gone)), yield* Effect.flip(txids(1))]
          for (const { code, message } of refused) {
            assert.deepStrictEqual({ code, message }, { code: 1, message: said })
          }
          assert.strictEqual((yield* placed({ height: TIP, txid: txidAt(TIP) })).position, 0)

          const tip = { height: TIP, hash: chain.tree.hash(chain.tree.tip()).slice() }
          const entry = {
            ...gone,
            name: text("d/old"),
            value: EMPTY,
            vout: 0,
            address: EMPTY,
            op: "name_firstupdate",
            amount: 1,
            rand: undefined
          } as const
          const names = {
            cursor: Effect.succeed(tip),
            beginning: Effect.succeed(0),
            historyPage: () => Effect.succeed({ entries: [entry], total: 1 })
          }
          const failure = yield* Effect.flip(
            evidenceInChain({ chain, names }, entry.name, { headers: 6, chain: false })
          )
          assert.strictEqual(
            failure.message,
            "the operation at height 1 cannot be proven: its block was pruned. Ask a node that keeps all blocks, " +
              "or start without -prune and with -reindex"
          )
        }))
    }))
})
