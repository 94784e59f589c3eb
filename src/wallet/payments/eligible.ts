import { COINBASE_MATURITY } from "../../consensus/params.ts"
import type { Mempool } from "../../mempool/Mempool.ts"
import { isTruc } from "../../mempool/policy/truc.ts"
import { type TxidKey, txidKey } from "../../protocol/keys.ts"
import type { WalletCoin } from "../ledger/WalletLedger.ts"
import { DEFAULT_VERSION } from "./Draft.ts"
import type { CoinFilter } from "./WalletPayments.ts"

/** 0 while unconfirmed. */
export const confirmationsOf = ({ height }: WalletCoin, tipHeight: number): number =>
  height === undefined ? 0 : Math.max(0, tipHeight - height + 1)

/** As in upstream's wallet, one block stricter than consensus, so that it survives a reorg of one block. */
export const isImmature = (coin: WalletCoin, tipHeight: number): boolean =>
  coin.coinbase && confirmationsOf(coin, tipHeight) <= COINBASE_MATURITY

export interface CoinRules {
  readonly tipHeight: number
  /** Includes coins that the wallet cannot sign for; false if omitted. */
  readonly watchOnly?: boolean
  /** Whether the mempool takes a child; always if omitted. */
  readonly takesChild?: (typeof Mempool.Service)["takesChild"]
}

/**
 * A payment of version 3 has at most one unconfirmed parent: that of the request, else the one with the highest sum.
 */
const ofOneParent = (coins: ReadonlyArray<WalletCoin>, given: ReadonlySet<TxidKey>): ReadonlyArray<WalletCoin> => {
  const sums = new Map<TxidKey, number>()
  for (const { height, output, txid } of coins) {
    const key = txidKey(txid)
    if (height === undefined) sums.set(key, (sums.get(key) ?? 0) + output.value)
  }
  const [largest] = [...sums].sort(([, a], [, b]) => b - a)
  const allowed = given.size > 0 ? given : new Set(largest === undefined ? [] : [largest[0]])
  return coins.filter(({ height, txid }) => height !== undefined || allowed.has(txidKey(txid)))
}

/**
 * Excludes names, the request's own inputs and exceptions, and coins that are locked, gone, immature, unsafe (unless allowed), outside
 * the confirmation limits, unsignable (unless watch-only), or whose payment the mempool would refuse. `parents`:
 * unconfirmed transactions whose coins are inputs of the request.
 */
export const eligible = (
  coins: ReadonlyArray<WalletCoin>,
  request: CoinFilter,
  { parents = new Set(), takesChild = () => true, tipHeight, watchOnly = false }: CoinRules & {
    readonly parents?: ReadonlySet<TxidKey>
  }
): ReadonlyArray<WalletCoin> => {
  const {
    except = new Set(),
    inputs = [],
    maxConfirmations = Infinity,
    minConfirmations = 0,
    version = DEFAULT_VERSION
  } = request
  const given = new Set(inputs.map(({ outpoint }) => outpoint))
  const found = coins.filter((coin) => {
    if (coin.name !== undefined || coin.locked || coin.expired || given.has(coin.outpoint)) return false
    if (except.has(coin.outpoint)) return false
    if (!coin.own.spendable && !watchOnly) return false
    if (!coin.safe && request.includeUnsafe !== true) return false
    const confirmations = confirmationsOf(coin, tipHeight)
    if (confirmations < minConfirmations || confirmations > maxConfirmations || isImmature(coin, tipHeight)) {
      return false
    }
    return coin.height !== undefined || takesChild(txidKey(coin.txid), version)
  })
  return isTruc(version) ? ofOneParent(found, parents) : found
}
