import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { randomBytes } from "../../base/entropy.ts"
import type { Chain } from "../../chain/Chain.ts"
import type { BlockNotFound, BlockUnavailable } from "../../chain/errors.ts"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { RecentBlocks } from "../../chain/state/RecentBlocks.ts"
import type { Block } from "../../protocol/block.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import type { HeaderId, PeerId } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { Peer } from "../Peer.ts"
import type { UploadTarget } from "../peer/UploadTarget.ts"
import { makeCompactBlock } from "../wire/compactBlock.ts"
import type { Message } from "../wire/message.ts"
import { storedBlock, strippedBlock } from "../wire/messages/block.ts"
import type { CmpctBlock, GetBlockTxn } from "../wire/messages/compact.ts"
import type { GetBlocks } from "../wire/messages/headers.ts"
import { type InventoryItem, ItemType } from "../wire/messages/inv.ts"
import { sendFiltered } from "./sendFiltered.ts"
import { blocksFor, BLOCKTXN_DEPTH, isCompactServed, isHistorical, isServable, LIMITED_DEPTH } from "./servingRules.ts"

/** Bytes of cached blocks for `getblocktxn`. In memory they take several times as much. */
const TAKEN_FROM = 2 * 1024 * 1024

export interface BlockServerOptions {
  /** Whether the node prunes, and whether it currently offers only the last blocks. */
  readonly prunes?: boolean
  readonly limited?: () => boolean
  readonly upload?: Pick<UploadTarget, "refusesOldBlocks">
  /** For compact blocks: 64 random bits. */
  readonly nonce?: () => bigint
}

export interface BlockServer {
  readonly getblocks: (peer: Peer, question: GetBlocks) => Effect.Effect<void>
  readonly getblocktxn: (peer: Peer, question: GetBlockTxn) => Effect.Effect<void, Unreadable>
  readonly sendBlock: (peer: Peer, item: InventoryItem) => Effect.Effect<void, Unreadable>
  readonly gone: (peer: Peer) => void
}

const randomNonce = (): bigint => new DataView(randomBytes(8).buffer).getBigUint64(0, true)

export type Unreadable = BlockNotFound | BlockUnavailable | StorageFailure

export const makeBlockServer = (
  chain: typeof Chain.Service,
  { limited = () => false, nonce = randomNonce, prunes = false, upload }: BlockServerOptions
): BlockServer => {
  const { params, tree } = chain
  /** The last block of a truncated `getblocks` answer, by peer. Its request makes us announce the tip. */
  const continuations = new Map<PeerId, Bytes>()
  /** The compact block of the tip, shared by all peers. */
  let ofTip: CmpctBlock | undefined
  /** Blocks that recently served `getblocktxn`, as peers tend to request transactions of the same ones. */
  const takenFrom = new RecentBlocks(TAKEN_FROM)

  const getblocks = (peer: Peer, question: GetBlocks): Effect.Effect<void> =>
    Effect.suspend(() => {
      const { ids, more } = blocksFor(tree, question, { prunes, targetSpacing: params.targetSpacing })
      const items = ids.map((id): InventoryItem => ({ type: ItemType.block, hash: tree.hash(id).slice() }))
      const last = items[items.length - 1]
      if (last === undefined) return Effect.void
      if (more) continuations.set(peer.id, last.hash)
      return peer.send({ type: "inv", items })
    })

  const compactBlock = (id: HeaderId, block: Block): CmpctBlock => {
    if (ofTip !== undefined && equal(ofTip.header.header.hash, block.hash)) return ofTip
    const compact = makeCompactBlock(block, nonce())
    if (id === tree.tip()) ofTip = compact
    return compact
  }

  const blockMessage = (id: HeaderId, type: number): Effect.Effect<Message, Unreadable> =>
    Effect.gen(function*() {
      const hash = tree.hash(id).slice()
      if (type === ItemType.block) return strippedBlock(yield* chain.block(hash))
      if (type === ItemType.compactBlock) {
        const now = (yield* Clock.currentTimeMillis) / 1000
        if (isCompactServed(tree, { params, id, now })) return compactBlock(id, yield* chain.block(hash))
      }
      return storedBlock(yield* chain.blockBytes(hash))
    })

  /** Whether the upload target forbids a block: old ones can wait and come from other nodes. */
  const isTooMuch = (peer: Peer, id: HeaderId, type: number): Effect.Effect<boolean> =>
    Effect.map(Clock.currentTimeMillis, (now) =>
      upload !== undefined && !peer.permissions.has("download") &&
      (type === ItemType.filteredBlock || isHistorical(tree, id)) && upload.refusesOldBlocks(Math.floor(now / 1000)))

  const sendBlock = (peer: Peer, { hash, type }: InventoryItem): Effect.Effect<void, Unreadable> =>
    Effect.gen(function*() {
      const id = tree.find(hash)
      if (id === NO_HEADER || !isServable(tree, params, id)) return
      const depth = tree.height(tree.tip()) - tree.height(id)
      if (limited() && depth > LIMITED_DEPTH && !peer.permissions.has("noban")) {
        // The peer then asks another one at once, and does not learn which blocks were pruned.
        return peer.disconnect({
          reason: "old block requested: this node offers only the last ones",
          misbehaving: false
        })
      }
      if (!tree.hasBlock(id)) return
      if (yield* isTooMuch(peer, id, type)) {
        return peer.disconnect({
          reason: "upload target reached: the peer requests an old block",
          misbehaving: false
        })
      }
      // A peer that does not read holds at most one block in memory.
      yield* peer.ready
      if (peer.closed) return
      if (type === ItemType.filteredBlock) yield* sendFiltered(chain, peer, hash)
      else yield* peer.send(yield* blockMessage(id, type))
      const continuation = continuations.get(peer.id)
      if (continuation === undefined || !equal(continuation, hash)) return
      continuations.delete(peer.id)
      yield* peer.send({ type: "inv", items: [{ type: ItemType.block, hash: tree.hash(tree.tip()).slice() }] })
    })

  const getblocktxn = (peer: Peer, { hash, indexes }: GetBlockTxn): Effect.Effect<void, Unreadable> =>
    Effect.gen(function*() {
      const id = tree.find(hash)
      if (id === NO_HEADER || !tree.hasBlock(id)) return
      // Reading the block is the main work, so the peer gets all of it.
      if (tree.height(id) < tree.height(tree.tip()) - BLOCKTXN_DEPTH) {
        return yield* sendBlock(peer, { type: ItemType.witnessBlock, hash })
      }
      yield* peer.ready
      if (peer.closed) return
      const block = takenFrom.get(id) ?? (yield* chain.block(hash))
      takenFrom.put(id, block)
      const transactions: Array<Transaction> = []
      for (const index of indexes) {
        const transaction = block.transactions[index]
        if (transaction === undefined) {
          return peer.disconnect({
            reason: `invalid getblocktxn: transaction index ${index} is out of range`,
            misbehaving: true
          })
        }
        transactions.push(transaction)
      }
      yield* peer.send({ type: "blocktxn", hash, transactions })
    })

  return { getblocks, getblocktxn, sendBlock, gone: (peer) => void continuations.delete(peer.id) }
}
