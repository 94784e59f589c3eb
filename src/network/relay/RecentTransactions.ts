import { binaryString } from "../../protocol/bytes.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { HashKind } from "./TxRequests.ts"

/** The transactions of the last block: peers without that block may still request them. */
export class RecentTransactions {
  private byTxid: ReadonlyMap<string, Transaction> = new Map()
  private byWtxid: ReadonlyMap<string, Transaction> = new Map()

  replace(transactions: ReadonlyArray<Transaction>): void {
    this.byTxid = new Map(transactions.map((transaction) => [transaction.txidKey, transaction]))
    this.byWtxid = new Map(transactions.map((transaction) => [binaryString(transaction.wtxid), transaction]))
  }

  /** Finds a transaction by `binaryString` of one of its hashes. */
  find(kind: HashKind, hash: string): Transaction | undefined {
    return (kind === "wtxid" ? this.byWtxid : this.byTxid).get(hash)
  }
}
