import { COIN } from "../protocol/amount.ts"
import type { AddressType } from "./keys/WalletKeys.ts"

/**
 * The operator's rules for all wallets of a node, reference/protocol.md 9.4. Fee rates are in smallest units per kvB.
 * Defaults: upstream `wallet/wallet.h`.
 */
export interface WalletRules {
  /** The type of addresses whose caller names none. */
  readonly addressType: AddressType
  /** The type of change; `undefined`: chosen for each payment. */
  readonly changeType: AddressType | undefined
  /** The lowest fee rate that a wallet pays. */
  readonly minFeeRate: number
  /** The fee rate without an estimate; 0 refuses the payment, `undefined` does so except on regtest. */
  readonly fallbackFeeRate: number | undefined
  /** Change that is not worth spending at this rate becomes fee. */
  readonly discardFeeRate: number
  /** The fee rate expected in the long term: below it, a payment spends more coins than it needs. */
  readonly consolidateFeeRate: number
  /** The highest fee of a transaction, smallest units. */
  readonly maxFee: number
  /** Blocks within which a transaction should be confirmed. */
  readonly confirmTarget: number
  /** Whether inputs signal replaceability (BIP 125). */
  readonly replaceable: boolean
  /** Unused addresses of each chain that a wallet watches; `undefined`: `LOOKAHEAD`. */
  readonly keypool: number | undefined
  /** The same for the chains of the seed, if it is more; `WORDS_REACH` if omitted. Tests of other things set it lower. */
  readonly reach?: number
  /** Whether unconfirmed change of a wallet itself may be spent. */
  readonly spendUnconfirmedChange: boolean
  /** Whether payments spend all coins of a script together (`-avoidpartialspends`). */
  readonly avoidPartialSpends: boolean
  /** What a payment may cost more if it then spends all coins of a script together, smallest units. */
  readonly maxGroupingFee: number
  /** Whether a payment is refused that the mempool's limits of dependent transactions would refuse. */
  readonly rejectLongChains: boolean
  /** Whether a wallet renews the names that it registers in one call, unless the caller says otherwise. */
  readonly autoRenew: boolean
  /** Whether wallets offer their transactions to the mempool. */
  readonly broadcast: boolean
}

export const DEFAULT_RULES: WalletRules = {
  addressType: "legacy",
  changeType: undefined,
  minFeeRate: COIN / 1_000,
  fallbackFeeRate: undefined,
  discardFeeRate: 10_000,
  consolidateFeeRate: COIN / 100,
  maxFee: COIN / 10,
  confirmTarget: 6,
  replaceable: true,
  keypool: undefined,
  spendUnconfirmedChange: true,
  avoidPartialSpends: false,
  maxGroupingFee: 0,
  rejectLongChains: true,
  autoRenew: true,
  broadcast: true
}
