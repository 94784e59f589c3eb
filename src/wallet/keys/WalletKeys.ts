import type * as Effect from "effect/Effect"
import type { Bytes } from "../../protocol/bytes.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { InvalidWalletRequest, KeysLocked, WalletWatchOnly } from "../errors.ts"
import type { SigningProvider } from "../signing/SigningProvider.ts"

export type AddressType = "legacy" | "p2sh-segwit" | "bech32" | "bech32m"

export interface WordsView {
  /** Addresses that can still be given out without a payment, of the type with the fewest. */
  readonly left: number
  /** Addresses given out that are recovered only if an earlier one is paid. */
  readonly beyond: number
  /** Confirmed addresses that the seed phrase does not recover. */
  readonly lost: number
}

export interface OwnScript {
  /** Without a name prefix. */
  readonly script: Bytes
  readonly address: string | undefined
  readonly type: AddressType | "other"
  readonly change: boolean
  /** Whether the wallet can sign for it, once unlocked. */
  readonly spendable: boolean
  /** As in the script; `undefined` unless it has exactly one key. */
  readonly publicKey: Bytes | undefined
  /** From the master key, such as `m/44h/7h/0h/0/0`. */
  readonly path: string | undefined
  readonly masterFingerprint: Bytes | undefined
  /** With checksum: of this script alone, and of its range. */
  readonly descriptor: string
  readonly parentDescriptor: string | undefined
  readonly redeemScript: Bytes | undefined
  readonly witnessScript: Bytes | undefined
  /** Seconds since 1970: not used before this time. */
  readonly timestamp: number
}

/** For `listdescriptors`. */
export interface ListedDescriptor {
  readonly descriptor: string
  readonly timestamp: number
  readonly active: boolean
  readonly internal: boolean | undefined
  readonly range: readonly [number, number] | undefined
  readonly next: number | undefined
}

export interface WalletKeys {
  readonly newAddress: (options: {
    readonly type: AddressType
    readonly label: string
  }) => Effect.Effect<OwnScript, InvalidWalletRequest | StorageFailure>
  /** For a transaction that may never be sent: taken when it is sent, free again after `release`. */
  readonly reserveAddress: (type: AddressType) => Effect.Effect<
    { readonly own: OwnScript; readonly release: () => void },
    InvalidWalletRequest
  >
  /** For a draft that may never be sent; nothing is taken. `undefined` if the wallet gives out no such addresses. */
  readonly draftAddress: (type: AddressType) => OwnScript | undefined
  readonly newChangeAddress: (type: AddressType) => Effect.Effect<OwnScript, InvalidWalletRequest | StorageFailure>
  /** `undefined` without a seed, or before the wallet knows. */
  readonly words: Effect.Effect<WordsView | undefined>
  /** By scriptPubKey, with or without a name prefix. */
  readonly own: (script: Bytes) => OwnScript | undefined
  /** False for watch-only. */
  readonly hasPrivateKeys: boolean
  /** Created without keys, and still has none. */
  readonly isBlank: () => boolean
  /** For `getwalletinfo`: unused watched addresses. */
  readonly keypool: () => { readonly receive: number; readonly change: number }
  /** Seconds since 1970: no earlier block concerns the wallet's first keys. */
  readonly birthday: number
  /** Seconds since 1970: the earliest time of its keys and scripts. */
  readonly birthtime: () => number | undefined
  /** Rescans the chain for them. Returns warnings. */
  readonly importDescriptor: (request: {
    readonly descriptor: string
    readonly label: string | undefined
    /** Seconds since 1970; `undefined` for now, the median time of the tip. */
    readonly timestamp: number | undefined
    readonly active: boolean
    readonly internal: boolean | undefined
    readonly range: readonly [number, number] | undefined
    readonly nextIndex: number | undefined
  }) => Effect.Effect<ReadonlyArray<string>, InvalidWalletRequest | KeysLocked | StorageFailure>
  /** Derives hardened keys that the wallet lacked while locked, and addresses up to `size` unused ones per type. */
  readonly refill: (size?: number) => Effect.Effect<void, StorageFailure>
  readonly descriptors: (secret: boolean) => Effect.Effect<
    ReadonlyArray<ListedDescriptor>,
    KeysLocked | WalletWatchOnly
  >
  /** Public signing data, even of a locked or watch-only wallet. */
  readonly knowledge: SigningProvider
  readonly signer: Effect.Effect<SigningProvider, KeysLocked | WalletWatchOnly>
  /** By address. */
  readonly labels: () => ReadonlyMap<string, { readonly label: string; readonly purpose: "send" | "receive" }>
  /** Accepts addresses of others, too. */
  readonly setLabel: (
    given: { readonly address: string; readonly label: string }
  ) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
}
