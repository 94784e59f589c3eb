import type { Bytes } from "../../protocol/bytes.ts"
import { type TxidKey, txidKey, type WtxidKey, wtxidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { HashKind } from "./TxRequests.ts"

/** The transactions of the last block, which peers without that block may still request. */
export class RecentTransactions {
  private byTxid: ReadonlyMap<TxidKey, Transaction> = new Map()
  private byWtxid: ReadonlyMap<WtxidKey, Transaction> = new Map()

  replace(transactions: ReadonlyArray<Transaction>): void {
    this.byTxid = new Map(transactions.map((transaction) => [transaction.txidKey, transaction]))
    this.byWtxid = new Map(transactions.map((transaction) => [wtxidKey(transaction.wtxid), transaction]))
  }

  find(kind: HashKind, hash: Bytes): Transaction | undefined {
    return kind === "wtxid" ? this.byWtxid.get(wtxidKey(hash)) : this.byTxid.get(txidKey(hash))
  }
}
