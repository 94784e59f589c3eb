import * as Schema from "effect/Schema"
import type { DataDirectoryError } from "../config/dataDirectoryErrors.ts"
import type { NameExpired, NameNotFound } from "../names/errors.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { WalletDamaged } from "../wallet/errors.ts"

/** What can go wrong for a `NameClient`, the same in every mode. Messages are for people; `_tag` is for programs. */

/** A name, a value or an option cannot be what the network takes: too long, or no text in the encoding. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  /** Which argument: `name`, `value`, `namespace`, … */
  field: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.field}: ${this.reason}`
  }
}

/** A client cannot be made of this configuration. */
export class InvalidConfig extends Schema.TaggedError<InvalidConfig>()("InvalidConfig", {
  /** The field of the configuration. */
  field: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.field}: ${this.reason}`
  }
}

/**
 * The answer would be older than the caller insists on; or it would be that there is no such name, which nobody can say
 * before all blocks are there.
 */
export class NotSynced extends Schema.TaggedError<NotSynced>()("NotSynced", {
  /** Height of the last block whose names are known. */
  height: Schema.Int
}) {
  override get message(): string {
    return `names are known up to block ${this.height} so far, which is not recent enough`
  }
}

/** Nobody answers at the daemon's address, or not in time. */
export class DaemonUnreachable extends Schema.TaggedError<DaemonUnreachable>()("DaemonUnreachable", {
  /** `host:port`. */
  address: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `cannot reach a daemon at ${this.address}: ${this.reason}`
  }
}

/** The daemon wants other credentials. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", { address: Schema.String }) {
  override get message(): string {
    return `the daemon at ${this.address} does not accept the credentials`
  }
}

/** The daemon starts or stops, or is too busy to answer. */
export class DaemonNotReady extends Schema.TaggedError<DaemonNotReady>()("DaemonNotReady", {
  address: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `the daemon at ${this.address} is not ready: ${this.reason}`
  }
}

/** The daemon refused a call for a reason of its own, or answered what no daemon answers. */
export class DaemonRefused extends Schema.TaggedError<DaemonRefused>()("DaemonRefused", {
  /** The code of the JSON-RPC error; `undefined` where the answer was none. */
  code: Schema.optional(Schema.Int),
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** There is no wallet to register or update with. */
export class WalletDisabled extends Schema.TaggedError<WalletDisabled>()("WalletDisabled", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

/** The wallet's keys are sealed, and nobody has given the passphrase. */
export class WalletLocked extends Schema.TaggedError<WalletLocked>()("WalletLocked", {}) {
  override get message(): string {
    return "the wallet is locked: unlock it with its passphrase"
  }
}

/** The wallet cannot pay for the operation. */
export class InsufficientFunds extends Schema.TaggedError<InsufficientFunds>()("InsufficientFunds", {
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** The state of the name forbids the operation: it is taken, not ours, or an operation on it is pending. */
export class NameUnavailable extends Schema.TaggedError<NameUnavailable>()("NameUnavailable", {
  name: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** The network's rules or the mempool's policy refuse the transaction. */
export class OperationRejected extends Schema.TaggedError<OperationRejected>()("OperationRejected", {
  reason: Schema.String
}) {
  override get message(): string {
    return `the transaction was rejected: ${this.reason}`
  }
}

/** A registration was sent and will not come to its end: somebody else was first, or the blocks were reorganised. */
export class RegistrationFailed extends Schema.TaggedError<RegistrationFailed>()("RegistrationFailed", {
  name: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `the registration of ${this.name} failed: ${this.reason}`
  }
}

/** The client was closed. */
export class ClientClosed extends Schema.TaggedError<ClientClosed>()("ClientClosed", {}) {
  override get message(): string {
    return "the client is closed"
  }
}

/** The daemon cannot be asked. */
export type DaemonFailure = DaemonUnreachable | Unauthorized | DaemonNotReady | DaemonRefused

/** Why a client has come to its end. */
export type ClientFailure = StorageFailure | ClientClosed

/** Why names cannot be read. */
export type ReadFailure = InvalidRequest | NotSynced | DaemonFailure | ClientFailure

/** Why a name cannot be resolved. */
export type ResolveFailure = NameNotFound | NameExpired | ReadFailure

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

/** Why there is no client. */
export type OpenFailure = InvalidConfig | DataDirectoryError | DaemonFailure | StorageFailure | WalletDamaged
