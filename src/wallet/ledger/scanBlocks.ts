import type { Block } from "../../protocol/block.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { decodeTransaction, type Transaction } from "../../protocol/transaction.ts"
import type { KeyRing } from "../keys/KeyRing.ts"
import type { ConfirmedRow, IndexChange } from "./IndexStore.ts"
import type { Ledger } from "./Ledger.ts"

export interface ScannedBlock {
  readonly height: number
  readonly hash: Bytes
  readonly block: Block
}

export interface Scan extends Pick<IndexChange, "rows" | "conflicts"> {
  /** Whether the wallet watches more scripts than before. */
  readonly grew: boolean
  readonly added: ReadonlyArray<Transaction>
  /** Known transactions that the blocks contain or conflict with. */
  readonly moved: ReadonlyArray<Transaction>
}

export interface ScanParts {
  readonly ledger: Ledger
  readonly ring: KeyRing
  /** Seconds since 1970. */
  readonly now: number
}

/** A view would keep the whole block in memory. */
const ownCopy = (transaction: Transaction): Transaction => decodeTransaction(transaction.bytes.slice())

/** `inBlock`: the transaction is confirmed. Returns whether the wallet now watches more scripts. */
export const markUsed = (ring: KeyRing, { outputs }: Transaction, inBlock = false): boolean => {
  let grew = false
  for (const { script } of outputs) if (ring.own(script) !== undefined && ring.markUsed(script, inBlock)) grew = true
  return grew
}

/** For when confirmed transactions have left the wallet. */
export const markBlocksAgain = ({ ledger, ring }: Pick<ScanParts, "ledger" | "ring">): void => {
  ring.forgetBlocks()
  for (const { transaction } of ledger.confirmedAbove(-1)) markUsed(ring, transaction, true)
}

/**
 * Adds the wallet's transactions in chain order. If a payment extends the watched scripts, the blocks are scanned
 * again: an earlier one may pay to the new scripts.
 */
export const scanBlocks = (parts: ScanParts, blocks: ReadonlyArray<ScannedBlock>): Scan => {
  const { ledger, now, ring } = parts
  const rows = new Map<string, ConfirmedRow & { readonly txid: Bytes }>()
  const conflicts = new Map<string, { readonly txid: Bytes; readonly height: number }>()
  const added: Array<Transaction> = []
  const moved = new Map<string, Transaction>()

  const confirm = (found: Transaction, position: number, { block, hash, height }: ScannedBlock): boolean => {
    const before = ledger.entry(found.txidKey)
    const transaction = before?.transaction ?? ownCopy(found)
    const blockTime = block.header.time
    const { order, time } = ledger.put({
      transaction,
      time: Math.min(now, blockTime),
      state: { type: "confirmed", height, hash, index: position, blockTime }
    })
    if (before === undefined) added.push(transaction)
    else if (!rows.has(transaction.txidKey)) moved.set(transaction.txidKey, transaction)
    const { bytes, txid, txidKey } = transaction
    rows.set(txidKey, { txid, bytes, height, hash, position, blockTime, time, order })
    return markUsed(ring, transaction, true)
  }

  const pass = (): boolean => {
    let grew = false
    for (const scanned of blocks) {
      for (const [position, transaction] of scanned.block.transactions.entries()) {
        for (const rival of ledger.rivals(transaction)) {
          const { height } = scanned
          conflicts.set(`${rival.key}${height}`, { txid: rival.transaction.txid, height })
          for (const lost of ledger.conflict(rival.key, height)) moved.set(lost.key, lost.transaction)
        }
        if (ledger.concerns(transaction) && confirm(transaction, position, scanned)) grew = true
      }
    }
    return grew
  }

  let grew = false
  while (pass()) {
    grew = true
    ledger.lookAgain("unconfirmed")
  }
  return { rows: [...rows.values()], conflicts: [...conflicts.values()], grew, added, moved: [...moved.values()] }
}
