import type * as Effect from "effect/Effect"
import type { OwnOutlook } from "../../base/outlookWords.ts"
import type { TransactionRejected } from "../../mempool/errors.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { NameOperation } from "../../protocol/nameOperation.ts"
import type { Transaction, TransactionOutput } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { InvalidWalletRequest, NameOperationRefused } from "../errors.ts"
import type { FeeChoice, Funded, SpendFailure } from "../payments/WalletPayments.ts"

export interface RegistrationOptions extends NameOptions {
  /** The operator's setting by default. */
  readonly renew?: boolean
}

export type NameFailure = SpendFailure | NameOperationRefused | TransactionRejected

export interface NameOptions extends FeeChoice {
  /** Without prefix; by default a new address of the wallet. */
  readonly destination?: Bytes
  /** Additional outputs of the same transaction. */
  readonly sendCoins?: ReadonlyArray<TransactionOutput>
}

export type RegistrationStep =
  /** The NAME_NEW is unconfirmed. */
  | "committed"
  /** The NAME_NEW is confirmed; the NAME_FIRSTUPDATE waits for its maturity. */
  | "maturing"
  /** The NAME_FIRSTUPDATE is sent. */
  | "revealed"
  | "done"
  /** Another owner has registered the name, or the registration was cancelled. */
  | "failed"

export interface Registration {
  readonly name: Bytes
  readonly rand: Bytes
  /** `undefined` for a `name_new` alone, which the wallet does not continue. */
  readonly value: Bytes | undefined
  /** Wire order. */
  readonly newTxid: Bytes
  readonly newVout: number
  readonly firstUpdateTxid: Bytes | undefined
  readonly step: RegistrationStep
  readonly note: string
  readonly createdAt: number
}

export interface ListedRegistration extends Registration {
  /**
   * Minimum blocks until the next step. 0: now, or when the owner opens a manual `name_new`. `undefined` once ended, or
   * for a manual `name_new` whose coin this wallet lacks.
   */
  readonly blocksLeft: number | undefined
}

/** Requested by the owner for many names at once; stored in wallet.json. */
export interface Renewal {
  readonly name: Bytes
  /** Height of the expiring operation. */
  readonly height: number
  readonly state: RenewalState
  /** The NAME_UPDATE in wire order, once sent. */
  readonly txid: Bytes | undefined
  /** The NAME_UPDATE that waits for the signature of another machine. */
  readonly unsigned: Transaction | undefined
  readonly note: string
  /** Seconds since 1970. */
  readonly createdAt: number
  /** Skipped, but a later operation has renewed the name for the wallet. */
  readonly settled: boolean
}

export type RenewalState =
  /** No NAME_UPDATE is made. */
  | "waiting"
  /** The NAME_UPDATE is unconfirmed. */
  | "sent"
  | "done"
  /** The name needs no renewal any more, or the wallet cannot renew it. */
  | "skipped"

/**
 * Given names, all held names, or those that expire within some blocks. The last two skip names excluded from renewal.
 */
export type RenewalChoice =
  | { readonly of: "names"; readonly names: ReadonlyArray<Bytes> }
  | { readonly of: "all" }
  | { readonly of: "within"; readonly blocks: number }

export interface RenewalPlan {
  readonly names: ReadonlyArray<PlannedRenewal>
  /** Total in smallest units; `undefined` if a fee is unknown. */
  readonly fee: number | undefined
  /** Number of names excluded from renewal; 0 for given names. */
  readonly leftOut: number
}

export interface PlannedRenewal {
  readonly name: Bytes
  readonly height: number
  readonly left: number
  /** Smallest units; `undefined` if unknown or nothing is sent. */
  readonly fee: number | undefined
  /** Why it is not renewed, or why its fee is unknown. */
  readonly note: string
  readonly state: "waiting" | "skipped"
}

/** A name with its last operation in the wallet. */
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

/** What becomes of a name of `list`. */
export interface NameOutlook {
  readonly name: Bytes
  /** Height of the wallet's last operation on the name. */
  readonly height: number
  readonly outlook: OwnOutlook
  /** Whether the owner knows, so that nothing alarms. */
  readonly acknowledged: boolean
}

