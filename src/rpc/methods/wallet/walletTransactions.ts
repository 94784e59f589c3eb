import { COINBASE_MATURITY } from "../../../consensus/params.ts"
import type { Mempool } from "../../../mempool/Mempool.ts"
import { isTruc } from "../../../mempool/policy/truc.ts"
import { addressOf } from "../../../protocol/address.ts"
import { type Bytes, displayHash, toHex } from "../../../protocol/bytes.ts"
import { txidKey } from "../../../protocol/keys.ts"
import { type NameOperation, parseNameScript } from "../../../protocol/nameOperation.ts"
import { printable } from "../../../protocol/nameText.ts"
import type { Network } from "../../../protocol/networks.ts"
import { outpointKey, prevoutTxid, type Transaction, type TransactionOutput } from "../../../protocol/transaction.ts"
import type { WalletTx } from "../../../wallet/ledger/WalletLedger.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import {
  type ABANDONED,
  type DETAIL,
  type ENTRY,
  type LAST_BLOCK,
  type PAYMENT,
  type STANDING
} from "../../contract/wallet/walletTransactions.ts"
import { Amount } from "../../json/encodeJson.ts"
import type * as Result from "../../method/results.ts"

/** Source: upstream `wallet/rpc/transactions.cpp`, `wallet/receive.cpp` (reference/rpc.md 3.9). */

export const lastBlockJson = (wallet: Wallet): Result.ValueOf<typeof LAST_BLOCK> => {
  const { hash, height } = wallet.ledger.lastBlock()
  return { hash: displayHash(hash), height }
}

export interface EntryContext {
  readonly network: Network
  readonly wallet: Wallet
  readonly pool: typeof Mempool.Service
}

/** The highest sequence that signals replacement (BIP 125). */
const SEQUENCE_REPLACEABLE = 0xfffffffd

/** Confirmations; 0 if unconfirmed, negative after a conflict with a block. */
export const depthOf = (wallet: Wallet, { state }: WalletTx): number => {
  const blocks = (height: number) => wallet.ledger.lastBlock().height - height + 1
  switch (state.type) {
    case "confirmed":
      return blocks(state.height)
    case "conflicted":
      return -blocks(state.height)
    default:
      return 0
  }
}

/** One block longer than for the chain. */
export const isImmatureAt = (coinbase: boolean, depth: number): boolean => coinbase && depth <= COINBASE_MATURITY

const holdsName = ({ script }: TransactionOutput): boolean => parseNameScript(script) !== undefined

/** Without amounts in names. */
const sumOf = (outputs: Iterable<TransactionOutput | undefined>): number => {
  let sum = 0
  for (const output of outputs) if (output !== undefined && !holdsName(output)) sum += output.value
  return sum
}

/** The wallet's own coins among the inputs, and whether there are any. */
const debitOf = ({ spent }: WalletTx): { readonly debit: number; readonly fromMe: boolean } => ({
  debit: sumOf(spent),
  fromMe: spent.some((output) => output !== undefined && !holdsName(output))
})

/** Confirmed, or pending with only own, trusted inputs. */
export const isTrusted = (wallet: Wallet, tx: WalletTx, known = new Set<string>()): boolean => {
  const key = tx.transaction.txidKey
  if (known.has(key) || tx.state.type === "confirmed") return true
  if (tx.state.type !== "pending" || !debitOf(tx).fromMe) return false
  const trusted = tx.transaction.inputs.every(({ prevout }, n) => {
    if (tx.spent[n] === undefined) return false
    const parent = wallet.ledger.transaction(txidKey(prevoutTxid(prevout)))
    return parent !== undefined && isTrusted(wallet, parent, known)
  })
  if (trusted) known.add(key)
  return trusted
}

const signals = ({ inputs }: Transaction): boolean => inputs.some(({ sequence }) => sequence <= SEQUENCE_REPLACEABLE)

const replaceable = ({ pool }: EntryContext, { transaction }: WalletTx, depth: number): string => {
  if (depth > 0) return "no"
  if (signals(transaction)) return "yes"
  const key = transaction.txidKey
  if (pool.get(key) === undefined) return "unknown"
  return pool.ancestors(key).some((entry) => signals(entry.transaction)) ? "yes" : "no"
}

/**
 * Mempool transactions that spend an output that this one or an unconfirmed ancestor spends, or that are the only child
 * allowed for a parent of version 3 (BIP 431).
 */
const poolConflicts = ({ pool, wallet }: EntryContext, { state, transaction }: WalletTx): ReadonlyArray<string> => {
  if (state.type === "confirmed") return []
  const found = new Set<string>()
  const due = new Set([transaction])
  for (const { inputs, txidKey: key, version } of due) {
    if (pool.get(key) !== undefined) continue
    for (const { prevout } of inputs) {
      const parent = txidKey(prevoutTxid(prevout))
      const siblings = isTruc(version) ? pool.children(parent).filter((child) => isTruc(child.transaction.version)) : []
      const spender = pool.spender(outpointKey(prevout))
      for (const rival of spender === undefined ? siblings : [spender, ...siblings]) {
        found.add(displayHash(rival.transaction.txid))
      }
      const above = wallet.ledger.transaction(parent)
      if (above !== undefined && above.state.type !== "confirmed") due.add(above.transaction)
    }
  }
  return [...found]
}

