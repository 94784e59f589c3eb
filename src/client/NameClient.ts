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
import type {
  ChangesFailure,
  ClientFailure,
  DaemonOpenFailure,
  EmbeddedOpenFailure,
  InvalidConfig,
  OpenFailure,
  OperationFailure,
  ReadFailure,
  ResolveFailure
} from "./errors.ts"
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
} from "./options.ts"
import type { Freshness, NameChange, NameRecord, OperationResult } from "./records.ts"

/**
 * Names, as an application sees them. The interface is the same over a daemon (svcd or the reference node), over a
 * node inside this process, and over an export in PostgreSQL. Names and values are UTF-8 text, as the network's applications write them. A name that is
 * not UTF-8 cannot be requested, and lists omit it.
 */
export class NameClient extends Context.Tag("svcd/NameClient")<NameClient, {
  /** Where the answers are from. */
  readonly mode: "daemon" | "embedded" | "postgres"
  /**
   * Resolves the current value of a name. While the node is not synced, a name that is missing or expired may have been
   * registered in a later block: the call then fails with `NotSynced`.
   */
  readonly resolveName: (name: string, options?: ResolveOptions) => Effect.Effect<NameRecord, ResolveFailure>
  /**
   * Registers a name: runs both steps for as long as the client is open. The wallet of svcd, embedded or not, continues
   * the registration after a restart; the reference node's wallet does not.
   */
  // positional: public API, a name and its value in the order of name_update.
  readonly registerName: (
    name: string,
    value: string,
    options?: RegisterOptions
  ) => Effect.Effect<OperationResult, OperationFailure>
  /** Changes the value of a name that the wallet owns. The empty value clears it; ownership stays. */
  // positional: public API, as `registerName`.
  readonly updateName: (
    name: string,
    value: string,
    options?: UpdateOptions
  ) => Effect.Effect<OperationResult, OperationFailure>
  /** Lists the unexpired names in a namespace: the shortest first, then by their bytes. */
  readonly listNames: (filter?: ListFilter) => Effect.Effect<ReadonlyArray<NameRecord>, ReadFailure>
  /**
   * Finds names by what they say, by their owner, by their last change or by their expiry: all given conditions hold. The
   * stream reads page by page, without names that are not UTF-8. Fails with `NotSynced` at its end if there may be other names.
   */
  readonly findNames: (filter: FindFilter) => Stream.Stream<NameRecord, ReadFailure>
  /**
   * The changes of names in blocks, the oldest first: from now on, or behind the cursor of a change that was received
   * before. No change of a name that is UTF-8 is missing and none comes twice, however slow the subscriber is and however often a daemon
   * restarts. Names of blocks that a reorg disconnects come again as `undone`. Fails with `CursorUnusable` if the changes
   * behind the cursor are not known. If `types` has live types, the stream has live changes too.
   */
  readonly changes: NameChanges
  /** The block up to which names are known. */
  readonly freshness: Effect.Effect<Freshness, ReadFailure>
  /**
   * How far the node is: at once, then whenever that changes, at most several times a second. The stream ends when there
   * is nothing to wait for (`phase` is `ready`).
   */
  readonly progress: Stream.Stream<SyncReport, ReadFailure>
  /**
   * Waits until every name is known with this proof; by default with that of the configuration, else `work`. Fails with
   * `InvalidRequest` for a proof that the node never has.
   */
  readonly ready: (level?: ProofLevel) => Effect.Effect<Freshness, ReadFailure>
  /**
   * Fails when the client ends: the caller closed it, or the node in this process had to stop, for instance because the
   * disk is full. Calls then fail with the same error. It never succeeds. An unreachable daemon does not end the
   * client.
   */
  readonly failure: Effect.Effect<never, ClientFailure>
}>() {
  /**
   * A daemon if one answers within half a second, else a node in this process; or what `mode` says. `NameClient.mode` and a line
   * in the log show which. A daemon of another network counts as none; one that refuses the credentials is a failure.
   */
  static layer(config: ClientConfig = {}): Layer.Layer<NameClient, OpenFailure> {
    return built(({ layerAuto }) => layerAuto(config))
  }

  /** A daemon, svcd or the reference node. Fails to build without one, or with one of another network. */
  static layerDaemon(config: ClientConfig = {}): Layer.Layer<NameClient, DaemonOpenFailure> {
    return built(({ layerDaemon }) => layerDaemon(config))
  }

  /**
   * A daemon that need not be there when the layer is built. The first call connects; until a daemon answers, calls fail as they
   * do when one is away.
   */
  static layerDaemonLazy(config: ClientConfig = {}): Layer.Layer<NameClient, InvalidConfig> {
    return built(({ layerDaemonLazy }) => layerDaemonLazy(config))
  }

  /**
   * Runs a node in this process for as long as the layer lives. It logs through the logger of the program, and counts
   * in its metrics.
   */
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

/** Loads the layers on use: what only reads answers loads neither a node nor the client of a daemon. */
const clients = Effect.promise(() => import("../node/clients.ts"))

const built = <E>(
  layerOf: (from: Effect.Effect.Success<typeof clients>) => Layer.Layer<NameClient, E>
): Layer.Layer<NameClient, E> => Layer.unwrapEffect(Effect.map(clients, layerOf))

/** The two forms of `NameClient.changes`. */
export interface NameChanges {
  (filter?: ChangeFilter): Stream.Stream<NameChange, ChangesFailure>
  (filter: LiveFilter): Stream.Stream<NameChange | LiveChange, ChangesFailure>
}

/** How a client is made (docs/embedding.md). */
export type ClientConfig = ConfigOf<string | Redacted.Redacted<string>, Duration.DurationInput>
