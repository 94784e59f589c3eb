import type { ProofLevel } from "../../light/proof.ts"
import type { SyncReport } from "../../light/syncReport.ts"
import type {
  ChangeFilter,
  ConfigOf,
  FindFilter,
  ListFilter,
  LiveChange,
  LiveFilter,
  RegisterOptions,
  ResolveOptions,
  UpdateOptions
} from "../options.ts"
import type { Freshness, NameChange, NameRecord, OperationResult } from "./records.ts"

/** A `NameClient` for programs that do not use Effect: promises, error classes, abort signals, async iterators. */

/** An entry of the client's log. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error"
  readonly message: string
  /** The facts of the entry. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly time: Date
}

/** The part of `PromiseClientConfig` that can be written as JSON. */
export type ClientConfig = ConfigOf<string, number>

/** How a client is made (docs/embedding.md). */
export interface PromiseClientConfig extends ClientConfig {
  /** Receives the log entries. Without it they are dropped. */
  readonly log?: ((entry: LogEntry) => void) | undefined
  /** Aborts the opening: the promise then rejects with the signal's reason. It has no effect on an open client. */
  readonly signal?: AbortSignal | undefined
}

export interface CallOptions {
  /** Ends the waiting: the promise then rejects with the signal's reason. What is sent already is not withdrawn. */
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
  /**
   * Registers a name: both steps, for as long as the client is open. By default it resolves after the first step.
   * positional: public API
   */
  readonly registerName: (
    name: string,
    value: string,
    options?: (RegisterOptions & CallOptions) | null
  ) => Promise<OperationResult>
  /** Changes the value of a name of the wallet. The empty value clears it. positional: public API */
  readonly updateName: (
    name: string,
    value: string,
    options?: (UpdateOptions & CallOptions) | null
  ) => Promise<OperationResult>
  /** Names that begin with a namespace and are not expired: the shortest first, then by their bytes. */
  readonly listNames: (filter?: (ListFilter & CallOptions) | null) => Promise<ReadonlyArray<NameRecord>>
  /**
   * Names by what they say, by owner, last change or expiry. The loop ends with the last name, with `break`, with the
   * signal, or with the client.
   */
  readonly findNames: (filter: FindFilter & CallOptions) => AsyncIterableIterator<NameRecord>
  /**
   * Changes of names in blocks, from now on or behind a cursor, and live changes for a filter with live types. The loop ends
   * with `break`, with the signal, or with the client.
   */
  readonly changes: PromiseChanges
  /** The height and sync state of the names. */
  readonly freshness: (options?: CallOptions) => Promise<Freshness>
  /** How far the node is: at once, then whenever that changes. The loop ends when there is nothing to wait for. */
  readonly progress: (options?: CallOptions) => AsyncIterableIterator<SyncReport>
  /**
   * Waits until every name is known with this proof; by default with that of the configuration, else `work`.
   */
  readonly ready: (level?: ProofLevel | null, options?: CallOptions) => Promise<Freshness>
  /**
   * Resolves when the client has ended: to `undefined` after `close`, to the error if the node in this process failed.
   * Calls then reject with that error.
   */
  readonly closed: Promise<Error | undefined>
  /** Releases everything: files, sockets, threads. Resolves once that is done; it may be called repeatedly. */
  readonly close: () => Promise<void>
}
