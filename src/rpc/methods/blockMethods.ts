import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import { spentBy } from "../../chain/blockReads.ts"
import { Chain } from "../../chain/Chain.ts"
import type { BlockNotFound, BlockUnavailable } from "../../chain/errors.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { type Block, encodeBlockHeader } from "../../protocol/block.ts"
import { type Bytes, toHex } from "../../protocol/bytes.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { GETBLOCK, GETBLOCKHEADER } from "../contract/chain/block.ts"
import { LongText } from "../json/LongText.ts"
import { method } from "../method/method.ts"
import type { CallContext, Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import type { BlockJob, StoredBlock } from "../reader/readMessage.ts"
import { ReadThread } from "../reader/ReadThread.ts"
import {
  type BLOCK_WITH_COINS,
  type BLOCK_WITH_TXIDS,
  blockHeaderJson,
  blockJson,
  type BlockVerbosity,
  type SpentCoins
} from "../shapes/block.ts"
import { blockError } from "./errors.ts"

/** Methods that return blocks and headers (reference/rpc.md 3.2). */

/** The reference node's error for an unreadable block. */
export const missingBlock = (failure: BlockNotFound | BlockUnavailable | StorageFailure): RpcError => {
  if (failure._tag === "BlockUnavailable") {
    return RpcError.misc(`Block not available (${failure.pruned ? "pruned data" : "not fully downloaded"})`)
  }
  if (failure._tag === "StorageCorrupted") return RpcError.misc(`Block not found on disk: ${failure.message}`)
  return blockError(failure)
}

/** The reference node's error for unreadable undo data. */
const missingUndo = (failure: BlockNotFound | StorageFailure): RpcError =>
  failure._tag === "StorageCorrupted"
    ? RpcError.misc(`Can't read undo data from disk: ${failure.message}`)
    : blockError(failure)

/** As `spentBy`, with RPC errors. */
export const spentByBlock = (
  chain: typeof Chain.Service,
  block: Block,
  height: number
): Effect.Effect<SpentCoins | undefined, RpcError> => Effect.mapError(spentBy(chain, block, height), missingUndo)

/** For the read thread. The genesis block spends nothing and has no undo data here. */
export const recordOfBlock = (
  chain: typeof Chain.Service,
  place: Pick<HeaderInfo, "hash" | "height">
): Effect.Effect<StoredBlock, RpcError> =>
  Effect.gen(function*() {
    const { hash, height } = place
    const block = yield* Effect.mapError(chain.blockBytes(hash), missingBlock)
    const undo = height === 0 ? undefined : yield* Effect.mapError(chain.undoBytes(hash), missingUndo)
    // Copies, because the bytes may be part of a larger message that would go to the thread, too.
    return { hash, height, block: new Uint8Array(block), undo: undo === undefined ? undefined : new Uint8Array(undo) }
  })

/** Bytes from which the read thread shows a block. The event loop needs 2 ms for transactions, a tenth for txids. */
export const LARGE_BLOCK = 5_000
const LARGE_BLOCK_WITH_TXIDS = 100_000

type ShownBlock = Schema.Schema.Type<typeof BLOCK_WITH_TXIDS> | Schema.Schema.Type<typeof BLOCK_WITH_COINS>

export const blockMethods: Methods<Chain | AnswerOptions | ReadThread> = Effect.gen(function*() {
  const chain = yield* Chain
  const options = yield* AnswerOptions
  const reader = yield* ReadThread
  const context = { network: chain.params.network, ...options }

  const find = (blockhash: Bytes): Effect.Effect<HeaderInfo, RpcError> =>
    Effect.mapError(chain.header(blockhash), blockError)

  /** `undefined` if the block is small or the thread does not answer. */
  const largeBlock = (
    { header: _, ...place }: HeaderInfo,
    verbosity: BlockVerbosity,
    { room }: CallContext
  ): Effect.Effect<LongText<ShownBlock> | undefined, RpcError> =>
    Effect.gen(function*() {
      const bytes = yield* Effect.mapError(chain.blockBytes(place.hash), missingBlock)
      if (bytes.length < (verbosity === 1 ? LARGE_BLOCK_WITH_TXIDS : LARGE_BLOCK)) return undefined
      const undo = verbosity === 1 ? undefined : yield* Effect.mapError(chain.undoBytes(place.hash), missingUndo)
      const { nameEncoding, valueEncoding } = options
      const shown = { nameEncoding, valueEncoding, network: chain.params.network.name, room }
      // A copy, because the bytes may be part of a larger message that would go to the thread, too.
      const job: BlockJob = { type: "block", block: new Uint8Array(bytes), undo, place, verbosity, shown }
      return new LongText<ShownBlock>((yield* reader.read(job)).pieces)
    }).pipe(Effect.catchTag("NotRead", () => Effect.succeed(undefined)))

  const getblock = method(GETBLOCK, ({ blockhash, verbosity: given }, call) =>
    Effect.gen(function*() {
      const info = yield* find(blockhash)
      if (given <= 0) return toHex(yield* Effect.mapError(chain.blockBytes(blockhash), missingBlock))
      const verbosity = given === 1 || given === 2 ? given : 3
      const text = yield* largeBlock(info, verbosity, call)
      if (text !== undefined) return text
      const block = yield* Effect.mapError(chain.block(blockhash), missingBlock)
      const spent = verbosity === 1 ? undefined : yield* spentByBlock(chain, block, info.height)
      return blockJson(context, { block, info }, { verbosity, spent })
    }))

  const getblockheader = method(GETBLOCKHEADER, ({ blockhash, verbose }) =>
    Effect.gen(function*() {
      const info = yield* find(blockhash)
      // The blocks store the proofs, the tree does not.
      const stored = info.header.hasAuxpowFlag ? Effect.asSome(chain.block(blockhash)) : Effect.succeedNone
      // Objects omit a proof that is not received yet or pruned. A serialization without it would be invalid. A lost
      // proof is an error in both.
      const { find: idOf, isPruned, wasConnected } = chain.tree
      const id = idOf(blockhash)
      const known = !verbose || (wasConnected(id) && !isPruned(id))
        ? stored
        : Effect.catchTag(stored, "BlockUnavailable", () => Effect.succeedNone)
      const block = Option.getOrUndefined(yield* Effect.mapError(known, missingBlock))
      if (verbose) return blockHeaderJson(context, info, block?.auxpow)
      return toHex(encodeBlockHeader({ header: info.header, auxpow: block?.auxpow }))
    }))

  return [getblock, getblockheader]
})
