import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import type { Indexes } from "../../chain/indexes/Indexes.ts"
import type { TxIndex } from "../../chain/TxIndex.ts"
import type { NameDb } from "../../names/NameDb.ts"
import { transactionPlaces } from "../../names/transactionPlaces.ts"
import { type Bytes, compare, displayHash, equal, toHex } from "../../protocol/bytes.ts"
import { txidKey } from "../../protocol/keys.ts"
import {
  encodeMerkleProof,
  type MerkleProof,
  partialTree,
  provenBy,
  readMerkleProof
} from "../../protocol/merkleProof.ts"
import { decodedOr, Reader } from "../../protocol/Reader.ts"
import {
  GETTXOUTPROOF,
  NOT_IN_BLOCK,
  NOT_IN_CHAIN,
  PROOF_NOT_FOUND,
  TRUNCATED,
  VERIFYTXOUTPROOF
} from "../contract/chain/proof.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { missingBlock } from "./blockMethods.ts"
import { blockError, storageError } from "./errors.ts"

/** Source: upstream `rpc/txoutproof.cpp` (reference/rpc.md 3.2). */

/** The first txid that occurs twice. */
const repeated = (txids: ReadonlyArray<Bytes>): Bytes | undefined => {
  const seen = new Set<string>()
  return txids.find((txid) => {
    const key = txidKey(txid)
    return seen.size === seen.add(key).size
  })
}

/** As made by `gettxoutproof`. */
export const decodeProof = (proof: Bytes): Effect.Effect<MerkleProof, RpcError> =>
  Effect.suspend(() =>
    decodedOr(() => Effect.succeed(readMerkleProof(new Reader(proof))), () => RpcError.misc(TRUNCATED))
  )

export const proofMethods: Methods<Chain | ChainCoins | Indexes | NameDb | TxIndex> = Effect.gen(function*() {
  const chain = yield* Chain
  const coins = yield* ChainCoins
  const places = yield* transactionPlaces

  /** The height of the first transaction with an unspent output, or of the first one that the node finds otherwise. */
  const heightOf = (txids: ReadonlyArray<Bytes>): Effect.Effect<number | undefined, RpcError> =>
    Effect.gen(function*() {
      const sorted = txids.toSorted(compare)
      for (const txid of sorted) {
        const coin = yield* coins.coinOf(txid)
        if (coin !== undefined) return coin.height
      }
      const [first] = sorted
      return first === undefined ? undefined : yield* places.heightOf(first)
    }).pipe(Effect.mapError(storageError))

  const blockWith = (txids: ReadonlyArray<Bytes>): Effect.Effect<HeaderInfo, RpcError> =>
    Effect.gen(function*() {
      const height = yield* heightOf(txids)
      // As in the reference node, the index does not lead to the genesis block.
      const info = height === undefined || height === 0 ? undefined : yield* chain.headerAt(height)
      return info ?? (yield* RpcError.invalidAddressOrKey(NOT_IN_BLOCK))
    })

  const gettxoutproof = method(GETTXOUTPROOF, ({ blockhash, txids }) =>
    Effect.gen(function*() {
      if (txids.length === 0) return yield* RpcError.invalidParameter("Parameter 'txids' cannot be empty")
      const twice = repeated(txids)
      if (twice !== undefined) {
        return yield* RpcError.invalidParameter(`Invalid parameter, duplicated txid: ${displayHash(twice)}`)
      }
      const { hash } = yield* blockhash === undefined
        ? blockWith(txids)
        : Effect.mapError(chain.header(blockhash), blockError)
      const block = yield* Effect.mapError(chain.block(hash), (failure) =>
        failure._tag === "StorageCorrupted"
          ? RpcError.internal("Can't read block from disk")
          : missingBlock(failure))
      const wanted = new Set(txids.map(txidKey))
      const isProven = (position: number) => {
        const transaction = block.transactions[position]
        return transaction !== undefined && wanted.has(transaction.txidKey)
      }
      const { length } = block.transactions.filter((_, position) => isProven(position))
      if (length !== wanted.size) return yield* RpcError.invalidAddressOrKey(PROOF_NOT_FOUND)
      const tree = partialTree(block.transactions.map(({ txid }) => txid), isProven)
      return toHex(encodeMerkleProof({ head: block, tree }))
    }))

  const verifytxoutproof = method(VERIFYTXOUTPROOF, ({ proof }) =>
    Effect.gen(function*() {
      const { head, tree } = yield* decodeProof(proof)
      const proven = provenBy(tree)
      if (proven === undefined || !equal(proven.root, head.header.merkleRoot)) return []
      const info = yield* Effect.mapError(chain.header(head.header.hash), () =>
        RpcError.invalidAddressOrKey(NOT_IN_CHAIN))
      if (info.confirmations < 1 || info.transactions === 0) {
        return yield* RpcError.invalidAddressOrKey(NOT_IN_CHAIN)
      }
      return info.transactions === tree.transactions ? proven.txids.map(displayHash) : []
    }))

  return [gettxoutproof, verifytxoutproof]
})
