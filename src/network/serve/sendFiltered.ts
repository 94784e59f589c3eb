import * as Effect from "effect/Effect"
import type { Chain } from "../../chain/Chain.ts"
import type { BlockNotFound, BlockUnavailable } from "../../chain/errors.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { partialTree } from "../../protocol/merkleProof.ts"
import { decodeTransaction, type Transaction } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { Peer } from "../Peer.ts"

/** Transactions looked up between two turns of other peers. */
export const TRANSACTIONS_A_TURN = 50

export const withoutWitness = (transaction: Transaction): Transaction =>
  transaction.hasWitness ? decodeTransaction(transaction.strippedBytes()) : transaction

/**
 * Sends the matching transactions of a block with a proof (BIP 37). Each part of the block takes a turn of the peer.
 */
export const sendFiltered = (
  chain: typeof Chain.Service,
  peer: Peer,
  hash: Bytes
): Effect.Effect<void, BlockNotFound | BlockUnavailable | StorageFailure> =>
  Effect.gen(function*() {
    const { bloom } = peer.features
    if (bloom === undefined) return
    const block = yield* chain.block(hash)
    const matched = new Set<number>()
    for (const [position, transaction] of block.transactions.entries()) {
      if (position % TRANSACTIONS_A_TURN === TRANSACTIONS_A_TURN - 1) yield* peer.turn
      if (bloom.matches(transaction)) matched.add(position)
    }
    const tree = partialTree(block.transactions.map(({ txid }) => txid), (position) => matched.has(position))
    yield* peer.send({ type: "merkleblock", header: { header: block.header, auxpow: block.auxpow }, ...tree })
    for (const position of matched) {
      const transaction = block.transactions[position]
      if (transaction !== undefined) yield* peer.send({ type: "tx", transaction: withoutWitness(transaction) })
    }
  })
