import * as Effect from "effect/Effect"
import type { Chain } from "../../chain/Chain.ts"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { RecordCache } from "../../names/RecordCache.ts"
import { binaryString, type Bytes, concatAll, displayHash, equal } from "../../protocol/bytes.ts"
import { merkleBranch } from "../../protocol/merkle.ts"
import { badRequest, type ElectrumError } from "../protocol/ElectrumError.ts"
import { withCommas } from "../protocol/pythonText.ts"
import { notStored, outOfRange } from "./Headers.ts"

/** Places of transactions in the blocks of the best chain. */
export interface Blocks {
  readonly txids: (height: number) => Effect.Effect<BlockTxids, ElectrumError>
  /** A transaction (wire order) in the block at a height, with its place. */
  readonly placed: (place: TransactionAt) => Effect.Effect<PlacedInBlock, ElectrumError>
  /** `placed`, without a fiber, if memory has it. */
  readonly known?: (place: TransactionAt) => PlacedInBlock | undefined
}

export interface BlockTxids {
  readonly txids: ReadonlyArray<Bytes>
  /** In the units of `CostMeter`. */
  readonly cost: number
}

export interface TransactionAt {
  readonly height: number
  readonly txid: Bytes
}

export interface PlacedInBlock {
  /** The transaction as in the block. */
  readonly bytes: Bytes
  readonly position: number
  readonly branch: ReadonlyArray<Bytes>
  readonly cost: number
}

const CACHED_BLOCKS = 2_000
const CACHED_BYTES = 8 * 1024 * 1024

const CACHED_PLACES = 20_000
const PLACES_BYTES = 16 * 1024 * 1024

/** A txid with the object around it. */
const TXID_BYTES = 128

/** Objects and key of a place. */
const AROUND = 450

/** A place as memory has it. */
interface KeptPlace extends Pick<PlacedInBlock, "bytes" | "position"> {
  /** The joined hashes: separate objects would take four times as much. */
  readonly branch: Bytes
}

const hashesIn = (joined: Bytes): ReadonlyArray<Bytes> =>
  Array.from({ length: joined.length / 32 }, (_, at) => joined.subarray(32 * at, 32 * at + 32))

/** As ElectrumX counts them. */
const CACHE_HIT = 0.1
export const readCost = (transactions: number): number => 0.25 + transactions * 0.0001
export const branchCost = (transactions: number): number => transactions / 2_500

export const notInBlock = (txid: Bytes, height: number): ElectrumError =>
  badRequest(`tx ${displayHash(txid)} not in block at height ${withCommas(height)}`)

export const makeBlocks = (chain: Pick<typeof Chain.Service, "block" | "tree">): Blocks => {
  const { tree } = chain
  // By hash: after a reorg, a height has another one.
  const cache = new RecordCache<ReadonlyArray<Bytes>>(CACHED_BLOCKS, {
    bytes: CACHED_BYTES,
    sizeOf: ({ length }) => TXID_BYTES * (length + 2)
  })

  const places = new RecordCache<KeptPlace>(CACHED_PLACES, {
    bytes: PLACES_BYTES,
    sizeOf: ({ branch, bytes }) => bytes.length + branch.length + AROUND
  })

  const hashAt = (height: number): Bytes | undefined => {
    const id = tree.at(height)
    return id === NO_HEADER ? undefined : tree.hash(id).slice()
  }

  const blockAt = (height: number) =>
    Effect.suspend(() => {
      const hash = hashAt(height)
      return hash === undefined
        ? outOfRange(height)
        : Effect.mapError(chain.block(hash), (failure) =>
          failure._tag === "BlockUnavailable"
            ? notStored(height, failure.pruned)
            : badRequest(`db error: ${failure.message}`))
    })

  const knownPlace = ({ height, txid }: TransactionAt): PlacedInBlock | undefined => {
    const hash = hashAt(height)
    const kept = hash && places.get(binaryString(hash) + binaryString(txid))
    return kept && { ...kept, branch: hashesIn(kept.branch), cost: CACHE_HIT }
  }

  return {
    known: knownPlace,
    txids: (height) =>
      Effect.suspend(() => {
        const hash = hashAt(height)
        const known = hash && cache.get(binaryString(hash))
        if (known !== undefined) return Effect.succeed({ txids: known, cost: CACHE_HIT })
        return Effect.map(blockAt(height), (block) => {
          // Views would keep the whole block.
          const txids = block.transactions.map(({ txid }) => txid.slice())
          cache.put(binaryString(block.hash), txids)
          return { txids, cost: readCost(txids.length) }
        })
      }),
    placed: ({ height, txid }) =>
      Effect.suspend(() => {
        const found = knownPlace({ height, txid })
        if (found !== undefined) return Effect.succeed(found)
        return Effect.flatMap(blockAt(height), ({ hash, transactions }) => {
          const position = transactions.findIndex((transaction) => equal(transaction.txid, txid))
          const transaction = transactions[position]
          if (transaction === undefined) return notInBlock(txid, height)
          const txids = transactions.map((each) => each.txid)
          // A view would keep the whole block.
          const bytes = transaction.bytes.slice()
          const branch = merkleBranch(txids, position)
          places.put(binaryString(hash) + binaryString(txid), { bytes, position, branch: concatAll(branch) })
          return Effect.succeed({ bytes, position, branch, cost: readCost(txids.length) + branchCost(txids.length) })
        })
      })
  }
}
