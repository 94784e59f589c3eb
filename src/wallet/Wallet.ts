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

/** The kinds of address that a wallet gives out, in the reference node's words. */
export type AddressType = "legacy" | "p2sh-segwit" | "bech32" | "bech32m"

/** A script that a wallet watches, and what it knows of it. */
export interface OwnScript {
  /** The scriptPubKey without a name prefix. */
  readonly script: Bytes
  /** As people write it; `undefined` for scripts that have no address. */
  readonly address: string | undefined
  readonly type: AddressType | "other"
  /** Whether it was made for change. */
  readonly change: boolean
  /** Whether the wallet can sign for it, once it is unlocked. */
  readonly spendable: boolean
  /** Compressed or not, as the script has it; `undefined` where there is more than one key, or none. */
  readonly publicKey: Bytes | undefined
  /** From the master key, as `m/44h/7h/0h/0/0`. */
  readonly path: string | undefined
  readonly masterFingerprint: Bytes | undefined
  /** Output descriptor with checksum, for this script alone and for the range that it belongs to. */
  readonly descriptor: string
  readonly parentDescriptor: string | undefined
  readonly redeemScript: Bytes | undefined
  readonly witnessScript: Bytes | undefined
  /** Seconds since 1970 from which on it may have been used. */
  readonly timestamp: number
}

/** Where a transaction of the wallet stands. */
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
  /** Ours, and not in the mempool: offered again now and then. */
  | { readonly type: "inactive"; readonly abandoned: boolean }
  /** A confirmed transaction spends what it spends, since a height. */
  | { readonly type: "conflicted"; readonly height: number }

/** A transaction that pays to the wallet or from it. */
export interface WalletTx {
  readonly transaction: Transaction
  readonly state: WalletTxState
  /** When the wallet saw it first, seconds since 1970. */
  readonly time: number
  /** Counts the wallet's transactions in the order in which they came. */
  readonly order: number
  readonly comment: string | undefined
  readonly commentTo: string | undefined
  /** Txids as people see them. */
  readonly replaces: string | undefined
  readonly replacedBy: string | undefined
  /** By input: what the wallet's own coin was worth there, with its script; `undefined` for inputs of others. */
  readonly spent: ReadonlyArray<TransactionOutput | undefined>
}

/** An output of the wallet. */
export interface WalletCoin {
  /** As `outpointKey`. */
  readonly outpoint: string
  readonly txid: Bytes
  readonly vout: number
  readonly output: TransactionOutput
  readonly own: OwnScript
  readonly name: NameScript | undefined
  /** Of the block that made it; `undefined` while it is pending. */
  readonly height: number | undefined
  readonly coinbase: boolean
  /** Whether it is confirmed, or pending change of our own, so that it can be counted on. */
  readonly trusted: boolean
  /** Set by `lockunspent`: not to be chosen. */
  readonly locked: boolean
  /** Whether the name in it has expired, so that the coin is gone. */
  readonly expired: boolean
}

/** Sums in smallest units; coins that hold names do not count. */
export interface Balances {
  readonly trusted: number
  readonly untrustedPending: number
  readonly immature: number
}

/** How fees are to be found. */
export interface FeeChoice {
  /** Smallest units a kvB; by estimate where it is left out. */
  readonly feeRate?: number
  /** Blocks in which it is to be mined. */
  readonly target?: number
  readonly conservative?: boolean
}

/** What is to be paid. */
export interface PaymentRequest extends FeeChoice {
  readonly outputs: ReadonlyArray<TransactionOutput>
  /** Indexes of outputs that the fee is taken from. */
  readonly subtractFeeFrom?: ReadonlyArray<number>
  /** Coins that have to be among the inputs, in this order; with sequence numbers where they are to differ. */
  readonly inputs?: ReadonlyArray<{ readonly outpoint: string; readonly sequence?: number }>
  /** Whether more coins may be added; yes, where it is left out. */
  readonly addInputs?: boolean
  /** 2 where it is left out; name operations need `NAME_TX_VERSION`. */
  readonly version?: number
  readonly lockTime?: number
  /** Whether inputs signal that they may be replaced (BIP 125); yes, where it is left out. */
  readonly replaceable?: boolean
  readonly changeScript?: Bytes
  readonly changeType?: AddressType
  readonly changePosition?: number
  readonly minConfirmations?: number
  readonly maxConfirmations?: number
  /** Whether coins that nobody can count on may be spent. */
  readonly includeUnsafe?: boolean
  readonly comment?: string
  readonly commentTo?: string
  /** A transaction of the wallet (its txid as people see it) whose inputs may be named: this one takes its place. */
  readonly replaces?: string
}

