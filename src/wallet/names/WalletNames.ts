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
  readonly registrations: () => ReadonlyArray<Registration>
  /** Cancels a registration whose NAME_FIRSTUPDATE is not sent. */
  readonly cancelRegistration: (name: Bytes) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** Names whose last confirmed operation is in a wallet transaction, by the bytes of the name. */
  readonly list: () => ReadonlyArray<WalletName>
  /**
   * Sets whether a name is renewed before it expires; without `name`, whether all names are. Fails for a name that the
   * wallet neither owns nor registers: its owner would wait for a renewal in vain.
   */
  readonly setRenewal: (
    name: Bytes | undefined,
    on: boolean
  ) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** Which names are renewed. */
  readonly renewal: () => { readonly all: boolean; readonly names: ReadonlyArray<Bytes> }
}
