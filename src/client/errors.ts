import * as Schema from "effect/Schema"
import { lasting, PASSING } from "../base/verdict.ts"
import type { DataDirectoryError } from "../config/dataDirectoryErrors.ts"
import { progressText, SYNC_PHASES } from "../light/syncReport.ts"
import {
  type CursorUnusable,
  type NameExpired,
  type NameNotFound,
  type ProofUnavailable,
  REQUESTED,
  requestedText
} from "../names/errors.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { WalletDamaged } from "../wallet/errors.ts"

/** The failures of a `NameClient`, the same in every mode. Messages are for people; `_tag` is for programs. */

/** A name, value or option is invalid: too long, or not text in the encoding. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  /** The argument: `name`, `value`, `namespace`, … */
  field: Schema.String,
  reason: Schema.String
}, lasting(400)) {
  override get message(): string {
    return `${this.field}: ${this.reason}`
  }
}

/** The configuration of a client is invalid. */
export class InvalidConfig extends Schema.TaggedError<InvalidConfig>()("InvalidConfig", {
  /** The field of the configuration. */
  field: Schema.String,
  reason: Schema.String
}, lasting(500)) {
  override get message(): string {
    return `${this.field}: ${this.reason}`
  }
}

/**
 * The node is older, or its proof weaker, than the caller requires. Or the name was not found while blocks are missing.
 */
export class NotSynced extends Schema.TaggedError<NotSynced>()("NotSynced", {
  /** Height of the last block whose names are known. */
  height: Schema.Int,
  /** The missing data, if it is not recent blocks. */
  reason: Schema.optional(Schema.String),
  /** The current phase of the node; missing if unknown. */
  phase: Schema.optional(Schema.Literal(...SYNC_PHASES)),
  /** Percentage done, 0 to 100. */
  percent: Schema.optional(Schema.Number),
  /** The forecast; missing while unknown. */
  secondsLeft: Schema.optional(Schema.Number)
}, PASSING) {
  override get message(): string {
    const { height, percent, phase, reason, secondsLeft } = this
    const what = reason ?? `names are known up to block ${height} so far, which is not recent enough`
    const isBusy = phase !== undefined && phase !== "ready" && percent !== undefined
    return isBusy ? `${what} (${progressText({ phase, percent, secondsLeft })})` : what
  }
}

/** No daemon answers at the address, or the daemon does not answer in time. */
export class DaemonUnreachable extends Schema.TaggedError<DaemonUnreachable>()("DaemonUnreachable", {
  /** `host:port`. */
  address: Schema.String,
  reason: Schema.String
}, PASSING) {
  override get message(): string {
    return `cannot reach a daemon at ${this.address}: ${this.reason}`
  }
}

/** The daemon refuses the credentials, or there are none. `reason` tells which were sent, and the remedy. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {
  address: Schema.String,
  reason: Schema.String
}, lasting(502)) {
  override get message(): string {
    return `the daemon at ${this.address} ${this.reason}`
  }
}

/** The daemon starts or shuts down, or is too busy to answer. */
export class DaemonNotReady extends Schema.TaggedError<DaemonNotReady>()("DaemonNotReady", {
  address: Schema.String,
  reason: Schema.String
}, PASSING) {
  override get message(): string {
    return `the daemon at ${this.address} is not ready: ${this.reason}`
  }
}

/** The daemon refused a call for a reason of its own, or its reply is invalid. */
export class DaemonRefused extends Schema.TaggedError<DaemonRefused>()("DaemonRefused", {
  /** The code of the JSON-RPC error; `undefined` if the reply was not an error. */
  code: Schema.optional(Schema.Int),
  reason: Schema.String
}, lasting(502)) {
  override get message(): string {
    return this.reason
  }
}

/** PostgreSQL does not answer, or has no export of names readable by this svcd. */
export class DatabaseUnavailable extends Schema.TaggedError<DatabaseUnavailable>()("DatabaseUnavailable", {
  /** `host:port/database`. */
  server: Schema.String,
  reason: Schema.String
}, PASSING) {
  override get message(): string {
    return `cannot read names from PostgreSQL at ${this.server}: ${this.reason}`
  }
}

