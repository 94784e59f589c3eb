import { COINBASE_MATURITY } from "../../consensus/params.ts"
import type { PaymentRequest, WalletCoin } from "../Wallet.ts"

/** Version of transactions of which few may wait in a row (BIP 431). */
const TRUC_VERSION = 3

/** Blocks on top of a coin, its own included; 0 while it is pending. */
export const confirmationsOf = ({ height }: WalletCoin, tipHeight: number): number =>
  height === undefined ? 0 : Math.max(0, tipHeight - height + 1)

/**
 * Whether a coinbase output cannot be spent yet. As the reference node's wallet, one block more than the rules ask for,
 * so that a reorganisation of one block does not take the payment back.
 */
export const isImmature = (coin: WalletCoin, tipHeight: number): boolean =>
  coin.coinbase && confirmationsOf(coin, tipHeight) <= COINBASE_MATURITY

/**
 * The coins that a payment may be made from, in their order. Left out are those that hold names, which are no money;
 * those that are locked, gone, immature, or among the inputs that the request gives; those that nobody can count on,
 * unless it says so; those that are too young or too old for it; and those that the wallet cannot sign for, unless it is
 * one that watches alone. Unconfirmed coins are not for version 3: what they come from would have to be of that version.
 */
export const eligible = (
  coins: ReadonlyArray<WalletCoin>,
  request: Pick<
    PaymentRequest,
    "inputs" | "version" | "minConfirmations" | "maxConfirmations" | "includeUnsafe"
  >,
  tipHeight: number,
  watchOnly = false
): ReadonlyArray<WalletCoin> => {
  const given = new Set(request.inputs?.map(({ outpoint }) => outpoint))
  const least = Math.max(request.minConfirmations ?? 0, request.version === TRUC_VERSION ? 1 : 0)
  const most = request.maxConfirmations ?? Infinity
  return coins.filter((coin) => {
    if (coin.name !== undefined || coin.locked || coin.expired || given.has(coin.outpoint)) return false
    if (!coin.own.spendable && !watchOnly) return false
    if (!coin.trusted && request.includeUnsafe !== true) return false
    const confirmations = confirmationsOf(coin, tipHeight)
    return confirmations >= least && confirmations <= most && !isImmature(coin, tipHeight)
  })
}
