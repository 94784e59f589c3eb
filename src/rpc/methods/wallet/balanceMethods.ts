import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
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
import { Amount, itemsOf } from "../../json/encodeJson.ts"
import { readInTurns, readSteps } from "../../method/inTurns.ts"
import type { Method } from "../../method/methodTable.ts"
import {
  amount,
  array,
  boolean,
  hash,
  int32,
  int64,
  namedOptions,
  object,
  optional,
  orEmpty,
  string,
  withDefault
} from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { type Read, RPC_CODE, RpcError } from "../../method/RpcError.ts"
import { NAME_OP, nameOpJson } from "../../shapes/name.ts"
import { isSolvable } from "./addressInfo.ts"
import { AVOID_REUSE, avoidReuse, NO_AVOID_REUSE } from "./avoidReuse.ts"
import { type DefineWalletMethod, walletMethod } from "./walletContext.ts"
import { isImmatureAt, LAST_BLOCK, lastBlockJson } from "./walletTransactions.ts"

/** Methods for the coins of a wallet (reference/rpc.md 3.9). */

const ADDRESS = "N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR"

const TXID = "4fe1cfd5439d1fadb8cce35a4888595c161d7a1922d6191433b4d3e1d1030fa4"

const DUMMY = "dummy first argument must be excluded or set to \"*\"."

const confirmationsOf = (wallet: Wallet, { height }: WalletCoin): number =>
  height === undefined ? 0 : wallet.ledger.lastBlock().height - height + 1

/** The part of the trusted balance with at least that many confirmations. Upstream `GetBalance`. */
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

const COIN = Schema.Struct({
  txid: Result.hex("The transaction"),
  vout: Result.integer("Index of the output"),
  nameOp: Schema.optional(NAME_OP.annotations({ description: "The name operation of a name output" })),
  address: Schema.optional(Result.string("The address")),
  label: Schema.optional(Result.string("Label of the address")),
  redeemScript: Schema.optional(Result.hex("The redeem script of a P2SH output")),
  witnessScript: Schema.optional(Result.hex("The witness script of a P2WSH output")),
  scriptPubKey: Result.hex("The output script"),
  amount: Result.amount("The amount"),
  confirmations: Result.integer("Confirmations"),
  ancestorcount: Schema.optional(Result.integer("Only in the mempool: ancestors, itself included")),
  ancestorsize: Schema.optional(Result.integer("Virtual bytes of the ancestors")),
  ancestorfees: Schema.optional(Result.integer("Fees of the ancestors in the smallest unit")),
  spendable: Result.boolean("true"),
  solvable: Result.boolean("Whether the wallet knows how to spend it, without regard to keys"),
  desc: Schema.optional(Result.string("Descriptor of the script")),
  parent_descs: Schema.Array(Result.string("A descriptor")).annotations({
    description: "The descriptors from which the script is derived"
  }),
  safe: Result.boolean("Whether payments use it unasked: confirmed, or the wallet's own change that no fee bump made"),
  reused: Schema.optional(
    Result.boolean("Only with avoid_reuse: whether the wallet has spent from the address before")
  )
})

const OUTPOINTS = array(
  object({ txid: hash("The transaction.", { label: "txid" }), vout: int32("Index of the output.") }, "A coin."),
  "The coins."
)

const OUTPOINT = Schema.Struct({ txid: Result.hex("The transaction"), vout: Result.integer("Index of the output") })

interface Query {
  readonly minconf: number
  readonly maxconf: number
  /** Scripts, each as `binaryString`; an empty set means all. */
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

/** Takes coins until their sum or their number is reached. */
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

/** The key of a coin that the call can lock or unlock. */
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
  make({
    name: "getbalance",
    right: "names",
    summary: "Returns the spendable balance of the wallet: without immature coinbases, unconfirmed payments from " +
      "others, and amounts locked in names.",
    params: {
      dummy: withDefault(string("Must be omitted or *."), "*"),
      minconf: withDefault(int32("Minimum confirmations."), 0),
      include_watchonly: withDefault(boolean("Ignored."), false),
      avoid_reuse: AVOID_REUSE
    },
    results: [{ schema: Result.amount("The sum") }],
    examples: [[], ["*", 6]],
    errors: [`-32 ${DUMMY}`, `-4 ${NO_AVOID_REUSE}`],
    handler: ({ avoid_reuse, dummy, minconf }, wallet) =>
      Effect.gen(function*() {
        if (dummy !== "*") return yield* new RpcError({ code: RPC_CODE.methodDeprecated, message: DUMMY })
        const clean = yield* avoidReuse(wallet, avoid_reuse)
        if (minconf > 0) return new Amount(confirmedBalance(wallet, minconf, clean))
        return new Amount((yield* clean ? wallet.ledger.cleanBalances : wallet.ledger.balances).trusted)
      })
  })

const getbalances = (make: DefineWalletMethod) =>
  make({
    name: "getbalances",
    right: "names",
    summary:
      "Returns the spendable, the unconfirmed and the immature balance of the wallet, without amounts locked in " +
      "names.",
    params: {},
    results: [{
      schema: Schema.Struct({
        mine: Schema.Struct({
          trusted: Result.amount("The spendable balance"),
          untrusted_pending: Result.amount("Unconfirmed payments from others"),
          immature: Result.amount("Immature coinbases"),
          used: Schema.optional(
            Result.amount("Only with avoid_reuse: coins of addresses that the wallet has spent from")
          )
        }),
        lastprocessedblock: LAST_BLOCK
      })
    }],
    examples: [[]],
    handler: (_, wallet) =>
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
      })
  })

