import { ANNOTATED } from "../../base/verdict.ts"
import * as directory from "../../config/dataDirectoryErrors.ts"
import * as names from "../../names/errors.ts"
import * as storage from "../../storage/errors.ts"
import * as wallet from "../../wallet/errors.ts"
import * as client from "../errors.ts"

/** A plain class for each failure of `NameClient`, with the tag as its name (`plainError.ts`). */

type PlainError<Tag extends string, Fields> = Error & Fields & { readonly _tag: Tag }

interface ErrorClass<Tag extends string, Fields> {
  new(fields: {} extends Fields ? void | Fields : Fields): PlainError<Tag, Fields>
}

interface Original<Tag extends string, Props> {
  readonly _tag: Tag
  new(props: Props): Error & { readonly _tag: Tag }
}

/**
 * Makes a class of plain errors with the tag, fields, message and verdict of the original. The compiler writes the
 * fields out, so the declarations do not need Effect. The original can stand for the fields; its stack is kept.
 */
const plain = <Tag extends string, Props>(
  Original: Original<Tag, Props>
): ErrorClass<Tag, { readonly [Field in keyof Exclude<Props, void>]: Exclude<Props, void>[Field] }> => {
  class Plain extends Error {
    static readonly [ANNOTATED]: unknown = Original
    constructor(given: Props) {
      const original = given instanceof Error ? given : new Original(given)
      super(original.message)
      Object.assign(this, original)
      if (original === given && original.stack !== undefined) this.stack = original.stack
    }
  }
  // Bundlers rename variables, not these names. `name` is not a field.
  const name = { configurable: true, value: Original._tag, writable: true }
  for (const named of [Plain, Plain.prototype]) Object.defineProperty(named, "name", name)
  // The compiler does not see what `Object.assign` adds.
  return Object(Plain)
}

/** No record: the name was never registered, or its registration is not in a block yet. */
export const NameNotFound = plain(names.NameNotFound)
export type NameNotFound = InstanceType<typeof NameNotFound>

/** The name was registered, but its owner did not renew it in time. */
export const NameExpired = plain(names.NameExpired)
export type NameExpired = InstanceType<typeof NameExpired>

/** The node knows the name, but does not store what a proof needs. */
export const ProofUnavailable = plain(names.ProofUnavailable)
export type ProofUnavailable = InstanceType<typeof ProofUnavailable>

/** A reader of changes cannot continue from its cursor: it has to begin again. */
export const CursorUnusable = plain(names.CursorUnusable)
export type CursorUnusable = InstanceType<typeof CursorUnusable>

/** A name, value or option is invalid: too long, or not text in the encoding. */
export const InvalidRequest = plain(client.InvalidRequest)
export type InvalidRequest = InstanceType<typeof InvalidRequest>

/** The configuration of a client is invalid. */
export const InvalidConfig = plain(client.InvalidConfig)
export type InvalidConfig = InstanceType<typeof InvalidConfig>

/**
 * The node is older, or its proof weaker, than the caller requires. Or the name was not found while blocks are missing.
 */
export const NotSynced = plain(client.NotSynced)
export type NotSynced = InstanceType<typeof NotSynced>

/** No daemon answers at the address, or the daemon does not answer in time. */
export const DaemonUnreachable = plain(client.DaemonUnreachable)
export type DaemonUnreachable = InstanceType<typeof DaemonUnreachable>

/** The daemon refuses the credentials, or there are none. `reason` tells which were sent, and the remedy. */
export const Unauthorized = plain(client.Unauthorized)
export type Unauthorized = InstanceType<typeof Unauthorized>

/** The daemon starts or shuts down, or is too busy to answer. */
export const DaemonNotReady = plain(client.DaemonNotReady)
export type DaemonNotReady = InstanceType<typeof DaemonNotReady>