/** A transaction that is paid for, signed as far as the wallet can. */
export interface Funded {
  readonly transaction: Transaction
  /** Smallest units. */
  readonly fee: number
  /** -1 for no change. */
  readonly changePosition: number
  /** What its inputs spend, in their order. */
  readonly coins: ReadonlyArray<TransactionOutput>
  /** Why the fee is what it is, in the reference node's words. */
  readonly feeReason: string
}

/** Why money cannot be spent. */
export type SpendFailure = FundsMissing | InvalidWalletRequest | KeysLocked | WalletWatchOnly | StorageFailure

/** Why a name operation cannot be sent. */
export type NameFailure = SpendFailure | NameOperationRefused | TransactionRejected

/** What the name methods have in common. */
export interface NameOptions extends FeeChoice {
  /** The script that is to own the name, without prefix; a fresh address of the wallet where it is left out. */
  readonly destination?: Bytes
  /** Plain outputs that are paid in the same transaction. */
  readonly sendCoins?: ReadonlyArray<TransactionOutput>
}

/** Where a registration stands. */
export type RegistrationStep =
  /** NAME_NEW is made, and not in a block. */
  | "committed"
  /** NAME_NEW is in a block; NAME_FIRSTUPDATE waits until it is old enough. */
  | "maturing"
  /** NAME_FIRSTUPDATE is sent. */
  | "revealed"
  /** The name is registered. */
  | "done"
  /** It cannot be finished: somebody else has the name, or the owner called it off. */
  | "failed"

/** A registration from its first step to its last; kept in wallet.json. */
export interface Registration {
  readonly name: Bytes
  readonly rand: Bytes
  /** What the name is to be set to; `undefined` for a lone `name_new`, which is not carried on by itself. */
  readonly value: Bytes | undefined
  /** Wire order. */
  readonly newTxid: Bytes
  readonly newVout: number
  readonly firstUpdateTxid: Bytes | undefined
  readonly step: RegistrationStep
  /** Why it failed, or what it waits for. */
  readonly note: string
  readonly createdAt: number
}

/** One wallet: its keys, what it owns, and what it does. Every change is on disk before anything is told or sent. */
export interface Wallet {
  /** `""` for the default wallet. */
  readonly name: string
  /** Of its file. */
  readonly path: string

  // Keys and scripts
  readonly newAddress: (options: {
    readonly type: AddressType
    readonly label: string
  }) => Effect.Effect<OwnScript, InvalidWalletRequest | StorageFailure>
  readonly newChangeAddress: (type: AddressType) => Effect.Effect<OwnScript, InvalidWalletRequest | StorageFailure>
  /** What the wallet knows of a scriptPubKey, with or without a name prefix. */
  readonly own: (script: Bytes) => OwnScript | undefined
  readonly hasPrivateKeys: boolean
  readonly isBlank: () => boolean
  /** For `getwalletinfo`: unused addresses that are watched ahead, outside and for change. */
  readonly keypool: () => { readonly receive: number; readonly change: number }
  readonly birthday: number
  /** Adds a key or descriptors, and scans the chain for them from a time on. */
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
  /** Keys and scripts to sign with. */
  readonly signer: Effect.Effect<SigningProvider, KeysLocked | WalletWatchOnly>

  // Labels
  readonly labels: () => ReadonlyMap<string, { readonly label: string; readonly purpose: "send" | "receive" }>
  readonly setLabel: (
    address: string,
    label: string
  ) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>

  // Passphrase
  readonly encryption: () => "none" | "locked" | "unlocked"
  /** Seconds since 1970; 0 while it is locked. */
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

