import { COINBASE_MATURITY } from "../../consensus/params.ts"
import type { WalletCoin } from "../ledger/WalletLedger.ts"
import type { PaymentRequest } from "./WalletPayments.ts"

/** The transaction version with a limit on unconfirmed ancestors and descendants (BIP 431). */
const TRUC_VERSION = 3

/** Confirmations of a coin; 0 while it is unconfirmed. */
export const confirmationsOf = ({ height }: WalletCoin, tipHeight: number): number =>
  height === undefined ? 0 : Math.max(0, tipHeight - height + 1)

/**
 * Whether a coinbase output is immature. As in the reference node's wallet, the limit is one block above the consensus
 * rule, so that a reorg of one block does not invalidate the payment.
 */
export const isImmature = (coin: WalletCoin, tipHeight: number): boolean =>
  coin.coinbase && confirmationsOf(coin, tipHeight) <= COINBASE_MATURITY

/**
 * The coins that may fund a payment, in their order. Excluded are coins with names; coins that are locked, gone,
 * immature, or given as inputs of the request; untrusted coins, unless the request allows them; coins outside its
 * confirmation limits; and, unless the wallet is watch-only, coins that it cannot sign for. Transactions of version 3
 * use no unconfirmed coins, because their ancestors would need that version as well.
 */
export const eligible = (
  coins: ReadonlyArray<WalletCoin>,
  request: Pick<
    PaymentRequest,
    "inputs" | "version" | "minConfirmations" | "maxConfirmations" | "includeUnsafe"
  >,
  { tipHeight, watchOnly = false }: { readonly tipHeight: number; readonly watchOnly?: boolean }
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
