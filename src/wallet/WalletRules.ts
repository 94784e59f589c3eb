import type { WalletSettings } from "../config/settings.ts"
import { COIN } from "../protocol/amount.ts"

/** The operator's rules, reference/protocol.md 9.4. Fee rates per kvB. Defaults: upstream `wallet/wallet.h`. */
export interface WalletRules
  extends Omit<WalletSettings, "disableWallet" | "keypool" | "limitNameChains" | "noWallet">
{
  /** Unused addresses watched per chain; `undefined`: `LOOKAHEAD`. */
  readonly keypool: number | undefined
  /** The same for the chains of the seed, if more; `WORDS_REACH` if omitted. Some tests lower it. */
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
