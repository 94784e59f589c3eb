import type * as Effect from "effect/Effect"
import type { TransactionRejected } from "../../mempool/errors.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { NameOperation } from "../../protocol/nameOperation.ts"
import type { Transaction, TransactionOutput } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { InvalidWalletRequest, NameOperationRefused } from "../errors.ts"
import type { FeeChoice, SpendFailure } from "../payments/WalletPayments.ts"

/** The options of a registration in one call. */
export interface RegistrationOptions extends NameOptions {
  /** Whether the wallet renews the name before it expires; by default the operator's setting. */
  readonly renew?: boolean
}

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

/** A registration as it is listed. */
export interface ListedRegistration extends Registration {
  /**
   * The least number of blocks until its next step; `undefined` if it has ended, or is unknown, as for a `name_new` by hand whose
   * coin this wallet does not have. 0: now, or when the owner opens a `name_new` by hand.
   */
  readonly blocksLeft: number | undefined
}

/** A renewal that the owner asked for with many others; stored in wallet.json. */
export interface Renewal {
  readonly name: Bytes
  /** Height of the operation whose record expires. */
  readonly height: number
  readonly state: RenewalState
  /** The NAME_UPDATE in wire order, once sent. */
  readonly txid: Bytes | undefined
  /** What it waits for, or why it was skipped. */
  readonly note: string
  /** Seconds since 1970. */
  readonly createdAt: number
  /** Whether it was skipped and needs no attention any more: a later operation has renewed the name for the wallet. */
  readonly settled: boolean
}

export type RenewalState =
  /** No NAME_UPDATE is made. */
  | "waiting"
  /** The NAME_UPDATE waits for a block. */
  | "sent"
  | "done"
  /** The name needs no renewal any more, or the wallet cannot renew it. */
  | "skipped"

/**
 * Which names to renew: some, all that the wallet holds, or those of them that expire within some blocks. The last two leave
 * out the names whose renewal the owner switched off.
 */
export type RenewalChoice =
  | { readonly of: "names"; readonly names: ReadonlyArray<Bytes> }
  | { readonly of: "all" }
  | { readonly of: "within"; readonly blocks: number }

export interface RenewalPlan {
  readonly names: ReadonlyArray<PlannedRenewal>
  /** Sum of the fees, smallest units; `undefined` if one is unknown. */
  readonly fee: number | undefined
  /** Names that are left out because their renewal is switched off; 0 for names that the caller gives. */
  readonly leftOut: number
}

export interface PlannedRenewal {
  readonly name: Bytes
  readonly height: number
  /** Blocks until the name expires. */
  readonly left: number
  /** Smallest units; `undefined` if it is unknown or nothing is sent. */
  readonly fee: number | undefined
  /** Why it is not renewed, or why its fee is unknown. */
  readonly note: string
  readonly state: "waiting" | "skipped"
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

/** Which names a wallet renews before they expire. */
export interface RenewalSetting {
  readonly all: boolean
  /** Names that are renewed in any case. */
  readonly names: ReadonlyArray<Bytes>
  /** Names that the owner switched off: not renewed although `all` is on, and left out where all names are renewed at once. */
  readonly except: ReadonlyArray<Bytes>
}

/** The names of a wallet: the three operations, registrations over both steps, and renewals. */
export interface WalletNames {
  /** Sends a NAME_NEW and stores its salt. */
  readonly nameNew: (
    name: Bytes,
    options: NameOptions & { readonly allowExisting?: boolean }
  ) => Effect.Effect<{ readonly transaction: Transaction; readonly rand: Bytes }, NameFailure>
  /** Sends the NAME_FIRSTUPDATE that opens a NAME_NEW. */
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
  /** Sends a NAME_UPDATE: changes the value or the owner of a name, or renews it. */
  readonly nameUpdate: (
    request: NameOptions & { readonly name: Bytes; readonly value: Bytes | undefined }
  ) => Effect.Effect<Transaction, NameFailure>
  /** Runs both steps of a registration, across restarts. Returns once the first step is sent. */
  readonly register: (
    name: Bytes,
    value: Bytes,
    options: RegistrationOptions
  ) => Effect.Effect<Registration, NameFailure>
  /** All registrations, in the order of their start. */
  readonly registrations: () => ReadonlyArray<ListedRegistration>
  /** Cancels a registration whose NAME_FIRSTUPDATE is not sent. */
  readonly cancelRegistration: (name: Bytes) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** Names whose last confirmed operation is in a wallet transaction, by the bytes of the name. */
  readonly list: () => ReadonlyArray<WalletName>
  /**
   * Sets whether a name is renewed before it expires; without `name`, whether all names are, without exceptions. A name that
   * is on by its own setting stays on. Fails for a name that the wallet neither owns nor registers, where something would be
   * remembered: its owner would wait for a renewal in vain.
   */
  readonly setRenewal: (
    name: Bytes | undefined,
    on: boolean
  ) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** What the renewal of names would cost, each in a transaction of its own. Stores and sends nothing. */
  readonly planRenewals: (choice: RenewalChoice) => Effect.Effect<RenewalPlan, NameFailure>
  /**
   * Renews names with their value and their owner's address, over the next blocks and restarts. Returns the requests with
   * those that were sent at once. A name whose renewal is under way stays as it is.
   */
  readonly renew: (choice: RenewalChoice) => Effect.Effect<ReadonlyArray<Renewal>, NameFailure>
  /** The requested renewals, in the order of their start. */
  readonly requestedRenewals: () => ReadonlyArray<Renewal>
  /** Cancels the requested renewal of a name whose NAME_UPDATE is not sent. Returns whether there was one. */
  readonly cancelRenewal: (name: Bytes) => Effect.Effect<boolean, StorageFailure>
  /** Whether a name of the wallet is renewed before it expires. */
  readonly isRenewed: (name: Bytes) => boolean
  /** Which names are renewed, without those that have expired or have another owner. */
  readonly renewal: () => RenewalSetting
}
