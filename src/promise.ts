/**
 * `svcd/promise`: names for programs that do not use Effect.
 *
 * ```ts
 * import { newClient } from "svcd/promise"
 *
 * await using client = await newClient({ dataDir: "./names" })
 * const { value } = await client.resolveName("d/example")
 * ```
 */

import { NameClient } from "./client/NameClient.ts"
import { ModeDaemon, ModeEmbedded } from "./client/options.ts"
import { open, type PromiseClient, type PromiseClientConfig } from "./node/promiseClient.ts"

/** Opens a client of the configuration's mode; by default over a daemon if one answers, else embedded. */
export const newClient = (config: PromiseClientConfig = {}): Promise<PromiseClient> => open(NameClient.layer, config)

/** Opens a client with its own node in this process. */
export const newEmbeddedClient = (config: PromiseClientConfig = {}): Promise<PromiseClient> =>
  open(NameClient.layerEmbedded, { ...config, mode: ModeEmbedded })

/** Opens a client over a daemon. */
export const newDaemonClient = (config: PromiseClientConfig = {}): Promise<PromiseClient> =>
  open(NameClient.layerDaemon, { ...config, mode: ModeDaemon })

export { ModeAuto, ModeDaemon, ModeEmbedded } from "./client/options.ts"

export {
  ClientClosed,
  DaemonNotReady,
  DaemonRefused,
  DaemonUnreachable,
  DatabaseUnavailable,
  InsufficientFunds,
  InternalError,
  InvalidConfig,
  InvalidRequest,
  NameUnavailable,
  NotSynced,
  OperationRejected,
  RegistrationFailed,
  Unauthorized,
  WalletDisabled,
  WalletLocked
} from "./client/errors.ts"
export { httpStatus, isTransient, type SvcdError } from "./client/verdicts.ts"
export { DataDirectoryInUse, DataDirectoryUnusable, WrongNetwork } from "./config/dataDirectoryErrors.ts"
export { CursorUnusable, NameExpired, NameNotFound } from "./names/errors.ts"
export { StorageCorrupted, StorageUnavailable } from "./storage/errors.ts"
export { WalletDamaged } from "./wallet/errors.ts"

export type { ClientConfig } from "./client/NameClient.ts"
export type {
  ChangeFilter,
  ChangeType,
  FindFilter,
  ListFilter,
  LiveChange,
  LiveFilter,
  LiveType,
  Mode,
  RegisterOptions,
  RegistrationProgress,
  ResolveOptions,
  UnconfirmedChange,
  UpdateOptions
} from "./client/options.ts"
export { Freshness, NameChange, NameRecord, OperationResult } from "./client/records.ts"
export type { ProofLevel } from "./light/proof.ts"
export type { SyncPhase, SyncReport, WindowReport } from "./light/syncReport.ts"
export type { CallOptions, LogEntry, PromiseChanges, PromiseClient, PromiseClientConfig } from "./node/promiseClient.ts"
export { nameOfDomain as nameOf } from "./values/nameOfDomain.ts"
export { version } from "./version.ts"
