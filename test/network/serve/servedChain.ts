import { Effect, Layer, Logger } from "effect"
import type { Peer } from "../../../src/network/Peer.ts"
import * as Server from "../../../src/network/serve/Server.ts"
import type { InventoryItem } from "../../../src/network/wire/messages/inv.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { chainLayer, temporaryDirectory } from "../../support/chain.ts"
import { fillChain } from "../../support/filledChain.ts"

/** The chain of `regtest-names`, in its own files. */
export const servedChain = Layer.unwrapScoped(Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  yield* fillChain(directory)
  return chainLayer(directory).pipe(Layer.provide(Logger.remove(Logger.defaultLogger)))
})).pipe(Layer.orDie)

/** A server with only the given transactions. */
export const serverWith = (options: {
  readonly transactionFor?: (peer: Peer, item: InventoryItem) => Transaction | undefined
  readonly nonce?: () => bigint
  readonly limited?: () => boolean
  readonly upload?: { readonly refusesOldBlocks: () => boolean }
} = {}) => Server.make({ transactionFor: () => undefined, ...options })
