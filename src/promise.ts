/**
 * `svcd/promise`: names for programs without Effect. Its declarations reach no file whose declarations name a package.
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
import type { PromiseClient, PromiseClientConfig } from "./client/promise/PromiseClient.ts"
import { open } from "./node/promiseClient.ts"

/** Opens a client of the configuration's mode; by default over a daemon if one answers, else embedded. */
export const newClient = (config: PromiseClientConfig = {}): Promise<PromiseClient> => open(NameClient.layer, config)

/** Opens a client with its own node in this process. */
export const newEmbeddedClient = (config: PromiseClientConfig = {}): Promise<PromiseClient> =>
  open(NameClient.layerEmbedded, { ...config, mode: ModeEmbedded })

/** Opens a client over a daemon. */
export const newDaemonClient = (config: PromiseClientConfig = {}): Promise<PromiseClient> =>
  open(NameClient.layerDaemon, { ...config, mode: ModeDaemon })

export { ModeAuto, ModeDaemon, ModeEmbedded } from "./client/options.ts"
export type {
  ChangeFilter,
  ChangeType,
  DomainType,
  FindFilter,
  ListFilter,
  LiveChange,
  LiveFilter,
  LiveType,
  Mode,
  ProveOptions,
  ReadyOptions,
  RegisterOptions,
  RegistrationProgress,
  ResolveOptions,
  TimeLimit,
  UnconfirmedChange,
  UpdateOptions
} from "./client/options.ts"
export * from "./client/promise/errors.ts"
export type {
  DomainLookup,
  LookupAddress,
  LookupCallback,
  LookupError,
  LookupOptions
} from "./client/promise/lookup.ts"
export type * from "./client/promise/PromiseClient.ts"
export type * from "./client/promise/records.ts"
export { httpStatus, isTransient } from "./client/verdicts.ts"
export type { DomainRecord, DomainStatus } from "./dns/domainRecord.ts"
export { type GivenCertificate, tlsaMatches, type TlsaOptions } from "./dns/tlsa.ts"
export type { ProofLevel } from "./light/proof.ts"
export type { SyncPhase, SyncReport, WindowReport } from "./light/syncReport.ts"
export { nameOfDomain as nameOf } from "./values/readName.ts"
export type { NameProof } from "./verify/nameProof.ts"
export { version } from "./version.ts"
