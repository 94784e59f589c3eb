import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Chain } from "../../../chain/Chain.ts"
import { Mempool } from "../../../mempool/Mempool.ts"
import { decodeAddress, scriptOf } from "../../../protocol/address.ts"
import { binaryString, displayHash, toHex } from "../../../protocol/bytes.ts"
import { type OutpointKey, txidKey } from "../../../protocol/keys.ts"
import { addressScript } from "../../../protocol/nameOperation.ts"
import type { Network } from "../../../protocol/networks.ts"
import { runSteps, type Steps } from "../../../protocol/steps.ts"
import { outpoint, outpointKey } from "../../../protocol/transaction.ts"
import type { CoinLock, WalletCoin } from "../../../wallet/ledger/WalletLedger.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import { AnswerOptions } from "../../AnswerOptions.ts"
import {
  DUMMY,
  GETBALANCE,
  GETBALANCES,
  LISTLOCKUNSPENT,
  LISTUNSPENT,
  LOCKUNSPENT,
  type UNSPENT
} from "../../contract/wallet/balance.ts"
import { Amount, itemsOf } from "../../json/encodeJson.ts"
import { readInTurns, readSteps } from "../../method/inTurns.ts"
import type { Methods } from "../../method/methodTable.ts"
import type * as Result from "../../method/results.ts"
import { type Read, RPC_CODE, RpcError } from "../../method/RpcError.ts"
import { nameOpJson } from "../../shapes/name.ts"
import { isSolvable } from "./addressInfo.ts"
import { avoidReuse } from "./spending.ts"
import { type DefineWalletMethod, walletMethod } from "./walletContext.ts"
import { isImmatureAt, lastBlockJson } from "./walletTransactions.ts"

/** reference/rpc.md 3.9. */

const confirmationsOf = (wallet: Wallet, { height }: WalletCoin): number =>
  height === undefined ? 0 : wallet.ledger.lastBlock().height - height + 1

/** The trusted balance with at least `minConfirmations`. Upstream `GetBalance`. */
const confirmedBalance = (wallet: Wallet, minConfirmations: number, clean: boolean): number => {
  let sum = 0
  for (const coin of wallet.ledger.coins()) {
    const depth = confirmationsOf(wallet, coin)
    if (coin.name !== undefined || !coin.trusted || isImmatureAt(coin.coinbase, depth)) continue
    if (clean && wallet.ledger.isReused(coin)) continue
    if (depth >= minConfirmations) sum += coin.output.value
  }
  return sum
}

interface Query {
  readonly minconf: number
  readonly maxconf: number
  /** As `binaryString`; an empty set means all. */
  readonly scripts: ReadonlySet<string>
  readonly unsafe: boolean
  readonly minimum: number
  readonly maximum: number
  readonly immature: boolean
  readonly names: boolean
}

const wanted = (wallet: Wallet, query: Query) => (coin: WalletCoin): boolean => {
  const depth = confirmationsOf(wallet, coin)
  const { value } = coin.output
  if (coin.locked || (coin.name !== undefined && (!query.names || coin.nameExpired))) return false
  if (depth < query.minconf || depth > query.maxconf) return false
  if (value < query.minimum || value > query.maximum) return false
  if (isImmatureAt(coin.coinbase, depth) && !query.immature) return false
  if (!coin.safe && !query.unsafe) return false
  return query.scripts.size === 0 || query.scripts.has(binaryString(addressScript(coin.output.script)))
}

/** Takes coins until their sum or number is reached. */
const upTo = (
  coins: ReadonlyArray<WalletCoin>,
  { count, sum }: { readonly sum: number; readonly count: number }
): ReadonlyArray<WalletCoin> => {
  const taken: Array<WalletCoin> = []
  let total = 0
  for (const coin of coins) {
    taken.push(coin)
    total += coin.output.value
    if (total >= sum || (count > 0 && taken.length >= count)) break
  }
  return taken
}

function* readScripts(network: Network, addresses: ReadonlyArray<string>): Steps<Read<ReadonlySet<string>>> {
  const scripts = new Set<string>()
  for (const address of addresses) {
    const parsed = decodeAddress(network, address)
    if ("error" in parsed) return Either.left(RpcError.invalidAddressOrKey(`Invalid address: ${address}`))
    if (scripts.size === scripts.add(binaryString(scriptOf(parsed.destination))).size) {
      return Either.left(RpcError.invalidParameter(`Invalid parameter, duplicated address: ${address}`))
    }
    yield
  }
  return Either.right(scripts)
}

const refused = (why: string): Read<never> => Either.left(RpcError.invalidParameter(`Invalid parameter, ${why}`))

const readLock = (
  wallet: Wallet,
  { txid, vout }: { readonly txid: Uint8Array; readonly vout: number },
  { change, unspent }: { readonly change: CoinLock; readonly unspent: ReadonlyMap<OutpointKey, WalletCoin> }
): Read<OutpointKey> => {
  if (vout < 0) return refused("vout cannot be negative")
  const tx = wallet.ledger.transaction(txidKey(txid))
  if (tx === undefined) return refused("unknown transaction")
  if (vout >= tx.transaction.outputs.length) {
    return refused("vout index out of bounds")
  }
  const key = outpointKey(outpoint(txid, vout))
  const coin = unspent.get(key)
  if (coin === undefined) return refused("expected unspent output")
  if (change === "unlock" && !coin.locked) return refused("expected locked output")
  if (change === "lock" && coin.locked) return refused("output already locked")
  return Either.right(key)
}