const lockunspent = (make: DefineWalletMethod) =>
  make({
    name: "lockunspent",
    right: "spend",
    writes: true,
    summary: "Locks coins, so that payments do not use them, or unlocks them. Without coins, unlocks all.",
    params: {
      unlock: boolean("Whether to unlock instead of lock."),
      transactions: optional(OUTPOINTS, "all locked coins"),
      persistent: withDefault(boolean("Whether they stay locked after a restart."), false)
    },
    results: [{ schema: Result.boolean("true") }],
    examples: [[false, [{ txid: TXID, vout: 0 }]], [true]],
    errors: [
      "-8 Invalid parameter, vout cannot be negative",
      "-8 Invalid parameter, unknown transaction",
      "-8 Invalid parameter, vout index out of bounds",
      "-8 Invalid parameter, expected unspent output",
      "-8 Invalid parameter, expected locked output",
      "-8 Invalid parameter, output already locked"
    ],
    handler: ({ persistent, transactions, unlock }, wallet) =>
      Effect.gen(function*() {
        if (transactions === undefined) {
          const locked = wallet.ledger.coins().flatMap((coin) => coin.locked ? coin.outpoint : [])
          if (unlock) yield* wallet.ledger.lockCoins(locked, "unlock")
          return true
        }
        const unspent = new Map(wallet.ledger.coins().map((coin) => [coin.outpoint, coin]))
        const change = unlock ? "unlock" : persistent ? "lock-persistently" : "lock"
        // In one step, because the coins must not change before they are locked.
        const keys = yield* runSteps(readSteps(transactions, (coin) => readLock(wallet, coin, { change, unspent })))
        yield* wallet.ledger.lockCoins(keys, change)
        return true
      })
  })

const listlockunspent = (make: DefineWalletMethod) =>
  make({
    name: "listlockunspent",
    right: "names",
    summary: "Lists the locked coins.",
    params: {},
    results: [{ schema: Schema.Array(OUTPOINT) }],
    examples: [[]],
    handler: (_, wallet) =>
      Effect.sync(() =>
        wallet.ledger.coins().flatMap(({ locked, txid, vout }) => locked ? [{ txid: displayHash(txid), vout }] : [])
      )
  })

export const balanceMethods: Effect.Effect<
  ReadonlyArray<Method>,
  never,
  Wallets | Chain | Mempool | AnswerOptions
> = Effect.gen(function*() {
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

  const coinJson = (wallet: Wallet, coin: WalletCoin): Result.ValueOf<typeof COIN> => {
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

  const listunspent = make({
    name: "listunspent",
    right: "names",
    summary: "Lists the spendable coins. Includes unexpired names only on request, " +
      "and never expired ones.",
    params: {
      minconf: withDefault(int32("Minimum confirmations."), 1),
      maxconf: withDefault(int32("Maximum confirmations."), 9_999_999),
      addresses: withDefault(array(string("An address."), "Only coins of these addresses."), [], "[]"),
      include_unsafe: withDefault(boolean("Whether to list untrusted coins."), true),
      query_options: orEmpty(namedOptions({
        minimumAmount: withDefault(amount("Minimum amount of a coin."), 0, "0.00"),
        maximumAmount: withDefault(amount("Maximum amount of a coin."), Infinity, "none"),
        maximumCount: withDefault(int64("Maximum number of coins."), 0, "no limit"),
        minimumSumAmount: withDefault(amount("The list ends when the amounts reach this sum."), Infinity, "none"),
        include_immature_coinbase: withDefault(boolean("Whether to list immature coinbases."), false),
        includeNames: withDefault(boolean("Whether to list names."), false)
      }, "Further conditions."))
    },
    results: [{ schema: Schema.Array(COIN) }],
    examples: [[], [6, 9_999_999, [ADDRESS]], [0, 9_999_999, [], true, { includeNames: true }]],
    errors: ["-5 Invalid address: <x>", "-8 Invalid parameter, duplicated address: <x>"],
    handler: ({ addresses, include_unsafe, maxconf, minconf, query_options: query }, wallet, { turns }) =>
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
  })

  return [getbalance(make), getbalances(make), listunspent, lockunspent(make), listlockunspent(make)]
})
