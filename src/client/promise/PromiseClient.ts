import type { ProofLevel } from "../../light/proof.ts"
import type { SyncReport } from "../../light/syncReport.ts"
import type { NameProof } from "../../verify/nameProof.ts"
import type {
  ChangeFilter,
  ConfigOf,
  DomainType,
  FindFilter,
  ListFilter,
  LiveChange,
  LiveFilter,
  ProveOptions,
  ReadyOptions,
  RegisterOptions,
  ResolveOptions,
  UpdateOptions
} from "../options.ts"
import type { DomainLookup } from "./lookup.ts"
import type { DomainAnswer, Freshness, NameChange, NameRecord, OperationResult } from "./records.ts"

/** A `NameClient` for programs that do not use Effect: promises, error classes, abort signals, async iterators. */

/** An entry of the client's log. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error"
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly time: Date
}

/** The part of `PromiseClientConfig` that JSON can hold. */
export type ClientConfig = ConfigOf<string, number>

/** How a client is made (docs/embedding.md). */
export interface PromiseClientConfig extends ClientConfig {
  /** Receives the log entries. Without it they are dropped. */
  readonly log?: ((entry: LogEntry) => void) | undefined
  /** Aborts the opening: the promise rejects with the signal's reason. An open client ignores it. */
  readonly signal?: AbortSignal | undefined
}

export interface CallOptions {
  /** Ends the waiting: the promise rejects with the signal's reason. Sent transactions are not withdrawn. */
  readonly signal?: AbortSignal | undefined
}

/** The two forms of `changes`. */
export interface PromiseChanges {
  (filter?: ChangeFilter & CallOptions): AsyncIterableIterator<NameChange>
  (filter: LiveFilter & CallOptions): AsyncIterableIterator<NameChange | LiveChange>
}

/** Names, by promises. Rejections are the errors of `svcd/promise`, each an `Error` with a `_tag`. */
export interface PromiseClient extends AsyncDisposable {
  /** The source of the answers. */
  readonly mode: "daemon" | "embedded" | "postgres"
  /** The current record of a name. */
  readonly resolveName: (name: string, options?: (ResolveOptions & CallOptions) | null) => Promise<NameRecord>
  /** A proof of the current value of a name, which anyone can verify without a chain, as with `svcd/verify`. */
  readonly proveName: (name: string, options?: (ProveOptions & CallOptions) | null) => Promise<NameProof>
  /**
   * The DNS records of a host below `.bit`, as svcd's own DNS server says them. The type is `A` by default. Needs no DNS
   * and no resolver. positional: public API
   */
  readonly resolveDomain: (
    host: string,
    type?: DomainType | null,
    options?: (ResolveOptions & CallOptions) | null
  ) => Promise<DomainAnswer>
  /**
   * As `dns.lookup`, for `http.get(url, { lookup })` and `connect: { lookup }` of undici: hosts below `.bit` from this
   * client, all others from the system.
   */
  readonly lookup: DomainLookup
  /**
   * Registers a name: both steps, while the client is open. Resolves after the first by default. positional: public API
   */
  readonly registerName: (
    name: string,
    value: string,
    options?: (RegisterOptions & CallOptions) | null
  ) => Promise<OperationResult>
  /** Changes the value of a name of the wallet. An empty value clears it. positional: public API */
  readonly updateName: (
    name: string,
    value: string,
    options?: (UpdateOptions & CallOptions) | null
  ) => Promise<OperationResult>
  /** The unexpired names in a namespace: the shortest first, then in byte order. */
  readonly listNames: (filter?: (ListFilter & CallOptions) | null) => Promise<ReadonlyArray<NameRecord>>
  /**
   * Names by content, owner, last change or expiry. The loop ends after the last one, or with `break`, signal or
   * client.
   */
  readonly findNames: (filter: FindFilter & CallOptions) => AsyncIterableIterator<NameRecord>
  /**
   * Changes of names in blocks, from now on or after a cursor, with live changes if the filter asks for them. The loop
   * ends with `break`, the signal or the client.
   */
  readonly changes: PromiseChanges
  /** The height and sync state of the names. */
  readonly freshness: (options?: CallOptions) => Promise<Freshness>
  /** The sync state: at once, then at each change. The loop ends when `phase` is `ready`. */
  readonly progress: (options?: CallOptions) => AsyncIterableIterator<SyncReport>
  /**
   * Waits until every name is known with this proof; by default with that of the configuration, else `work`. Logs a
   * warning after ten seconds without a peer. With `within`, rejects with `NotSynced` after this time.
   */
  readonly ready: (wanted?: ProofLevel | ReadyOptions | null, options?: CallOptions) => Promise<Freshness>
  /**
   * Resolves at the client's end: to `undefined` after `close`, or to the error of the failed node that calls reject
   * with.
   */
  readonly closed: Promise<Error | undefined>
  /** Releases files, sockets and threads, then resolves. Repeated calls are harmless. */
  readonly close: () => Promise<void>
}
