import * as Kind from "./kinds.ts"
import { inGroup, oneOption } from "./optionRow.ts"

const ADDRESS_TYPES = ["legacy", "p2sh-segwit", "bech32", "bech32m"] as const

export const WALLET_OPTIONS = inGroup("Names and wallet", {
  addresstype: oneOption(Kind.choiceKind(ADDRESS_TYPES), "wallet.addressType", {
    description: "type of new addresses",
    default: "legacy"
  }),
  changetype: oneOption(Kind.optionalKind(Kind.choiceKind(ADDRESS_TYPES)), "wallet.changeType", {
    description: "type of change addresses",
    defaultNote: "that of the payment or of addresstype"
  }),
  mintxfee: oneOption(Kind.amountKind, "wallet.minTxFee", {
    description: "minimum fee of the wallets' transactions, in NMC per 1000 virtual bytes",
    default: "0.001"
  }),
  fallbackfee: oneOption(Kind.optionalKind(Kind.amountKind), "wallet.fallbackFee", {
    description: "fee while the node has no estimate, in NMC per 1000 virtual bytes; 0 to refuse the payment",
    defaultNote: "0, on regtest 0.001"
  }),
  discardfee: oneOption(Kind.amountKind, "wallet.discardFee", {
    description: "fee rate at which change that is not worth spending becomes fee, in NMC per 1000 virtual bytes",
    default: "0.0001"
  }),
  consolidatefeerate: oneOption(Kind.amountKind, "wallet.consolidateFeeRate", {
    description:
      "fee rate up to which payments spend more coins than needed, to consolidate them, in NMC per 1000 virtual bytes",
    default: "0.01"
  }),
  maxtxfee: oneOption(Kind.amountKind, "wallet.maxTxFee", {
    description: "maximum fee of a wallet transaction, in NMC",
    default: "0.1"
  }),
  txconfirmtarget: oneOption(Kind.integerKind({ min: 1, max: 1_008 }), "wallet.txConfirmTarget", {
    description: "blocks within which wallet transactions should be confirmed",
    default: "6"
  }),
  walletrbf: oneOption(Kind.onOffKind, "wallet.walletRbf", {
    description: "make payments replaceable (BIP 125)",
    default: "1"
  }),
  keypool: oneOption(Kind.integerKind({ min: 0, max: 100_000 }), "wallet.keypool", {
    description: "unused addresses of each kind that a wallet watches; at least 1000 of its own seed",
    default: "1000"
  }),
  spendzeroconfchange: oneOption(Kind.onOffKind, "wallet.spendZeroConfChange", {
    description: "let wallets spend their own unconfirmed change",
    default: "1"
  }),
  avoidpartialspends: oneOption(Kind.onOffKind, "wallet.avoidPartialSpends", {
    description: "let payments spend all coins of an address together, for privacy"
  }),
  maxapsfee: oneOption(Kind.amountKind, "wallet.maxApsFee", {
    description: "maximum extra cost at which a payment spends all coins of an address together, in NMC",
    default: "0"
  }),
  walletrejectlongchains: oneOption(Kind.onOffKind, "wallet.walletRejectLongChains", {
    description: "refuse payments that depend on too many unconfirmed transactions",
    default: "1"
  }),
  autorenew: oneOption(Kind.onOffKind, "wallet.autoRenew", {
    description: "let wallets renew the names that name_autoregister registers",
    default: "1"
  }),
  walletbroadcast: oneOption(Kind.onOffKind, "wallet.walletBroadcast", {
    description: "let wallets send their transactions",
    default: "1"
  })
})