export interface RenewalSetting {
  readonly all: boolean
  /** Renewed in any case. */
  readonly names: ReadonlyArray<Bytes>
  /** Excluded by the owner, even if `all` is on or all names are renewed at once. */
  readonly except: ReadonlyArray<Bytes>
}

export interface NewOptions extends NameOptions {
  readonly allowExisting?: boolean
}

export interface FirstUpdateRequest extends NameOptions {
  readonly name: Bytes
  readonly rand: Bytes | undefined
  /** Txid of the NAME_NEW, in wire order. */
  readonly txid: Bytes | undefined
  readonly value: Bytes
  readonly allowActive?: boolean
}

export interface UpdateRequest extends NameOptions {
  readonly name: Bytes
  readonly value: Bytes | undefined
}

/** For another machine to sign. */
export type NameDraft = Funded

export interface WalletNames {
  /** Stores its salt. */
  readonly nameNew: (
    name: Bytes,
    options: NewOptions
  ) => Effect.Effect<{ readonly transaction: Transaction; readonly rand: Bytes }, NameFailure>
  readonly nameFirstUpdate: (request: FirstUpdateRequest) => Effect.Effect<Transaction, NameFailure>
  /** Changes the value or the owner of a name, or renews it. */
  readonly nameUpdate: (request: UpdateRequest) => Effect.Effect<Transaction, NameFailure>
  /** Stores its salt, and sends nothing. */
  readonly draftNew: (
    name: Bytes,
    options: NewOptions
  ) => Effect.Effect<NameDraft & { readonly rand: Bytes }, NameFailure>
  /** Stores and sends nothing. */
  readonly draftFirstUpdate: (request: FirstUpdateRequest) => Effect.Effect<NameDraft, NameFailure>
  /** Stores and sends nothing. */
  readonly draftUpdate: (request: UpdateRequest) => Effect.Effect<NameDraft, NameFailure>
  /** Runs both steps, across restarts. Returns once the first is sent. */
  readonly register: (
    name: Bytes,
    value: Bytes,
    options: RegistrationOptions
  ) => Effect.Effect<Registration, NameFailure>
  readonly registrations: () => ReadonlyArray<ListedRegistration>
  /** Only before the NAME_FIRSTUPDATE is sent. */
  readonly cancelRegistration: (name: Bytes) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** Names whose last confirmed operation is a wallet transaction, by the bytes of the name. */
  readonly list: () => ReadonlyArray<WalletName>
  /**
   * Without `name`, sets all names and ends the exceptions; names that are on individually stay on. Fails for a name
   * that the wallet neither owns nor registers, if the setting would be stored: the owner would wait for a renewal in
   * vain.
   */
  readonly setRenewal: (
    name: Bytes | undefined,
    on: boolean
  ) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** Cost estimate, with one transaction per name. Stores and sends nothing. */
  readonly planRenewals: (choice: RenewalChoice) => Effect.Effect<RenewalPlan, NameFailure>
  /**
   * Keeps the values and owner addresses. Continues over the next blocks and restarts. Returns the requests, including
   * those sent at once. Pending renewals stay as they are.
   */
  readonly renew: (choice: RenewalChoice) => Effect.Effect<ReadonlyArray<Renewal>, NameFailure>
  readonly requestedRenewals: () => ReadonlyArray<Renewal>
  /** Only before its NAME_UPDATE is sent. Returns whether there was one. */
  readonly cancelRenewal: (name: Bytes) => Effect.Effect<boolean, StorageFailure>
  readonly isRenewed: (name: Bytes) => boolean
  /** Without names that have expired or have another owner. */
  readonly renewal: () => RenewalSetting
  /** The outlooks of all names in `list`, the first to expire first, as of the wallet's last block. */
  readonly outlooks: Effect.Effect<ReadonlyArray<NameOutlook>>
  /** The current alarms of these names, or of all, alarm no more. Returns the names of those. */
  readonly acknowledge: (names: ReadonlyArray<Bytes> | undefined) => Effect.Effect<ReadonlyArray<Bytes>, StorageFailure>
}
