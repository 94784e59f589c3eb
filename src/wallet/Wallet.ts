import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"
import type { Follower } from "../chain/write/Follower.ts"
import type { TransactionRejected } from "../mempool/errors.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { NameOperation, NameScript } from "../protocol/nameOperation.ts"
import type { Transaction, TransactionOutput } from "../protocol/transaction.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type {
  FundsMissing,
  InvalidWalletRequest,
  KeysLocked,
  NameOperationRefused,
  WalletDamaged,
  WalletWatchOnly,
  WrongPassphrase
} from "./errors.ts"
import type { SigningProvider } from "./signing/SigningProvider.ts"

/** The address types that a wallet gives out, under the reference node's names. */
export type AddressType = "legacy" | "p2sh-segwit" | "bech32" | "bech32m"

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

export type WalletTxState =
  | {
    readonly type: "confirmed"
    readonly height: number
    readonly hash: Bytes
    readonly index: number
    readonly blockTime: number
  }
  /** In the mempool. */
  | { readonly type: "pending" }
  /** The wallet's own, and not in the mempool: the wallet offers it again from time to time. */
  | { readonly type: "inactive"; readonly abandoned: boolean }
  /** A transaction confirmed at this height spends one of its coins. */
  | { readonly type: "conflicted"; readonly height: number }

/** A transaction that pays to the wallet or from it. */
export interface WalletTx {
  readonly transaction: Transaction
  readonly state: WalletTxState
  /** The time when the wallet first saw it, seconds since 1970. */
  readonly time: number
  /** Its number in the order in which the wallet's transactions arrived. */
  readonly order: number
  readonly comment: string | undefined
  readonly commentTo: string | undefined
  /** Txids in display byte order. */
  readonly replaces: string | undefined
  readonly replacedBy: string | undefined
  /** By input: the wallet's own coin that it spends; `undefined` for inputs of others. */
  readonly spent: ReadonlyArray<TransactionOutput | undefined>
}

export interface WalletCoin {
  /** As `outpointKey`. */
  readonly outpoint: string
  readonly txid: Bytes
  readonly vout: number
  readonly output: TransactionOutput
  readonly own: OwnScript
  readonly name: NameScript | undefined
  /** Height of the block that created it; `undefined` while it is unconfirmed. */
  readonly height: number | undefined
  readonly coinbase: boolean
  /** Whether it is confirmed, or unconfirmed change of the wallet itself, so that the wallet can rely on it. */
  readonly trusted: boolean
  /** Set by `lockunspent`: coin selection skips it. */
  readonly locked: boolean
  /** Whether its name has expired, so that the coin is gone. */
  readonly expired: boolean
}

/** Sums in smallest units, without the coins that hold names. */
export interface Balances {
  readonly trusted: number
  readonly untrustedPending: number
  readonly immature: number
}

/** How to choose the fee rate. */
export interface FeeChoice {
  /** Smallest units per kvB; estimated if omitted. */
  readonly feeRate?: number
  /** Confirmation target in blocks. */
  readonly target?: number
  readonly conservative?: boolean
}

export interface PaymentRequest extends FeeChoice {
  readonly outputs: ReadonlyArray<TransactionOutput>
  /** Indexes of the outputs that pay the fee. */
  readonly subtractFeeFrom?: ReadonlyArray<number>
  /** Coins that must be inputs, in this order, with an optional sequence number. */
  readonly inputs?: ReadonlyArray<{ readonly outpoint: string; readonly sequence?: number }>
  /** Whether coin selection may add coins; true by default. */
  readonly addInputs?: boolean
  /** 2 by default; name operations need `NAME_TX_VERSION`. */
  readonly version?: number
  readonly lockTime?: number
  /** Whether the inputs signal replaceability (BIP 125); true by default. */
  readonly replaceable?: boolean
  readonly changeScript?: Bytes
  readonly changeType?: AddressType
  readonly changePosition?: number
  readonly minConfirmations?: number
  readonly maxConfirmations?: number
  /** Whether untrusted coins may be spent. */
  readonly includeUnsafe?: boolean
  readonly comment?: string
  readonly commentTo?: string
  /** The txid, in display byte order, of a wallet transaction that this one replaces; `inputs` may name its inputs. */
  readonly replaces?: string
}

/** A funded transaction, signed as far as the wallet can. */
export interface Funded {
  readonly transaction: Transaction
  /** Smallest units. */
  readonly fee: number
  /** -1 without a change output. */
  readonly changePosition: number
  /** The coins that its inputs spend, in their order. */
  readonly coins: ReadonlyArray<TransactionOutput>
  /** How the fee was chosen, in the reference node's words. */
  readonly feeReason: string
}