/** Upstream `WalletTxToJSON`. */
export const standingJson = (context: EntryContext, tx: WalletTx): Result.MembersOf<typeof STANDING> => {
  const { wallet } = context
  const { state, transaction } = tx
  const depth = depthOf(wallet, tx)
  const block = state.type === "confirmed"
    ? {
      blockhash: displayHash(state.hash),
      blockheight: state.height,
      blockindex: state.index,
      blocktime: state.blockTime
    }
    : { trusted: isTrusted(wallet, tx) }
  return {
    confirmations: depth,
    generated: transaction.isCoinbase ? true : undefined,
    ...block,
    txid: displayHash(transaction.txid),
    wtxid: displayHash(transaction.wtxid),
    walletconflicts: wallet.ledger.conflictsOf(transaction.txidKey),
    mempoolconflicts: poolConflicts(context, tx),
    time: tx.time,
    timereceived: tx.time,
    "bip125-replaceable": replaceable(context, tx, depth),
    comment: tx.comment,
    replaced_by_txid: tx.replacedBy,
    replaces_txid: tx.replaces,
    to: tx.commentTo
  }
}

const nameText = (operation: NameOperation): string =>
  operation.op === "name_new" ? `new: ${toHex(operation.commitment)}` : `update: ${printable(operation.name)}`

export interface Listing {
  /** Only received payments with this label. */
  readonly label?: string | undefined
  readonly change?: boolean
  /** Include received payments at any depth of conflict. */
  readonly conflicted?: boolean
}

const receivedCategory = (transaction: Transaction, depth: number): string => {
  if (!transaction.isCoinbase) return "receive"
  if (depth < 1) return "orphan"
  return isImmatureAt(true, depth) ? "immature" : "generate"
}

/** A payment with the members that all payments of its transaction share. */
type Row<S> = Result.MembersOf<typeof PAYMENT> & S & Result.MembersOf<{ readonly abandoned: typeof ABANDONED }>

const rowsWith = <S extends object>(
  { context, listing, tx }: { readonly context: EntryContext; readonly tx: WalletTx; readonly listing: Listing },
  shared: S
): ReadonlyArray<Row<S>> => {
  const { network, wallet } = context
  const { transaction } = tx
  const depth = depthOf(wallet, tx)
  const { debit } = debitOf(tx)
  const fee = debit > 0 ? debit - sumOf(transaction.outputs) : 0
  const labels = wallet.keys.labels()
  const abandoned = tx.state.type === "inactive" && tx.state.abandoned
  const sent: Array<Row<S>> = []
  const received: Array<Row<S>> = []
  for (const [vout, { script, value }] of transaction.outputs.entries()) {
    const own = wallet.keys.own(script)
    const name = parseNameScript(script)
    const isChange = name === undefined && isChangeScript(wallet, script)
    if (debit > 0 ? isChange && listing.change !== true : own === undefined) continue
    const address = addressOf(network, name?.address ?? script)
    const label = address === undefined ? undefined : labels.get(address)?.label
    const amount = name === undefined ? value : 0
    const payment = { address, name: name === undefined ? undefined : nameText(name.operation) }
    if (debit > 0 && listing.label === undefined) {
      sent.push({
        ...payment,
        category: "send",
        amount: new Amount(-amount),
        label,
        vout,
        fee: new Amount(-fee),
        ...shared,
        abandoned
      })
    }
    if (own === undefined || (name !== undefined && debit > 0)) continue
    if (depth < 0 && listing.conflicted !== true) continue
    if (listing.label !== undefined && listing.label !== (label ?? "")) continue
    received.push({
      ...payment,
      parent_descs: own.parentDescriptor === undefined ? [] : [own.parentDescriptor],
      category: receivedCategory(transaction, depth),
      amount: new Amount(amount),
      label,
      vout,
      ...shared,
      abandoned
    })
  }
  return [...sent, ...received]
}

/**
 * One payment per output, sent before received. Change is omitted, names never. A name that the wallet sends to itself
 * is only listed as sent. Upstream `ListTransactions`.
 */
export const paymentRowsOf = (context: EntryContext, tx: WalletTx): ReadonlyArray<Result.ValueOf<typeof DETAIL>> =>
  rowsWith({ context, tx, listing: {} }, {})

/** With the state of the transaction. */
export const entryRowsOf = (
  context: EntryContext,
  tx: WalletTx,
  listing: Listing
): ReadonlyArray<Result.ValueOf<typeof ENTRY>> => rowsWith({ context, tx, listing }, standingJson(context, tx))

/** The amount without its fee, and the fee if the wallet pays it, both signed. */
export const netOf = (
  wallet: Wallet,
  tx: WalletTx
): { readonly amount: number; readonly fee: number | undefined } => {
  const { transaction } = tx
  const { debit, fromMe } = debitOf(tx)
  const credit = isImmatureAt(transaction.isCoinbase, depthOf(wallet, tx))
    ? 0
    : sumOf(transaction.outputs.filter(({ script }) => wallet.keys.own(script) !== undefined))
  const fee = fromMe ? sumOf(transaction.outputs) - debit : 0
  return { amount: credit - debit - fee, fee: fromMe ? fee : undefined }
}

/** Upstream `ScriptIsChange`. */
export const isChangeScript = (wallet: Wallet, script: Bytes): boolean => {
  const own = wallet.keys.own(script)
  if (own === undefined) return false
  return own.address === undefined || !wallet.keys.labels().has(own.address)
}
