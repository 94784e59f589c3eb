import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Chain } from "../../../chain/Chain.ts"
import type { BlockNotFound, BlockUnavailable } from "../../../chain/errors.ts"
import type { HeaderInfo } from "../../../chain/index/headerInfo.ts"
import { Mempool } from "../../../mempool/Mempool.ts"
import { type Bytes, displayHash, equal, toHex } from "../../../protocol/bytes.ts"
import { txidKey } from "../../../protocol/keys.ts"
import type { StorageFailure } from "../../../storage/errors.ts"
import { InvalidWalletRequest } from "../../../wallet/errors.ts"
import type { WalletTx } from "../../../wallet/ledger/WalletLedger.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import { AnswerOptions } from "../../AnswerOptions.ts"
import { UNKNOWN_TRANSACTION } from "../../contract/wallet/walletParams.ts"
import {
  ABANDONTRANSACTION,
  GETTRANSACTION,
  LISTSINCEBLOCK,
  LISTTRANSACTIONS,
  NOT_ELIGIBLE
} from "../../contract/wallet/walletTransaction.ts"
import type { ENTRY } from "../../contract/wallet/walletTransactions.ts"
import { Amount } from "../../json/encodeJson.ts"
import type { Methods } from "../../method/methodTable.ts"
import { readHash } from "../../method/params.ts"
import type * as Result from "../../method/results.ts"
import { type Read, readOf, RpcError } from "../../method/RpcError.ts"
import { transactionJson } from "../../shapes/transaction.ts"
import { blockError } from "../errors.ts"
import { type DefineWalletMethod, walletError, walletMethod } from "./walletContext.ts"
import {
  depthOf,
  type EntryContext,
  entryRowsOf,
  isChangeScript,
  lastBlockJson,
  type Listing,
  netOf,
  paymentRowsOf,
  standingJson
} from "./walletTransactions.ts"

/** reference/rpc.md 3.9. */

const transactionOf = (wallet: Wallet, txid: Bytes): Effect.Effect<WalletTx, RpcError> =>
  Effect.suspend(() => {
    const tx = wallet.ledger.transaction(txidKey(txid))
    return tx === undefined ? RpcError.invalidAddressOrKey(UNKNOWN_TRANSACTION) : Effect.succeed(tx)
  })

/** `*` means no filter. */
const labelFilter = (text: string | undefined): Read<string | undefined> => {
  if (text === undefined || text === "*") return Either.right(undefined)
  return text === ""
    ? Either.left(RpcError.invalidParameter("Label argument must be a valid label name or \"*\"."))
    : Either.right(text)
}

/** The fork point on the best chain, and the blocks after it. */
interface Branch {
  readonly fork: HeaderInfo
  /** From the block down to the fork; empty on the best chain. */
  readonly detached: ReadonlyArray<HeaderInfo>
}

const branchOf = (
  chain: typeof Chain.Service,
  hash: Bytes
): Effect.Effect<Branch, BlockNotFound> =>
  Effect.gen(function*() {
    const detached: Array<HeaderInfo> = []
    let at = yield* chain.header(hash)
    for (;;) {
      const known = yield* chain.headerAt(at.height)
      if (known !== undefined && equal(known.hash, at.hash)) return { fork: at, detached }
      detached.push(at)
      at = yield* chain.header(at.header.prevHash)
    }
  })

const unreadable = (failure: BlockNotFound | BlockUnavailable | StorageFailure): RpcError =>
  failure._tag === "BlockUnavailable" || failure._tag === "BlockNotFound"
    ? RpcError.internal("Can't read block from disk")
    : blockError(failure)

/** Entries in blocks that left the best chain. */
const removedEntries = (
  chain: Pick<typeof Chain.Service, "block">,
  context: EntryContext,
  { detached, ...listing }: Listing & { readonly detached: ReadonlyArray<HeaderInfo> }
): Effect.Effect<ReadonlyArray<Result.ValueOf<typeof ENTRY>>, RpcError> =>
  Effect.gen(function*() {
    const removed: Array<Result.ValueOf<typeof ENTRY>> = []
    for (const { hash } of detached) {
      const block = yield* Effect.mapError(chain.block(hash), unreadable)
      for (const { txidKey } of block.transactions) {
        const tx = context.wallet.ledger.transaction(txidKey)
        if (tx !== undefined) removed.push(...entryRowsOf(context, tx, { ...listing, conflicted: true }))
      }
    }
    return removed
  })

