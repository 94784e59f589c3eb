import type { NAME_LIST } from "../rpc/contract/wallet/nameWallet.ts"
import type { NAME_AUTORENEW, NAME_REGISTRATIONS } from "../rpc/contract/wallet/registration.ts"
import type { GETWALLETINFO } from "../rpc/contract/wallet/walletInfo.ts"
import type { LISTTRANSACTIONS } from "../rpc/contract/wallet/walletTransaction.ts"
import type { ResultOf } from "../rpc/method/calling.ts"

/** RPC answers as the pages read them, with names and values in hex. */

export const NAME_AS_HEX = { nameEncoding: "hex" } as const
export const AS_HEX = { ...NAME_AS_HEX, valueEncoding: "hex" } as const
/** Sends or fails: what a wallet without private keys would answer is not sent. */
export const SENT_AS_HEX = { ...AS_HEX, psbt: false } as const

/** The same as a PSBT, which is not sent. */
export const DRAFTED_AS_HEX = { ...AS_HEX, psbt: true } as const

export type OwnName = ResultOf<typeof NAME_LIST>[number]
export type RegistrationRow = ResultOf<typeof NAME_REGISTRATIONS>[number]
export type Renewing = ResultOf<typeof NAME_AUTORENEW>
export type WalletInfo = ResultOf<typeof GETWALLETINFO>
export type Payment = ResultOf<typeof LISTTRANSACTIONS>[number]