/** The daemon refused a call for a reason of its own, or its reply is invalid. */
export const DaemonRefused = plain(client.DaemonRefused)
export type DaemonRefused = InstanceType<typeof DaemonRefused>

/** PostgreSQL does not answer, or has no export of names readable by this svcd. */
export const DatabaseUnavailable = plain(client.DatabaseUnavailable)
export type DatabaseUnavailable = InstanceType<typeof DatabaseUnavailable>

/** There is no wallet to register or update with. */
export const WalletDisabled = plain(client.WalletDisabled)
export type WalletDisabled = InstanceType<typeof WalletDisabled>

/** The wallet is encrypted and locked. */
export const WalletLocked = plain(client.WalletLocked)
export type WalletLocked = InstanceType<typeof WalletLocked>

/** The wallet cannot pay for the operation. */
export const InsufficientFunds = plain(client.InsufficientFunds)
export type InsufficientFunds = InstanceType<typeof InsufficientFunds>

/** The state of the name forbids the operation: it is taken, not the wallet's, or has a pending operation. */
export const NameUnavailable = plain(client.NameUnavailable)
export type NameUnavailable = InstanceType<typeof NameUnavailable>

/** The network's rules or the mempool's policy refuse the transaction. */
export const OperationRejected = plain(client.OperationRejected)
export type OperationRejected = InstanceType<typeof OperationRejected>

/** A registration was sent and cannot complete: another one was first, or a reorg changed the blocks. */
export const RegistrationFailed = plain(client.RegistrationFailed)
export type RegistrationFailed = InstanceType<typeof RegistrationFailed>

/** The caller closed the client. */
export const ClientClosed = plain(client.ClientClosed)
export type ClientClosed = InstanceType<typeof ClientClosed>

/** The embedded node stopped because of a defect of svcd. The data is safe; open another client. */
export const InternalError = plain(client.InternalError)
export type InternalError = InstanceType<typeof InternalError>

/** The node cannot create, read or write the directory, or the directory belongs to another program. */
export const DataDirectoryUnusable = plain(directory.DataDirectoryUnusable)
export type DataDirectoryUnusable = InstanceType<typeof DataDirectoryUnusable>

/** Another node, in this process or another one, uses the directory. */
export const DataDirectoryInUse = plain(directory.DataDirectoryInUse)
export type DataDirectoryInUse = InstanceType<typeof DataDirectoryInUse>

/** The directory belongs to another network. */
export const WrongNetwork = plain(directory.WrongNetwork)
export type WrongNetwork = InstanceType<typeof WrongNetwork>

/** The content of a file is wrong. A retry does not help; the message has the remedy. */
export const StorageCorrupted = plain(storage.StorageCorrupted)
export type StorageCorrupted = InstanceType<typeof StorageCorrupted>

/** A file cannot be read or written now: no space, no permission, an I/O error. Nothing is damaged. */
export const StorageUnavailable = plain(storage.StorageUnavailable)
export type StorageUnavailable = InstanceType<typeof StorageUnavailable>

/** A wallet's file is unreadable or contradicts itself. It stays unchanged. */
export const WalletDamaged = plain(wallet.WalletDamaged)
export type WalletDamaged = InstanceType<typeof WalletDamaged>

/** Every error of `svcd/promise`. */
export type SvcdError =
  | ClientClosed
  | CursorUnusable
  | DaemonNotReady
  | DaemonRefused
  | DaemonUnreachable
  | DatabaseUnavailable
  | DataDirectoryInUse
  | DataDirectoryUnusable
  | InsufficientFunds
  | InternalError
  | InvalidConfig
  | InvalidRequest
  | NameExpired
  | NameNotFound
  | NameUnavailable
  | NotSynced
  | OperationRejected
  | ProofUnavailable
  | RegistrationFailed
  | StorageCorrupted
  | StorageUnavailable
  | Unauthorized
  | WalletDamaged
  | WalletDisabled
  | WalletLocked
  | WrongNetwork
