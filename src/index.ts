/**
 * The public API of svcd.
 *
 * `NameClient` resolves and registers names as an Effect service. Its layers need Node, and load their modules on use.
 * (`svcd/promise` is the same for programs without Effect.)
 *
 * The other namespaces are those of `svcd/protocol` and `svcd/values`, which also run in a browser. They stay here for
 * 0.3.
 */

export {
  type ChangesFailure,
  ClientClosed,
  type ClientFailure,
  type DaemonFailure,
  DaemonNotReady,
  type DaemonOpenFailure,
  DaemonRefused,
  DaemonUnreachable,
  DatabaseUnavailable,
  type EmbeddedOpenFailure,
  InsufficientFunds,
  InternalError,
  InvalidConfig,
  InvalidRequest,
  NameUnavailable,
  NotSynced,
  type OpenFailure,
  type OperationFailure,
  OperationRejected,
  type ProveFailure,
  type ReadFailure,
  RegistrationFailed,
  type ResolveFailure,
  type SvcdError,
  Unauthorized,
  WalletDisabled,
  WalletLocked
} from "./client/errors.ts"
export { type ClientConfig, type NameChanges, NameClient } from "./client/NameClient.ts"
export { ModeAuto, ModeDaemon, ModeEmbedded } from "./client/options.ts"
export type {
  ChangeFilter,
  ChangeType,
  DomainType,
  FindFilter,
  ListFilter,
  LiveFilter,
  LiveType,
  Mode,
  OperationOptions,
  ProveOptions,
  ReadyOptions,
  RegisterOptions,
  RegistrationProgress,
  ResolveOptions,
  TimeLimit,
  UpdateOptions
} from "./client/options.ts"
export {
  DomainAnswer,
  DomainRecord,
  Freshness,
  LiveChange,
  NameChange,
  NameRecord,
  OperationResult,
  SyncReport,
  UnconfirmedChange,
  WindowReport
} from "./client/records.ts"
export { httpStatus, isTransient } from "./client/verdicts.ts"
export {
  type DataDirectoryError,
  DataDirectoryInUse,
  DataDirectoryUnusable,
  WrongNetwork
} from "./config/dataDirectoryErrors.ts"
export type { DomainStatus } from "./dns/domainRecord.ts"
export { type GivenCertificate, tlsaMatches, type TlsaOptions } from "./dns/tlsa.ts"
export type { ProofLevel } from "./light/proof.ts"
export type { SyncPhase } from "./light/syncReport.ts"
export { CursorUnusable, NameExpired, NameNotFound, ProofUnavailable } from "./names/errors.ts"
export { AutoClient, DaemonClient, EmbeddedNode } from "./node/clients.ts"
export { StorageCorrupted, type StorageFailure, StorageUnavailable } from "./storage/errors.ts"
export type { NameProof } from "./verify/nameProof.ts"
export { WalletDamaged } from "./wallet/errors.ts"

export * from "./protocol.ts"
export * as values from "./values/lint.ts"

export { nameOfDomain as nameOf } from "./values/readName.ts"
export { version } from "./version.ts"
