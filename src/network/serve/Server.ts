import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import { Chain } from "../../chain/Chain.ts"
import type { BlockNotFound, BlockUnavailable } from "../../chain/errors.ts"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { RecentBlocks } from "../../chain/state/RecentBlocks.ts"
import type { Block, BlockHeader } from "../../protocol/block.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import type { HeaderId, PeerId } from "../../protocol/keys.ts"
import { partialTree } from "../../protocol/merkleProof.ts"
import { decodeTransaction, type Transaction } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { MessageParts } from "../messageTable.ts"
import type { Peer, PeerHandler } from "../Peer.ts"
import type { UploadTarget } from "../peer/UploadTarget.ts"
import { getsTransactions } from "../relay/relaysTransactions.ts"
import { makeCompactBlock } from "../wire/compactBlock.ts"
import type { Message } from "../wire/message.ts"
import { storedBlock, strippedBlock } from "../wire/messages/block.ts"
import type { CmpctBlock, GetBlockTxn } from "../wire/messages/compact.ts"
import {
  type GetBlocks,
  type GetHeaders,
  headersSize,
  isFullHeaders,
  isTooLongHeaders
} from "../wire/messages/headers.ts"
import { type InventoryItem, isBlockItem, isTransactionItem, type ItemList, ItemType } from "../wire/messages/inv.ts"
import {
  blocksFor,
  BLOCKTXN_DEPTH,
  headersFor,
  isCompactServed,
  isHistorical,
  isServable,
  LIMITED_DEPTH
} from "./servingRules.ts"

/**
 * Answers requests of peers for headers, blocks and transactions (reference/protocol.md 6.6, 6.7). Each answer runs in
 * the fiber that reads from the peer, in order, and waits while the peer does not read. So a peer with many requests
 * delays only itself.
 */

/** Headers read before other peers get a turn: 1 to 2 milliseconds of work. */
const HEADERS_A_TURN = 32

/** Transactions looked up between two turns of other peers. */
const TRANSACTIONS_A_TURN = 50

/** Concurrent answers to `getheaders`. Before encoding, a long answer is thousands of objects. */
const HEADERS_AT_ONCE = 1

/** Bytes of cached blocks for `getblocktxn`. In memory the blocks are several times as large. */
const TAKEN_FROM = 2 * 1024 * 1024

/** Items in a `notfound`: as many as the reference node requests with one `getdata`. */
const MISSING_AT_ONCE = 1_000

export interface ServerOptions {
  /** The transaction for an item of `getdata`, if the peer may have it. */
  readonly transactionFor: (peer: Peer, item: InventoryItem) => Transaction | undefined
  /** Whether the node prunes, and whether it offers only the last blocks now. */
  readonly prunes?: boolean
  readonly limited?: () => boolean
  /** Runs when a peer gets headers, with the last one: our tip if there are none. */
  readonly served?: (peer: Peer, last: HeaderId) => Effect.Effect<void>
  /** What the node sends, against the operator's target. */
  readonly upload?: Pick<UploadTarget, "refusesOldBlocks">
  /** Source of nonces for compact blocks: 64 random bits. */
  readonly nonce?: () => bigint
}

export interface Server extends PeerHandler {
  readonly messages: MessageParts["server"]
}

const randomNonce = (): bigint => randomBytes(8).readBigUInt64LE()

type Unreadable = BlockNotFound | BlockUnavailable | StorageFailure

/** The transaction without witnesses, for peers that did not request them. */
const withoutWitness = (transaction: Transaction): Transaction =>
  transaction.hasWitness ? decodeTransaction(transaction.strippedBytes()) : transaction

