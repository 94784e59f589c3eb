import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import type { TxidKey } from "../../protocol/keys.ts"
import type { Message } from "../wire/message.ts"
import type { InventoryItem } from "../wire/messages/inv.ts"
import { itemOf, pays, type TransactionListener } from "./announcements.ts"

/** Maximum items of an inventory (reference/protocol.md 6.6). */
const MAX_ITEMS = 50_000

/**
 * Answers `mempool` (BIP 35): announces every transaction that pays what the peer wants, including those it knows. Removes
 * them all from `waiting`. Source: upstream `net_processing.cpp`, `SendMessages`.
 */
export const mempoolAnswer = (
  entries: Iterable<PoolEntry>,
  { bloom, feeFilter, known, wtxidRelay }: TransactionListener,
  waiting: Set<TxidKey>
): ReadonlyArray<Message> => {
  const items: Array<InventoryItem> = []
  for (const entry of entries) {
    waiting.delete(entry.transaction.txidKey)
    if (!pays(entry, feeFilter) || bloom?.matches(entry.transaction) === false) continue
    const item = itemOf(entry, wtxidRelay)
    known.add(item.hash)
    items.push(item)
  }
  const messages: Array<Message> = []
  for (let from = 0; from < items.length; from += MAX_ITEMS) {
    messages.push({ type: "inv", items: items.slice(from, from + MAX_ITEMS) })
  }
  return messages
}
