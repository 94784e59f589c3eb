import * as Kind from "./kinds.ts"
import { type OptionTable, singleOption } from "./optionRow.ts"

/** The options of addresses, fees and coins of wallets. */

const ADDRESS_TYPES = ["legacy", "p2sh-segwit", "bech32", "bech32m"] as const

const GROUP = "Names and wallet"

export const WALLET_OPTIONS = {
  addresstype: singleOption(Kind.choiceKind(ADDRESS_TYPES), "addresstype", GROUP, "type of new addresses", {
    default: "legacy"
  }),
  changetype: singleOption(
    Kind.optionalKind(Kind.choiceKind(ADDRESS_TYPES)),
    "changetype",
    GROUP,
    "type of change addresses",
    { defaultNote: "that of the payment or of addresstype" }
  ),
  mintxfee: singleOption(
    Kind.amountKind,
    "mintxfee",
    GROUP,
    "minimum fee of the wallets' transactions, in NMC per 1000 virtual bytes",
    { default: "0.001" }
  ),
  fallbackfee: singleOption(
    Kind.optionalKind(Kind.amountKind),
    "fallbackfee",
    GROUP,
    "fee where the node has no estimate, in NMC per 1000 virtual bytes; 0 to refuse the payment",
    { defaultNote: "0, on regtest 0.001" }
  ),
  discardfee: singleOption(
    Kind.amountKind,
    "discardfee",
    GROUP,
    "fee rate at which change that is not worth spending becomes fee, in NMC per 1000 virtual bytes",
    { default: "0.0001" }
  ),
  consolidatefeerate: singleOption(
    Kind.amountKind,
    "consolidatefeerate",
    GROUP,
    "fee rate up to which payments spend more coins than they need, in NMC per 1000 virtual bytes",
    { default: "0.01" }
  ),
  maxtxfee: singleOption(Kind.amountKind, "maxtxfee", GROUP, "maximum fee of a transaction of a wallet, in NMC", {
    default: "0.1"
  }),
  txconfirmtarget: singleOption(
    Kind.integerKind({ min: 1, max: 1_008 }),
    "txconfirmtarget",
    GROUP,
    "blocks within which transactions of wallets should be confirmed",
    { default: "6" }
  ),
  walletrbf: singleOption(Kind.onOffKind, "walletrbf", GROUP, "let payments be replaced (BIP 125)", { default: "1" }),
  keypool: singleOption(
    Kind.integerKind({ min: 0, max: 100_000 }),
    "keypool",
    GROUP,
    "unused addresses of each kind that a wallet watches; at least 1000 of its own seed",
    { default: "1000" }
  ),
  spendzeroconfchange: singleOption(
    Kind.onOffKind,
    "spendzeroconfchange",
    GROUP,
    "let wallets spend their own unconfirmed change",
    { default: "1" }
  ),
  avoidpartialspends: singleOption(
    Kind.onOffKind,
    "avoidpartialspends",
    GROUP,
    "let payments spend all coins of an address together, for privacy",
    { default: "0" }
  ),
  maxapsfee: singleOption(
    Kind.amountKind,
    "maxapsfee",
    GROUP,
    "what a payment may cost more if it then spends all coins of an address together, in NMC",
    { default: "0" }
  ),
  walletrejectlongchains: singleOption(
    Kind.onOffKind,
    "walletrejectlongchains",
    GROUP,
    "refuse payments that depend on too many unconfirmed transactions",
    { default: "1" }
  ),
  autorenew: singleOption(
    Kind.onOffKind,
    "autorenew",
    GROUP,
    "let wallets renew the names that name_autoregister registers",
    { default: "1" }
  ),
  walletbroadcast: singleOption(Kind.onOffKind, "walletbroadcast", GROUP, "let wallets send their transactions", {
    default: "1"
  })
} satisfies OptionTable