export const make = (
  { limited = () => false, nonce = randomNonce, prunes = false, served = () => Effect.void, transactionFor, upload }:
    ServerOptions
): Effect.Effect<Server, never, Chain> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const { params, tree } = chain
    /** The last block of a truncated `getblocks` answer, by peer. When the peer requests it, we announce the tip. */
    const continuations = new Map<PeerId, Bytes>()
    /** The compact block of the tip, shared by all peers. */
    let ofTip: CmpctBlock | undefined
    /** Blocks that recently served `getblocktxn`: peers tend to request transactions of the same ones. */
    const takenFrom = new RecentBlocks(TAKEN_FROM)
    const headersSlots = yield* Effect.makeSemaphore(HEADERS_AT_ONCE)

    /** Disconnects the peer: it would wait for an unreadable block that other peers can send. */
    const unreadable = (peer: Peer, failure: Unreadable): Effect.Effect<void> =>
      Effect.zipRight(
        Effect.logError("block requested by a peer cannot be read", { peer: peer.name, reason: failure.message }),
        Effect.sync(() =>
          peer.disconnect({ reason: "unreadable block: a requested block cannot be read", misbehaving: false })
        )
      )

    /** Reads headers until the message is full; `undefined` if one of them is not stored. */
    const readHeaders = (
      ids: ReadonlyArray<HeaderId>,
      version: number
    ): Effect.Effect<ReadonlyArray<BlockHeader> | undefined, StorageFailure> =>
      Effect.gen(function*() {
        const headers: Array<BlockHeader> = []
        let size = 0
        for (let from = 0; from < ids.length; from += HEADERS_A_TURN) {
          if (from > 0) yield* turnOfEventLoop
          const wanted = ids.slice(from, from + HEADERS_A_TURN)
          const read = yield* chain.fullHeaders(wanted)
          for (const header of read) {
            headers.push(header)
            size += headersSize([header])
            if (isFullHeaders({ count: headers.length, size, peerVersion: version })) {
              return isTooLongHeaders({ size, peerVersion: version }) ? undefined : headers
            }
          }
          if (read.length < wanted.length) return undefined
        }
        return headers
      })

    const getheaders = (peer: Peer, question: GetHeaders): Effect.Effect<void, StorageFailure> =>
      Effect.gen(function*() {
        if ((yield* chain.progress).importing !== undefined) return
        // Sends an empty answer, so that the peer does not take this node for stalled.
        if (tree.chainwork(tree.tip()) < params.minimumChainWork && !peer.permissions.has("download")) {
          return yield* peer.send({ type: "headers", headers: [] })
        }
        const ids = headersFor(tree, params, question)
        if (ids === undefined) return
        yield* peer.ready
        yield* Effect.gen(function*() {
          if (peer.closed) return
          const headers = yield* readHeaders(ids, peer.hello.version)
          // Does not wait: a peer that does not read must not keep the slot.
          if (headers === undefined) return
          peer.post({ type: "headers", headers })
          yield* served(peer, ids[headers.length - 1] ?? tree.tip())
        }).pipe(headersSlots.withPermits(1))
      })

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

    /**
     * Sends a filtered block (BIP 37): a proof of the transactions that the peer's filter matches, and these. Nothing
     * without a filter. Each part of the block is looked at in a turn of the peer.
     */
    const sendFiltered = (peer: Peer, hash: Bytes): Effect.Effect<void, Unreadable> =>
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

    /** Whether the target for sent bytes forbids to send a block: old ones can wait, and come from other nodes. */
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
          // So the peer asks another one at once, and does not learn which blocks were pruned.
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
        if (type === ItemType.filteredBlock) yield* sendFiltered(peer, hash)
        else yield* peer.send(yield* blockMessage(id, type))
        const continuation = continuations.get(peer.id)
        if (continuation === undefined || !equal(continuation, hash)) return
        continuations.delete(peer.id)
        yield* peer.send({ type: "inv", items: [{ type: ItemType.block, hash: tree.hash(tree.tip()).slice() }] })
      })

    /** Sends transactions from a position on, then `notfound`. Returns the position after the last transaction. */
    const sendTransactions = (peer: Peer, items: ItemList, from: number): Effect.Effect<number> =>
      Effect.gen(function*() {
        let missing: Array<InventoryItem> = []
        const allowed = getsTransactions(peer)
        let at = from
        for (; at < items.length && !peer.closed; at++) {
          const item = items.at(at)
          if (item === undefined || !isTransactionItem(item)) break
          if ((at - from) % TRANSACTIONS_A_TURN === TRANSACTIONS_A_TURN - 1) yield* peer.turn
          if (!allowed) continue
          const transaction = transactionFor(peer, item)
          if (transaction === undefined) {
            missing.push(item)
            // A request can have 50,000 items: `notfound` goes out in parts, so missing items do not form a second long
            // list.
            if (missing.length < MISSING_AT_ONCE) continue
            yield* peer.send({ type: "notfound", items: missing })
            missing = []
          } else {
            const form = item.type === ItemType.tx ? withoutWitness(transaction) : transaction
            yield* peer.send({ type: "tx", transaction: form })
          }
        }
        if (missing.length > 0) yield* peer.send({ type: "notfound", items: missing })
        return at
      })

    const getdata = (peer: Peer, items: ItemList): Effect.Effect<void, Unreadable> =>
      Effect.gen(function*() {
        for (let at = 0; at < items.length && !peer.closed;) {
          at = yield* sendTransactions(peer, items, at)
          const item = items.at(at++)
          if (item === undefined || peer.closed) return
          if (isBlockItem(item)) yield* sendBlock(peer, item)
          yield* peer.turn
        }
      })

    const getblocktxn = (peer: Peer, { hash, indexes }: GetBlockTxn): Effect.Effect<void, Unreadable> =>
      Effect.gen(function*() {
        const id = tree.find(hash)
        if (id === NO_HEADER || !tree.hasBlock(id)) return
        // Reading the whole block is the main work, so the peer gets all of it.
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

    const answered = (peer: Peer, answer: Effect.Effect<void, Unreadable>): Effect.Effect<void> =>
      Effect.catchAll(answer, (failure) => unreadable(peer, failure))

    return {
      connected: () => Effect.void,
      messages: {
        getheaders: (peer, message) => answered(peer, getheaders(peer, message)),
        getblocks,
        getdata: (peer, { items }) => answered(peer, getdata(peer, items)),
        getblocktxn: (peer, message) => answered(peer, getblocktxn(peer, message))
      },
      gone: (peer) => Effect.sync(() => void continuations.delete(peer.id))
    }
  })