/** Why coins cannot be spent. */
export type SpendFailure = FundsMissing | InvalidWalletRequest | KeysLocked | WalletWatchOnly | StorageFailure

/** Why a name operation cannot be sent. */
export type NameFailure = SpendFailure | NameOperationRefused | TransactionRejected

export interface NameOptions extends FeeChoice {
  /** The script of the name's owner, without prefix; by default a new address of the wallet. */
  readonly destination?: Bytes
  /** Additional outputs of the same transaction. */
  readonly sendCoins?: ReadonlyArray<TransactionOutput>
}

export type RegistrationStep =
  /** NAME_NEW is made, and unconfirmed. */
  | "committed"
  /** NAME_NEW is in a block; NAME_FIRSTUPDATE waits for its maturity. */
  | "maturing"
  /** NAME_FIRSTUPDATE is sent. */
  | "revealed"
  | "done"
  /** It cannot complete: another owner has registered the name, or the owner cancelled the registration. */
  | "failed"

/** A registration from its first step to its last; stored in wallet.json. */
export interface Registration {
  readonly name: Bytes
  readonly rand: Bytes
  /** The value of the name; `undefined` for a `name_new` alone, which the wallet does not continue. */
  readonly value: Bytes | undefined
  /** In wire order. */
  readonly newTxid: Bytes
  readonly newVout: number
  readonly firstUpdateTxid: Bytes | undefined
  readonly step: RegistrationStep
  /** Why it failed, or what it waits for. */
  readonly note: string
  readonly createdAt: number
}

/** One wallet: its keys, its coins and its operations. Every change is on disk before it is returned or sent. */
export interface Wallet {
  /** `""` for the default wallet. */
  readonly name: string
  /** The path of its file. */
  readonly path: string

  // Keys and scripts
  readonly newAddress: (options: {
    readonly type: AddressType
    readonly label: string
  }) => Effect.Effect<OwnScript, InvalidWalletRequest | StorageFailure>
  readonly newChangeAddress: (type: AddressType) => Effect.Effect<OwnScript, InvalidWalletRequest | StorageFailure>
  /** The wallet's record of a scriptPubKey, with or without a name prefix. */
  readonly own: (script: Bytes) => OwnScript | undefined
  readonly hasPrivateKeys: boolean
  readonly isBlank: () => boolean
  /** For `getwalletinfo`: the number of unused watched addresses, receive and change. */
  readonly keypool: () => { readonly receive: number; readonly change: number }
  readonly birthday: number
  /** Imports a key or descriptors, and rescans the chain for them from a time on. */
  readonly importDescriptor: (request: {
    readonly descriptor: string
    readonly label: string
    /** Seconds since 1970; `undefined` for now. */
    readonly timestamp: number | undefined
    readonly active: boolean
    readonly internal: boolean
    readonly range: readonly [number, number] | undefined
    readonly nextIndex: number | undefined
  }) => Effect.Effect<ReadonlyArray<string>, InvalidWalletRequest | KeysLocked | StorageFailure>
  readonly descriptors: (secret: boolean) => Effect.Effect<
    ReadonlyArray<{
      readonly descriptor: string
      readonly timestamp: number
      readonly active: boolean
      readonly internal: boolean | undefined
      readonly range: readonly [number, number] | undefined
      readonly next: number | undefined
    }>,
    KeysLocked | WalletWatchOnly
  >
  /** The keys and scripts for signing. */
  readonly signer: Effect.Effect<SigningProvider, KeysLocked | WalletWatchOnly>

  // Labels
  readonly labels: () => ReadonlyMap<string, { readonly label: string; readonly purpose: "send" | "receive" }>
  readonly setLabel: (
    address: string,
    label: string
  ) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>

  // Passphrase
  readonly encryption: () => "none" | "locked" | "unlocked"
  /** Seconds since 1970; 0 while the wallet is locked. */
  readonly unlockedUntil: () => number
  readonly encrypt: (
    passphrase: Redacted.Redacted<string>
  ) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  readonly unlock: (
    passphrase: Redacted.Redacted<string>,
    seconds: number
  ) => Effect.Effect<void, WrongPassphrase | InvalidWalletRequest | WalletDamaged>
  readonly lock: Effect.Effect<void, InvalidWalletRequest>
  readonly changePassphrase: (
    old: Redacted.Redacted<string>,
    next: Redacted.Redacted<string>
  ) => Effect.Effect<void, WrongPassphrase | InvalidWalletRequest | StorageFailure>

