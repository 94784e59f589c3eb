import type { WalletSettings } from "../config/settings.ts"
import { COIN } from "../protocol/amount.ts"

/**
 * The operator's rules for all wallets of a node, reference/protocol.md 9.4. Fee rates are in smallest units per kvB.
 * Defaults: upstream `wallet/wallet.h`.
 */
export interface WalletRules
  extends Omit<WalletSettings, "disableWallet" | "keypool" | "limitNameChains" | "noWallet">
{
  /** Unused addresses of each chain that a wallet watches; `undefined`: `LOOKAHEAD`. */
  readonly keypool: number | undefined
  /** The same for the chains of the seed, if it is more; `WORDS_REACH` if omitted. Tests of other things set it lower. */
  readonly reach?: number
}

export const DEFAULT_RULES: WalletRules = {
  addressType: "legacy",
  changeType: undefined,
  minTxFee: COIN / 1_000,
  fallbackFee: undefined,
  discardFee: 10_000,
  consolidateFeeRate: COIN / 100,
  maxTxFee: COIN / 10,
  txConfirmTarget: 6,
  walletRbf: true,
  keypool: undefined,
  spendZeroConfChange: true,
  avoidPartialSpends: false,
  maxApsFee: 0,
  walletRejectLongChains: true,
  autoRenew: true,
  walletBroadcast: true
}
