import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { regtestParams } from "../../src/consensus/params.ts"
import { type Block, decodeBlock } from "../../src/protocol/block.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import { BASE, blockOn } from "./mempool.ts"
import { MethodNode, methodNode } from "./methodNode.ts"

/** The methods of a daemon on a chain whose coins anyone can spend: the rewards of `mempool.ts`. */

const deliverBase = Effect.gen(function*() {
  const { chain } = yield* MethodNode
  const blocks: Array<Block> = []
  let prev = decodeBlock(regtestParams.network.genesisBlock)
  for (let height = 1; height <= BASE; height++) {
    prev = blockOn(prev, height)
    blocks.push(prev)
  }
  yield* chain.sink.deliver(blocks, true)
})

/** A node whose tip is the block at `BASE`. */
export const spendableNode = Layer.effect(MethodNode, Effect.tap(MethodNode, () => Effect.orDie(deliverBase))).pipe(
  Layer.provide(methodNode({ blocks: false }))
)

/** Connects a block with these transactions. */
export const mine = (...transactions: ReadonlyArray<Transaction>) =>
  Effect.gen(function*() {
    const { chain } = yield* MethodNode
    const tip = yield* chain.tip
    const block = blockOn(yield* chain.block(tip.hash), tip.height + 1, transactions)
    assert.strictEqual((yield* chain.sink.submit(block)).type, "connected")
    return block
  }).pipe(Effect.orDie)

export const hexOf = ({ bytes }: Transaction): string => toHex(bytes)