  // What it owns
  readonly balances: Effect.Effect<Balances>
  /** Everything that is not spent, names and immature coins included. */
  readonly coins: () => ReadonlyArray<WalletCoin>
  /** In the order in which they came. */
  readonly transactions: () => ReadonlyArray<WalletTx>
  /** By `txidKey`. */
  readonly transaction: (txid: string) => WalletTx | undefined
  /** Txids (as people see them) of transactions of the wallet that spend what this one spends. */
  readonly conflictsOf: (txid: string) => ReadonlyArray<string>
  readonly lockCoins: (
    outpoints: ReadonlyArray<string>,
    lock: boolean,
    persistent: boolean
  ) => Effect.Effect<void, StorageFailure>
  /** The last block that the wallet has seen. */
  readonly lastBlock: () => { readonly height: number; readonly hash: Bytes }
  /** `undefined` where no scan is running; else for how long, in seconds, and how far, from 0 to 1. */
  readonly scanning: () => { readonly duration: number; readonly progress: number } | undefined
  readonly rescan: (
    from: number,
    to: number | undefined
  ) => Effect.Effect<number, InvalidWalletRequest | StorageFailure>

  // Payments
  /**
   * Holds back other payments until the effect has ended: for one that funds first and then keeps what it funded, as two
   * that fund at once choose the same coins. `pay` and `bump` do it themselves and must not be called inside.
   */
  readonly exclusively: <A, E, R>(payment: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly fund: (request: PaymentRequest) => Effect.Effect<Funded, SpendFailure>
  /** Funds, signs, keeps and offers a payment. */
  readonly pay: (request: PaymentRequest) => Effect.Effect<Funded, SpendFailure | TransactionRejected>
  /** Keeps and offers a transaction that is complete; refuses one whose coins another of the wallet spends. */
  readonly commit: (
    transaction: Transaction,
    notes?: { readonly comment?: string; readonly commentTo?: string; readonly replaces?: string }
  ) => Effect.Effect<void, TransactionRejected | InvalidWalletRequest | StorageFailure>
  /** Forgets a transaction of ours that is not in the mempool, so that its coins can be spent again. */
  readonly abandon: (txid: string) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** Replaces a transaction of ours by one that pays more. */
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
      /** Of the NAME_NEW, wire order. */
      readonly txid: Bytes | undefined
      readonly value: Bytes
      readonly allowActive?: boolean
    }
  ) => Effect.Effect<Transaction, NameFailure>
  readonly nameUpdate: (
    request: NameOptions & { readonly name: Bytes; readonly value: Bytes | undefined }
  ) => Effect.Effect<Transaction, NameFailure>
  /** Carries a registration through both steps, whatever happens in between. Returns once the first is sent. */
  readonly register: (
    name: Bytes,
    value: Bytes,
    options: NameOptions
  ) => Effect.Effect<Registration, NameFailure>
  readonly registrations: () => ReadonlyArray<Registration>
  readonly cancelRegistration: (name: Bytes) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** Names whose last confirmed operation is in a transaction of the wallet, by the bytes of the name. */
  readonly names: () => ReadonlyArray<WalletName>
  /** Which names are renewed before they expire; all, where `name` is left out. */
  readonly setRenewal: (name: Bytes | undefined, on: boolean) => Effect.Effect<void, StorageFailure>
  readonly renewal: () => { readonly all: boolean; readonly names: ReadonlyArray<Bytes> }

  // Transactions that wait for their time
  readonly queue: () => ReadonlyArray<Transaction>
  readonly enqueue: (transaction: Transaction) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  readonly dequeue: (txid: string) => Effect.Effect<boolean, StorageFailure>

  /** Copies the file, whole. */
  readonly backup: (destination: string) => Effect.Effect<void, StorageFailure>
  readonly follower: Follower
  readonly changes: Stream.Stream<WalletEvent>
}

/** A name as the wallet last had to do with it. */
export interface WalletName {
  readonly name: Bytes
  readonly operation: NameOperation
  readonly txid: Bytes
  readonly vout: number
  readonly script: Bytes
  readonly height: number
  /** Whether the wallet holds it, as far as this transaction goes. */
  readonly mine: boolean
}

/** What happened in a wallet. */
export type WalletEvent =
  | { readonly _tag: "TransactionAdded"; readonly txid: Bytes }
  | { readonly _tag: "RegistrationMoved"; readonly registration: Registration }
