import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { InvalidRequest } from "../client/errors.ts"

/** The test's control of the node of `layerRegtest`, besides its client. */
export class RegtestNode extends Context.Tag("svcd/RegtestNode")<RegtestNode, {
  /**
   * Mines blocks, one by default, with the pending transactions, and returns the last height. The wallet sends what
   * each block permits: 14 blocks take a name from announcement to registration. A name expires 30 blocks after its
   * last update.
   */
  readonly mine: (blocks?: number) => Effect.Effect<number>
  /** Pays coins of the wallet to an address, 1 by default, and mines the block of the payment. */
  readonly fund: (address: string, coins?: number) => Effect.Effect<void, InvalidRequest>
  readonly newAddress: Effect.Effect<string>
}>() {}
