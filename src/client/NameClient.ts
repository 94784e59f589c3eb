import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"
import type { ProofLevel } from "../light/proof.ts"
import type { SyncReport } from "../light/syncReport.ts"
import type { NameProof } from "../verify/nameProof.ts"
import type {
  ChangesFailure,
  ClientFailure,
  DaemonOpenFailure,
  EmbeddedOpenFailure,
  InvalidConfig,
  OpenFailure,
  OperationFailure,
  ProveFailure,
  ReadFailure,
  ResolveFailure
} from "./errors.ts"
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
} from "./options.ts"
import type { DomainAnswer, Freshness, NameChange, NameRecord, OperationResult } from "./records.ts"

/**
 * Names, as an application sees them, over a daemon (svcd or the reference node), a node in this process or an export
 * in PostgreSQL. Names and values are UTF-8 text, as the network's applications write them. Other names cannot be
 * requested, and lists omit them.
 */
export class NameClient extends Context.Tag("svcd/NameClient")<NameClient, {
  /** The source of the answers. */
  readonly mode: "daemon" | "embedded" | "postgres"
  /**
   * Resolves the current value of a name. Fails with `NotSynced` if the name is missing or expired while the node is
   * not synced: a missing block may register it.
   */
  readonly resolveName: (name: string, options?: ResolveOptions) => Effect.Effect<NameRecord, ResolveFailure>
  /**
   * A proof of the current value of a name, which anyone can verify without a chain: `svcd/verify` in a browser, or
   * `svcd-cli verify-proof`. The proof is JSON. Fails with `ProofUnavailable` if the blocks are not stored.
   */
  readonly proveName: (name: string, options?: ProveOptions) => Effect.Effect<NameProof, ProveFailure>
  /**
   * The DNS records of a host below `.bit`, as svcd's own DNS server says them: imports, aliases, wildcards and
   * delegations included. The type is `A` by default. Needs no DNS and no resolver. A host that does not exist is an
   * answer (`no-name`); `NotSynced` if that is not certain. The proof and the height are those of every name that the
   * answer needs. Fails with `InvalidRequest` for a host that is not below `.bit`.
   */
  // positional: public API, a host and a type as in `dns.resolve`.
  readonly resolveDomain: (
    host: string,
    type?: DomainType,
    options?: ResolveOptions
  ) => Effect.Effect<DomainAnswer, ReadFailure>
  /**
   * Registers a name: runs both steps for as long as the client is open. The wallet of svcd continues the registration
   * after a restart; the reference node's wallet does not.
   */
  // positional: public API, a name and its value in the order of name_update.
  readonly registerName: (
    name: string,
    value: string,
    options?: RegisterOptions
  ) => Effect.Effect<OperationResult, OperationFailure>
  /** Changes the value of a name that the wallet owns. An empty value clears it; ownership stays. */
  // positional: public API, as `registerName`.
  readonly updateName: (
    name: string,
    value: string,
    options?: UpdateOptions
  ) => Effect.Effect<OperationResult, OperationFailure>
  /** Lists the unexpired names in a namespace: the shortest first, then in byte order. */
  readonly listNames: (filter?: ListFilter) => Effect.Effect<ReadonlyArray<NameRecord>, ReadFailure>
  /**
   * Finds names that meet all the given conditions: content, owner, last change, expiry. The stream reads page by page
   * and omits names that are not UTF-8. It fails with `NotSynced` at its end if there may be other names.
   */
  readonly findNames: (filter: FindFilter) => Stream.Stream<NameRecord, ReadFailure>
  /**
   * The changes of names in blocks, the oldest first, from now on or after the cursor of an earlier change. The stream
   * has every change of a UTF-8 name exactly once, however slow the subscriber is and however often a daemon restarts.
   * Changes in blocks that a reorg disconnects return as `undone`. Fails with `CursorUnusable` if the changes after the
   * cursor are unknown. If `types` has live types, the stream includes live changes.
   */
  readonly changes: NameChanges
  /** The block up to which names are known. */
  readonly freshness: Effect.Effect<Freshness, ReadFailure>
  /** The sync state: at once, then at each change, at most several times a second. Ends when `phase` is `ready`. */
  readonly progress: Stream.Stream<SyncReport, ReadFailure>
  /**
   * Waits until every name is known with this proof; by default with that of the configuration, else `work`. Logs a
   * warning after ten seconds without a peer. With `within`, fails with `NotSynced` after this time, with what is
   * missing. Fails with `InvalidRequest` for a proof that the node can never reach.
   */
  readonly ready: (wanted?: ProofLevel | ReadyOptions) => Effect.Effect<Freshness, ReadFailure>
  /**
   * Never succeeds. Fails when the client ends: the caller closed it, or the node in this process had to stop, for
   * instance on a full disk. Calls then fail with the same error. An unreachable daemon does not end the client.
   */
  readonly failure: Effect.Effect<never, ClientFailure>
}>() {
  /**
   * Uses a daemon if one answers within half a second, else a node in this process, unless `mode` decides.
   * `NameClient.mode` and a line in the log show which. A daemon of another network is ignored; one that refuses the
   * credentials is a failure.
   */
  static layer(config: ClientConfig = {}): Layer.Layer<NameClient, OpenFailure> {
    return built(({ layerAuto }) => layerAuto(config))
  }

  /** Uses a daemon: svcd or the reference node. Fails to build without one, or with one of another network. */
  static layerDaemon(config: ClientConfig = {}): Layer.Layer<NameClient, DaemonOpenFailure> {
    return built(({ layerDaemon }) => layerDaemon(config))
  }

  /**
   * Uses a daemon that may be absent when the layer is built. The first call connects. Until a daemon answers, calls
   * fail as with an unreachable one.
   */
  static layerDaemonLazy(config: ClientConfig = {}): Layer.Layer<NameClient, InvalidConfig> {
    return built(({ layerDaemonLazy }) => layerDaemonLazy(config))
  }

  /** Runs a node in this process for the lifetime of the layer, with the program's logger and metrics. */
  static layerEmbedded(config: ClientConfig = {}): Layer.Layer<NameClient, EmbeddedOpenFailure> {
    return built(({ layerEmbedded }) => layerEmbedded(config))
  }

  /** As `layer`, with a configuration that the program reads: `{ dataDir: Config.string("NAMES_DIR") }`. */
  static layerConfig(
    config: Config.Config.Wrap<ClientConfig>
  ): Layer.Layer<NameClient, OpenFailure | ConfigError.ConfigError> {
    return Layer.unwrapEffect(Effect.map(Config.unwrap(config), (given) => NameClient.layer(given)))
  }
}

/** Loads the layers on use: a program that needs one mode does not load the others. */
const clients = Effect.promise(() => import("../node/clients.ts"))

const built = <E>(
  layerOf: (from: Effect.Effect.Success<typeof clients>) => Layer.Layer<NameClient, E>
): Layer.Layer<NameClient, E> => Layer.unwrapEffect(Effect.map(clients, layerOf))

export interface NameChanges {
  (filter?: ChangeFilter): Stream.Stream<NameChange, ChangesFailure>
  (filter: LiveFilter): Stream.Stream<NameChange | LiveChange, ChangesFailure>
}

/** How a client is made (docs/embedding.md). */
export type ClientConfig = ConfigOf<string | Redacted.Redacted<string>, Duration.DurationInput>