/** There is no wallet to register or update with. */
export class WalletDisabled
  extends Schema.TaggedError<WalletDisabled>()("WalletDisabled", { reason: Schema.String }, lasting(501))
{
  override get message(): string {
    return this.reason
  }
}

/** The wallet is encrypted and locked. */
export class WalletLocked extends Schema.TaggedError<WalletLocked>()("WalletLocked", {}, lasting(503)) {
  override get message(): string {
    return "the wallet is locked: unlock it with its passphrase"
  }
}

/** The wallet cannot pay for the operation. */
export class InsufficientFunds extends Schema.TaggedError<InsufficientFunds>()("InsufficientFunds", {
  reason: Schema.String
}, lasting(503)) {
  override get message(): string {
    return this.reason
  }
}

/** The state of the name forbids the operation: it is taken, not the wallet's, or has a pending operation. */
export class NameUnavailable extends Schema.TaggedError<NameUnavailable>()("NameUnavailable", {
  ...REQUESTED,
  reason: Schema.String
}, lasting(409)) {
  override get message(): string {
    return this.reason
  }
}

/** The network's rules or the mempool's policy refuse the transaction. */
export class OperationRejected extends Schema.TaggedError<OperationRejected>()("OperationRejected", {
  reason: Schema.String
}, lasting(422)) {
  override get message(): string {
    return `the transaction was rejected: ${this.reason}`
  }
}

/** A registration was sent and cannot complete: another one was first, or a reorg changed the blocks. */
export class RegistrationFailed extends Schema.TaggedError<RegistrationFailed>()("RegistrationFailed", {
  ...REQUESTED,
  reason: Schema.String
}, lasting(409)) {
  override get message(): string {
    return `the registration of ${requestedText(this)} failed: ${this.reason}`
  }
}

export class ClientClosed extends Schema.TaggedError<ClientClosed>()("ClientClosed", {}, lasting(503)) {
  override get message(): string {
    return "the client is closed"
  }
}

/** The embedded node stopped because of a defect of svcd. The data is safe; open another client. */
export class InternalError
  extends Schema.TaggedError<InternalError>()("InternalError", { reason: Schema.String }, lasting(500))
{
  override get message(): string {
    return `the node stopped, a defect of svcd: ${this.reason}. Please report it, with the log`
  }
}

/** Why a call to the daemon fails. */
export type DaemonFailure = DaemonUnreachable | Unauthorized | DaemonNotReady | DaemonRefused

/** Why a client has ended. */
export type ClientFailure = StorageFailure | ClientClosed | InternalError

/** Why names cannot be read. */
export type ReadFailure = InvalidRequest | NotSynced | DaemonFailure | DatabaseUnavailable | ClientFailure

/** Why changes of names cannot be read. */
export type ChangesFailure = CursorUnusable | ReadFailure

/** Why a name cannot be resolved. */
export type ResolveFailure = NameNotFound | NameExpired | ReadFailure

/** Why a name cannot be proven. */
export type ProveFailure = ProofUnavailable | ResolveFailure

/** Why a name cannot be registered or updated. */
export type OperationFailure =
  | InvalidRequest
  | WalletDisabled
  | WalletLocked
  | InsufficientFunds
  | NameUnavailable
  | OperationRejected
  | RegistrationFailed
  | NotSynced
  | DaemonFailure
  | ClientFailure

/** Why opening a client over a daemon fails. */
export type DaemonOpenFailure = InvalidConfig | DaemonFailure

/** Why opening a client with a node in this process fails. */
export type EmbeddedOpenFailure = InvalidConfig | DataDirectoryError | StorageFailure | WalletDamaged

/** Why opening a client fails that takes a daemon or a node in this process. */
export type OpenFailure = DaemonOpenFailure | EmbeddedOpenFailure

/** Every failure of a client. */
export type SvcdError = ProveFailure | ChangesFailure | OperationFailure | OpenFailure