/** With fewer confirmations in the chain, its first block. */
const blockWithDepth = (
  chain: Pick<typeof Chain.Service, "headerAt">,
  wallet: Wallet,
  depth: number
): Effect.Effect<string> =>
  Effect.gen(function*() {
    const last = wallet.ledger.lastBlock()
    if (depth <= 1) return displayHash(last.hash)
    const info = yield* chain.headerAt(Math.max(0, last.height + 1 - depth))
    return displayHash(info?.hash ?? last.hash)
  })

const abandontransaction = (make: DefineWalletMethod) =>
  make(ABANDONTRANSACTION, ({ txid }, wallet) =>
    Effect.gen(function*() {
      yield* transactionOf(wallet, txid)
      yield* Effect.mapError(wallet.payments.abandon(txidKey(txid)), (failure) =>
        failure instanceof InvalidWalletRequest && failure.code === "not-eligible"
          ? RpcError.invalidAddressOrKey(NOT_ELIGIBLE)
          : walletError(failure))
      return null
    }))

export const walletTransactionMethods: Methods<Wallets | Chain | Mempool | AnswerOptions> = Effect.gen(function*() {
  const chain = yield* Chain
  const pool = yield* Mempool
  const options = yield* AnswerOptions
  const make = walletMethod(yield* Wallets)
  const { network } = chain.params
  const shapeContext = { network, ...options }

  const contextOf = (wallet: Wallet): EntryContext => ({ network, wallet, pool })

  const decodedJson = (wallet: Wallet, { transaction }: WalletTx) =>
    transactionJson(shapeContext, transaction, { isChange: (script) => isChangeScript(wallet, script) })

  const gettransaction = make(
    GETTRANSACTION,
    ({ txid, verbose }, wallet) =>
      Effect.map(transactionOf(wallet, txid), (tx) => {
        const context = contextOf(wallet)
        const { amount, fee } = netOf(wallet, tx)
        return {
          amount: new Amount(amount),
          fee: fee === undefined ? undefined : new Amount(fee),
          ...standingJson(context, tx),
          details: paymentRowsOf(context, tx),
          hex: toHex(tx.transaction.bytes),
          decoded: verbose ? decodedJson(wallet, tx) : undefined,
          lastprocessedblock: lastBlockJson(wallet)
        }
      })
  )

  const listtransactions = make(LISTTRANSACTIONS, ({ count, label: given, skip }, wallet) =>
    Effect.gen(function*() {
      const listing = { label: yield* labelFilter(given) }
      if (count < 0) return yield* RpcError.invalidParameter("Negative count")
      if (skip < 0) return yield* RpcError.invalidParameter("Negative from")
      const context = contextOf(wallet)
      const transactions = wallet.ledger.transactions()
      // The latest first, as many as needed.
      const latest: Array<Result.ValueOf<typeof ENTRY>> = []
      for (let at = transactions.length - 1; at >= 0 && latest.length < count + skip; at--) {
        const tx = transactions[at]
        if (tx !== undefined) latest.push(...entryRowsOf(context, tx, listing))
      }
      return latest.slice(skip, skip + count).reverse()
    }))

  const listsinceblock = make(LISTSINCEBLOCK, (given, wallet) =>
    Effect.gen(function*() {
      const { blockhash, include_change, include_removed, label: wanted, target_confirmations } = given
      const branch = blockhash === undefined || blockhash === ""
        ? undefined
        : yield* Effect.flatMap(
          readOf(readHash(blockhash, { label: "blockhash" })),
          (from) => Effect.mapError(branchOf(chain, from), blockError)
        )
      if (target_confirmations < 1) return yield* RpcError.invalidParameter("Invalid parameter")
      const context = contextOf(wallet)
      const listing = { label: wanted, change: include_change }
      const depth = branch === undefined ? Infinity : wallet.ledger.lastBlock().height + 1 - branch.fork.height
      return {
        transactions: wallet.ledger.transactions().flatMap((tx) =>
          Math.abs(depthOf(wallet, tx)) < depth ? entryRowsOf(context, tx, listing) : []
        ),
        removed: include_removed
          ? yield* removedEntries(chain, context, { ...listing, detached: branch?.detached ?? [] })
          : undefined,
        lastblock: yield* blockWithDepth(chain, wallet, target_confirmations)
      }
    }))

  return [gettransaction, listtransactions, listsinceblock, abandontransaction(make)]
})
