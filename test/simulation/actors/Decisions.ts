import * as Effect from "effect/Effect"
import { Chain } from "../../../src/chain/Chain.ts"
import { ChainControl } from "../../../src/chain/ChainControl.ts"
import type { Bytes } from "../../../src/protocol/bytes.ts"

/** A block that an operator forbade. */
export interface RefusedBlock {
  readonly height: number
  /** Wire order. */
  readonly hash: Bytes
}

/** Forbids the first of the last blocks of a node, and so those after it. `undefined`: the chain is shorter. */
export const forbid = (depth: number) =>
  Effect.gen(function*() {
    const [chain, { invalidate }] = [yield* Chain, yield* ChainControl]
    const { height } = yield* chain.tip
    const header = yield* chain.headerAt(height - depth + 1)
    if (header === undefined || height < depth) return undefined
    yield* invalidate(header.hash)
    return { hash: header.hash, height: header.height }
  })

/** Allows a block again, with its ancestors and descendants. */
export const allow = (hash: Bytes) => Effect.flatMap(ChainControl, ({ reconsider }) => reconsider(hash))

/** How many withdrawals began so far, and run now. */
interface Withdrawals {
  begun: number
  running: number
}

/** What operators forbid at one node. A withdrawal reaches to ancestors and descendants of its block. */
export class Decisions {
  private readonly withdrawals: Withdrawals = { begun: 0, running: 0 }
  private blocks: ReadonlyArray<RefusedBlock> = []

  /** What is surely forbidden now. */
  get refused(): ReadonlyArray<RefusedBlock> {
    return this.blocks
  }

  /** Forbids a block, which counts unless a withdrawal ran meanwhile. */
  refusing<A extends RefusedBlock | undefined, E>(forbid: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      const { begun, running } = this.withdrawals
      return Effect.tap(forbid, (block) => {
        if (block !== undefined && running === 0 && begun === this.withdrawals.begun) {
          this.blocks = [...this.blocks, block]
        }
        return Effect.void
      })
    })
  }

  /** Withdraws a decision. The others may go with it. */
  allowing<A, E>(allow: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        this.withdrawals.begun++
        this.withdrawals.running++
        this.blocks = []
      }),
      () => allow,
      () => Effect.sync(() => this.withdrawals.running--)
    )
  }
}
