import { Effect, Layer, Logger } from "effect"
import * as Chain from "../../../src/chain/Chain.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { Peer } from "../../../src/network/Peer.ts"
import * as Server from "../../../src/network/serve/Server.ts"
import type { InventoryItem } from "../../../src/network/wire/messages/inv.ts"
import { parseDisplayHash } from "../../../src/protocol/bytes.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { chainLayer, temporaryDirectory } from "../../support/chain.ts"
import { ownFixture } from "../../support/fixtures.ts"

/** The tip of `regtest-names`. Other tests check its scripts. */
const TIP = parseDisplayHash("c8497e03e7decb23935810c77cb8617b509de2239bdde5a8b1e2cb37a5783e7b")

/** The chain of `regtest-names`, in its own files. */
export const servedChain = Layer.unwrapScoped(Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  const fill = Effect.flatMap(Chain.Chain, (chain) => chain.importFrom([ownFixture("regtest-names/blocks.dat")]))
  const chain = chainLayer(directory, { ...regtestParams, assumeValid: TIP })
  return Layer.effectDiscard(fill).pipe(Layer.provideMerge(chain), Layer.provide(Logger.remove(Logger.defaultLogger)))
})).pipe(Layer.orDie)

/** A server with only the given transactions. */
export const serverWith = (options: {
  readonly transactionFor?: (peer: Peer, item: InventoryItem) => Transaction | undefined
  readonly nonce?: () => bigint
} = {}) => Server.make({ transactionFor: () => undefined, ...options })
