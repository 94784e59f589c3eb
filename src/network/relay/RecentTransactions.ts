import { binaryString } from "../../protocol/bytes.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { HashKind } from "./TxRequests.ts"

/** The transactions of the last block: peers who did not hear of it yet may still ask for them. */
export class RecentTransactions {
  private byTxid: ReadonlyMap<string, Transaction> = new Map()
  private byWtxid: ReadonlyMap<string, Transaction> = new Map()

  /** Another block came. */
  replace(transactions: ReadonlyArray<Transaction>): void {
    this.byTxid = new Map(transactions.map((transaction) => [transaction.txidKey, transaction]))
    this.byWtxid = new Map(transactions.map((transaction) => [binaryString(transaction.wtxid), transaction]))
  }

  /** By `binaryString` of one of its hashes. */
  find(kind: HashKind, hash: string): Transaction | undefined {
    return (kind === "wtxid" ? this.byWtxid : this.byTxid).get(hash)
  }
}