  // Balances, coins and transactions
  readonly balances: Effect.Effect<Balances>
  /** All unspent coins, including names and immature coins. */
  readonly coins: () => ReadonlyArray<WalletCoin>
  /** In the order in which they arrived. */
  readonly transactions: () => ReadonlyArray<WalletTx>
  /** By `txidKey`. */
  readonly transaction: (txid: string) => WalletTx | undefined
  /** The txids, in display byte order, of wallet transactions that spend the same coins. */
  readonly conflictsOf: (txid: string) => ReadonlyArray<string>
  readonly lockCoins: (
    outpoints: ReadonlyArray<string>,
    lock: boolean,
    persistent: boolean
  ) => Effect.Effect<void, StorageFailure>
  /** The last block that the wallet has processed. */
  readonly lastBlock: () => { readonly height: number; readonly hash: Bytes }
  /** The running rescan: its duration in seconds and its progress from 0 to 1. `undefined` if none is running. */
  readonly scanning: () => { readonly duration: number; readonly progress: number } | undefined
  readonly rescan: (
    from: number,
    to: number | undefined
  ) => Effect.Effect<number, InvalidWalletRequest | StorageFailure>

  // Payments
  /**
   * Delays other payments until the effect has ended. A caller that funds first and stores the result later needs this,
   * because two concurrent payments choose the same coins. `pay` and `bump` do it themselves and must not be called
   * inside.
   */
  readonly exclusively: <A, E, R>(payment: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly fund: (request: PaymentRequest) => Effect.Effect<Funded, SpendFailure>
  /** Funds, signs, stores and offers a payment. */
  readonly pay: (request: PaymentRequest) => Effect.Effect<Funded, SpendFailure | TransactionRejected>
  /** Stores and offers a complete transaction. Refuses one whose coins another wallet transaction spends. */
  readonly commit: (
    transaction: Transaction,
    notes?: { readonly comment?: string; readonly commentTo?: string; readonly replaces?: string }
  ) => Effect.Effect<void, TransactionRejected | InvalidWalletRequest | StorageFailure>
  /** Abandons an own transaction that is not in the mempool, so that its coins can be spent again. */
  readonly abandon: (txid: string) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** Replaces an own transaction with one that pays a higher fee. */
  readonly bump: (
    txid: string,
    fee: FeeChoice
  ) => Effect.Effect<{ readonly funded: Funded; readonly oldFee: number }, SpendFailure | TransactionRejected>

  // Names
  readonly nameNew: (
    name: Bytes,
    options: NameOptions & { readonly allowExisting?: boolean }
  ) => Effect.Effect<{ readonly transaction: Transaction; readonly rand: Bytes }, NameFailure>
  readonly nameFirstUpdate: (
    request: NameOptions & {
      readonly name: Bytes
      readonly rand: Bytes | undefined
      /** Txid of the NAME_NEW, in wire order. */
      readonly txid: Bytes | undefined
      readonly value: Bytes
      readonly allowActive?: boolean
    }
  ) => Effect.Effect<Transaction, NameFailure>
  readonly nameUpdate: (
    request: NameOptions & { readonly name: Bytes; readonly value: Bytes | undefined }
  ) => Effect.Effect<Transaction, NameFailure>
  /** Runs both steps of a registration, across restarts. Returns once the first step is sent. */
  readonly register: (
    name: Bytes,
    value: Bytes,
    options: NameOptions
  ) => Effect.Effect<Registration, NameFailure>
  readonly registrations: () => ReadonlyArray<Registration>
  readonly cancelRegistration: (name: Bytes) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** Names whose last confirmed operation is in a wallet transaction, by the bytes of the name. */
  readonly names: () => ReadonlyArray<WalletName>
  /** Sets whether a name is renewed before it expires; without `name`, whether all names are. */
  readonly setRenewal: (name: Bytes | undefined, on: boolean) => Effect.Effect<void, StorageFailure>
  readonly renewal: () => { readonly all: boolean; readonly names: ReadonlyArray<Bytes> }

  // Queued transactions
  readonly queue: () => ReadonlyArray<Transaction>
  readonly enqueue: (transaction: Transaction) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  readonly dequeue: (txid: string) => Effect.Effect<boolean, StorageFailure>

  readonly backup: (destination: string) => Effect.Effect<void, StorageFailure>
  readonly follower: Follower
  readonly changes: Stream.Stream<WalletEvent>
}

/** A name in its last operation that the wallet has. */
export interface WalletName {
  readonly name: Bytes
  readonly operation: NameOperation
  readonly txid: Bytes
  readonly vout: number
  readonly script: Bytes
  readonly height: number
  /** Whether the wallet owns the name after this transaction. */
  readonly mine: boolean
}

export type WalletEvent =
  | { readonly _tag: "TransactionAdded"; readonly txid: Bytes }
  | { readonly _tag: "RegistrationMoved"; readonly registration: Registration }
