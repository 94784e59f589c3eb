import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { InvalidRequest } from "../client/errors.ts"

/** What a test does with the node of `layerRegtest`, beside the calls of its client. */
export class RegtestNode extends Context.Tag("svcd/RegtestNode")<RegtestNode, {
  /**
   * Mines blocks with what waits for one, and returns the height of the last; one block without a number. After each the wallet sends
   * what the block lets it send: 14 blocks take a name from its announcement to its registration. A name expires 30 blocks after its last
   * update.
   */
  readonly mine: (blocks?: number) => Effect.Effect<number>
  /** Pays coins of the wallet to an address, 1 without a number, and mines the block of the payment. */
  readonly fund: (address: string, coins?: number) => Effect.Effect<void, InvalidRequest>
  /** A new address of the wallet. */
  readonly newAddress: Effect.Effect<string>
}>() {}
