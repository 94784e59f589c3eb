import type * as Effect from "effect/Effect"
import type { Bytes } from "../../protocol/bytes.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { InvalidWalletRequest, KeysLocked, WalletWatchOnly } from "../errors.ts"
import type { SigningProvider } from "../signing/SigningProvider.ts"

/** The address types that a wallet gives out, under the reference node's names. */
export type AddressType = "legacy" | "p2sh-segwit" | "bech32" | "bech32m"

/** How far the recovery words bring a wallet back. */
export interface WordsView {
  /** Addresses that can still be given out without a payment to one of them, of the type with the fewest. */
  readonly left: number
  /** Addresses that were given out and that the words find only if an earlier one is paid. */
  readonly beyond: number
  /** Addresses with transactions in blocks that the words do not find. */
  readonly lost: number
}

/** A script that a wallet watches, with its metadata. */
export interface OwnScript {
  /** The scriptPubKey without a name prefix. */
  readonly script: Bytes
  /** The address; `undefined` for scripts without one. */
  readonly address: string | undefined
  readonly type: AddressType | "other"
  readonly change: boolean
  /** Whether the wallet can sign for it, once unlocked. */
  readonly spendable: boolean
  /** Compressed or not, as in the script; `undefined` unless the script has exactly one key. */
  readonly publicKey: Bytes | undefined
  /** The path from the master key, such as `m/44h/7h/0h/0/0`. */
  readonly path: string | undefined
  readonly masterFingerprint: Bytes | undefined
  /** The descriptors with checksum of this script alone, and of its range. */
  readonly descriptor: string
  readonly parentDescriptor: string | undefined
  readonly redeemScript: Bytes | undefined
  readonly witnessScript: Bytes | undefined
  /** Seconds since 1970: the script may have been used from this time on. */
  readonly timestamp: number
}

/** A descriptor of the wallet, for `listdescriptors`. */
export interface ListedDescriptor {
  readonly descriptor: string
  readonly timestamp: number
  readonly active: boolean
  /** Only for active ones. */
  readonly internal: boolean | undefined
  /** First and last watched index; only for a ranged descriptor. */
  readonly range: readonly [number, number] | undefined
  readonly next: number | undefined
}

/** The keys of a wallet, the scripts that it watches, and its address book. */
export interface WalletKeys {
  /** Gives out an unused address and stores its label. */
  readonly newAddress: (options: {
    readonly type: AddressType
    readonly label: string
  }) => Effect.Effect<OwnScript, InvalidWalletRequest | StorageFailure>
  /**
   * Promises an unused address to a transaction that may never be sent: it is taken when the transaction is sent, and
   * free again after `release`.
   */
  readonly reserveAddress: (type: AddressType) => Effect.Effect<
    { readonly own: OwnScript; readonly release: () => void },
    InvalidWalletRequest
  >
  /** Gives out an unused address for change. */
  readonly newChangeAddress: (type: AddressType) => Effect.Effect<OwnScript, InvalidWalletRequest | StorageFailure>
  /** How far the recovery words bring the wallet back; `undefined` for a wallet without a seed, or before it knows. */
  readonly words: Effect.Effect<WordsView | undefined>
  /** The wallet's record of a scriptPubKey, with or without a name prefix. */
  readonly own: (script: Bytes) => OwnScript | undefined
  /** Whether the wallet has private keys; without them it is watch-only. */
  readonly hasPrivateKeys: boolean
  /** Whether the wallet was created without keys and has none yet. */
  readonly isBlank: () => boolean
  /** For `getwalletinfo`: the number of unused watched addresses, receive and change. */
  readonly keypool: () => { readonly receive: number; readonly change: number }
  /** Seconds since 1970: no block before this time concerns the wallet's first keys. */
  readonly birthday: number
  /** Seconds since 1970: the earliest time of its keys and scripts; `undefined` without any. */
  readonly birthtime: () => number | undefined
  /** Imports a key or descriptors, and rescans the chain for them from a time on. Returns warnings. */
  readonly importDescriptor: (request: {
    readonly descriptor: string
    readonly label: string | undefined
    /** Seconds since 1970; `undefined` for now, which is the median time of the tip. */
    readonly timestamp: number | undefined
    readonly active: boolean
    readonly internal: boolean | undefined
    readonly range: readonly [number, number] | undefined
    readonly nextIndex: number | undefined
  }) => Effect.Effect<ReadonlyArray<string>, InvalidWalletRequest | KeysLocked | StorageFailure>
  /**
   * Derives the keys of hardened ranges that the wallet lacked while it was locked, and more unused addresses of each
   * type if it has fewer than `size`.
   */
  readonly refill: (size?: number) => Effect.Effect<void, StorageFailure>
  /** The descriptors of the watched scripts, with private keys on request. */
  readonly descriptors: (secret: boolean) => Effect.Effect<
    ReadonlyArray<ListedDescriptor>,
    KeysLocked | WalletWatchOnly
  >
  /** The public data for signing, even of a locked or watch-only wallet: scripts, public keys and their origins. */
  readonly knowledge: SigningProvider
  /** The keys and scripts for signing. */
  readonly signer: Effect.Effect<SigningProvider, KeysLocked | WalletWatchOnly>
  /** The address book, by address. */
  readonly labels: () => ReadonlyMap<string, { readonly label: string; readonly purpose: "send" | "receive" }>
  /** Sets the label of an address, of the wallet or of another owner. */
  readonly setLabel: (
    given: { readonly address: string; readonly label: string }
  ) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
}