const getbalance = (make: DefineWalletMethod) =>
  make(GETBALANCE, ({ avoid_reuse, dummy, minconf }, wallet) =>
    Effect.gen(function*() {
      if (dummy !== "*") return yield* new RpcError({ code: RPC_CODE.methodDeprecated, message: DUMMY })
      const clean = yield* avoidReuse(wallet, avoid_reuse)
      if (minconf > 0) return new Amount(confirmedBalance(wallet, minconf, clean))
      return new Amount((yield* clean ? wallet.ledger.cleanBalances : wallet.ledger.balances).trusted)
    }))

const getbalances = (make: DefineWalletMethod) =>
  make(GETBALANCES, (_, wallet) =>
    Effect.gen(function*() {
      const all = yield* wallet.ledger.balances
      const clean = wallet.avoidsReuse() ? yield* wallet.ledger.cleanBalances : undefined
      const { immature, trusted, untrustedPending } = clean ?? all
      return {
        mine: {
          trusted: new Amount(trusted),
          untrusted_pending: new Amount(untrustedPending),
          immature: new Amount(immature),
          used: clean === undefined
            ? undefined
            : new Amount(all.trusted + all.untrustedPending - trusted - untrustedPending)
        },
        lastprocessedblock: lastBlockJson(wallet)
      }
    }))

const lockunspent = (make: DefineWalletMethod) =>
  make(LOCKUNSPENT, ({ persistent, transactions, unlock }, wallet) =>
    Effect.gen(function*() {
      if (transactions === undefined) {
        const locked = wallet.ledger.coins().flatMap((coin) => coin.locked ? coin.outpoint : [])
        if (unlock) yield* wallet.ledger.lockCoins(locked, "unlock")
        return true
      }
      const unspent = new Map(wallet.ledger.coins().map((coin) => [coin.outpoint, coin]))
      const change = unlock ? "unlock" : persistent ? "lock-persistently" : "lock"
      // In one step, as the coins must not change before they are locked.
      const keys = yield* runSteps(readSteps(transactions, (coin) => readLock(wallet, coin, { change, unspent })))
      yield* wallet.ledger.lockCoins(keys, change)
      return true
    }))

const listlockunspent = (make: DefineWalletMethod) =>
  make(
    LISTLOCKUNSPENT,
    (_, wallet) =>
      Effect.sync(() =>
        wallet.ledger.coins().flatMap(({ locked, txid, vout }) => locked ? [{ txid: displayHash(txid), vout }] : [])
      )
  )

export const balanceMethods: Methods<Wallets | Chain | Mempool | AnswerOptions> = Effect.gen(function*() {
  const { params: { network } } = yield* Chain
  const pool = yield* Mempool
  const options = yield* AnswerOptions
  const make = walletMethod(yield* Wallets)

  const ancestryJson = ({ txid }: WalletCoin) => {
    const key = txidKey(txid)
    const entry = pool.get(key)
    if (entry === undefined) return undefined
    const all = [...pool.ancestors(key), entry]
    return {
      ancestorcount: all.length,
      ancestorsize: all.reduce((sum, { vsize }) => sum + vsize, 0),
      ancestorfees: all.reduce((sum, { modifiedFee }) => sum + modifiedFee, 0)
    }
  }

  const coinJson = (wallet: Wallet, coin: WalletCoin): Result.ValueOf<typeof UNSPENT> => {
    const { name, output, own } = coin
    const confirmations = confirmationsOf(wallet, coin)
    const solvable = isSolvable(own)
    return {
      txid: displayHash(coin.txid),
      vout: coin.vout,
      nameOp: name === undefined ? undefined : nameOpJson(name.operation, options),
      address: own.address,
      label: own.address === undefined ? undefined : wallet.keys.labels().get(own.address)?.label,
      redeemScript: own.redeemScript === undefined ? undefined : toHex(own.redeemScript),
      witnessScript: own.witnessScript === undefined ? undefined : toHex(own.witnessScript),
      scriptPubKey: toHex(output.script),
      amount: new Amount(output.value),
      confirmations,
      ...(confirmations === 0 ? ancestryJson(coin) : undefined),
      spendable: true,
      solvable,
      desc: solvable ? own.descriptor : undefined,
      parent_descs: own.parentDescriptor === undefined ? [] : [own.parentDescriptor],
      safe: coin.safe,
      reused: wallet.avoidsReuse() ? wallet.ledger.isReused(coin) : undefined
    }
  }

  const listunspent = make(
    LISTUNSPENT,
    ({ addresses, include_unsafe, maxconf, minconf, query_options: query }, wallet, { turns }) =>
      Effect.map(readInTurns(turns, readScripts(network, addresses)), (scripts) => {
        const coins = wallet.ledger.coins().filter(wanted(wallet, {
          minconf,
          maxconf,
          scripts,
          unsafe: include_unsafe,
          minimum: query.minimumAmount,
          maximum: query.maximumAmount,
          immature: query.include_immature_coinbase,
          names: query.includeNames
        }))
        return itemsOf(
          upTo(coins, { sum: query.minimumSumAmount, count: query.maximumCount }),
          (coin) => coinJson(wallet, coin)
        )
      })
  )

  return [getbalance(make), getbalances(make), listunspent, lockunspent(make), listlockunspent(make)]
})
