import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { MessageParts } from "../messageTable.ts"
import type { Peer, PeerHandler } from "../Peer.ts"
import { getsTransactions } from "../relay/relaysTransactions.ts"
import { type InventoryItem, isBlockItem, isTransactionItem, type ItemList, ItemType } from "../wire/messages/inv.ts"
import { type BlockServerOptions, makeBlockServer, type Unreadable } from "./BlockServer.ts"
import { type HeaderServerOptions, makeHeaderServer } from "./HeaderServer.ts"
import { TRANSACTIONS_A_TURN, withoutWitness } from "./sendFiltered.ts"

// Answers requests of peers for headers, blocks and transactions (reference/protocol.md 6.6, 6.7). Each answer runs, in
// order, in the fiber that reads from the peer, and waits while the peer does not read. So a peer delays only itself.

/** Per `notfound`: as many as the reference node requests with one `getdata`. */
const MISSING_AT_ONCE = 1_000

export interface ServerOptions extends BlockServerOptions, HeaderServerOptions {
  readonly transactionFor: (peer: Peer, item: InventoryItem) => Transaction | undefined
}

export interface Server extends PeerHandler {
  readonly messages: MessageParts["server"]
}

/** Disconnects the peer, which would wait for an unreadable block that others can send. */
const unreadable = (peer: Peer, failure: Unreadable): Effect.Effect<void> =>
  Effect.zipRight(
    Effect.logError("block requested by a peer cannot be read", { peer: peer.name, reason: failure.message }),
    Effect.sync(() =>
      peer.disconnect({ reason: "unreadable block: a requested block cannot be read", misbehaving: false })
    )
  )

/** Sends transactions from a position on, then `notfound`. Returns the position after the last transaction. */
const transactionSender =
  ({ transactionFor }: ServerOptions) => (peer: Peer, items: ItemList, from: number): Effect.Effect<number> =>
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
          // A request can have 50,000 items. `notfound` goes out in parts, to avoid a second long list.
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

export const make = (options: ServerOptions): Effect.Effect<Server, never, Chain> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const getheaders = yield* makeHeaderServer(chain, options)
    const { getblocks, getblocktxn, gone, sendBlock } = makeBlockServer(chain, options)

    const sendTransactions = transactionSender(options)

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
      gone: (peer) => Effect.sync(() => gone(peer))
    }
  })
