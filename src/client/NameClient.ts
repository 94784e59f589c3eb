import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { NetworkName } from "../protocol/networks.ts"
import type { ClientFailure, OperationFailure, ReadFailure, ResolveFailure } from "./errors.ts"

/**
 * Names, as an application sees them. The interface is the same whether a daemon answers, ours or the reference node,
 * or a node inside this process. Names and values are text: UTF-8, as the network's applications write them. A name
 * that is no UTF-8 cannot be asked for, and is left out of lists.
 */
export class NameClient extends Context.Tag("svcd/NameClient")<NameClient, {
  /** Who answers. */
  readonly mode: "daemon" | "embedded"
  /**
   * What a name says now. A name that is missing or expired as far as the node knows may have been registered since:
   * while it is not synced, that fails with `NotSynced`.
   */
  readonly resolveName: (name: string, options?: ResolveOptions) => Effect.Effect<NameRecord, ResolveFailure>
  /**
   * Registers a name: both steps, for as long as the client is open. The wallet of a svcd, embedded or not, goes on with
   * it after a restart; the reference node's does not.
   */
  readonly registerName: (
    name: string,
    value: string,
    options?: RegisterOptions
  ) => Effect.Effect<OperationResult, OperationFailure>
  /** Changes the value of a name of ours. The empty value clears it; ownership stays. */
  readonly updateName: (
    name: string,
    value: string,
    options?: UpdateOptions
  ) => Effect.Effect<OperationResult, OperationFailure>
  /** Names that begin with a namespace and are not expired: the shortest first, then by their bytes. */
  readonly listNames: (filter?: ListFilter) => Effect.Effect<ReadonlyArray<NameRecord>, ReadFailure>
  /**
   * What happens to names in blocks from now on, the oldest first. Where the chain is reorganised, names are told
   * again as they are then. A listener that is slow misses the oldest.
   */
  readonly changes: (filter?: ChangeFilter) => Stream.Stream<NameChange, ReadFailure>
  /** How far the names are known. */
  readonly freshness: Effect.Effect<Freshness, ReadFailure>
  /**
   * Fails when the client has come to its end: it was closed, or the node in this process could not go on, because the
   * disk is full for instance. Calls then fail in the same way. Never succeeds; a daemon that is away is not its end.
   */
  readonly failure: Effect.Effect<never, ClientFailure>
}>() {}

/** What a name says, and since when. */
export interface NameRecord {
  /** With its namespace: `d/example`. */
  readonly name: string
  /** Empty where the owner cleared it. Bytes that are not UTF-8 show as U+FFFD. */
  readonly value: string
  /** The value in hexadecimal digits, where it is not UTF-8. */
  readonly valueHex?: string
  /** The owner's address; empty where its script has none. */
  readonly address: string
  /** The transaction of its last operation: 64 hex digits. */
  readonly txid: string
  /** The block with that transaction. */
  readonly height: number
  /** Blocks until it expires; zero or less where it did. */
  readonly expiresIn: number
  readonly expired: boolean
  /** How far the names were known when this was answered. */
  readonly asOf: Freshness
}

/** How far names are known. */
export interface Freshness {
  /** Height of the last block. */
  readonly height: number
  /** Whether that is the tip of the network, as far as the node can know. */
  readonly synced: boolean
}

export interface ResolveOptions {
  /** Fails with `NotSynced` unless the node is synced. */
  readonly requireSynced?: boolean | undefined
  /** Fails with `NotSynced` unless names are known up to this height. */
  readonly minHeight?: number | undefined
}

/** The transaction of an operation. */
export interface OperationResult {
  /** Of a registration: the transaction of the step that was waited for. 64 hex digits. */
  readonly txHash: string
}

export interface OperationOptions {
  /** Who gets the name; an address of the wallet where it is left out. */
  readonly address?: string | undefined
}

/** The steps of a registration as they happen. */
export type RegistrationProgress =
  /**
   * NAME_NEW was sent. Over the reference node with its salt, which that does not keep: with it, `name_firstupdate` can be
   * called by hand where this client cannot.
   */
  | { readonly step: "announced"; readonly txHash: string; readonly rand?: string }
  /** NAME_NEW is in a block; so many blocks are to follow until the name can be claimed. */
  | { readonly step: "waiting"; readonly txHash: string; readonly blocksLeft: number }
  /** NAME_FIRSTUPDATE was sent. */
  | { readonly step: "claimed"; readonly txHash: string }
  /** NAME_FIRSTUPDATE is in a block: the name is ours. */
  | { readonly step: "registered"; readonly txHash: string; readonly height: number }
  /** It will not come to its end, or cannot be followed any longer. */
  | { readonly step: "failed"; readonly reason: string }

export interface RegisterOptions extends OperationOptions {
  /**
   * What is waited for: that NAME_NEW is sent (`announced`, the default), that NAME_FIRSTUPDATE is (`claimed`), or that
   * it is in a block (`registered`). The registration goes on in any case.
   */
  readonly waitFor?: "announced" | "claimed" | "registered" | undefined
  /** Is told each step. */
  readonly onProgress?: ((progress: RegistrationProgress) => void) | undefined
}

export interface UpdateOptions extends OperationOptions {
  /** What is waited for: that the transaction is sent (`sent`, the default) or that it is in a block. */
  readonly waitFor?: "sent" | "confirmed" | undefined
}

export interface ListFilter {
  /** The beginning of the names: `d/`; empty for all. */
  readonly namespace?: string | undefined
  /** Names at most; 100 if it is left out. */
  readonly limit?: number | undefined
}

export interface ChangeFilter {
  /** The beginning of the names; empty for all. */
  readonly namespace?: string | undefined
}

/** An operation on a name, in a block. */
export interface NameChange {
  readonly name: string
  /** What it says since, by this operation; `undefined` where a reorganisation took its only registration back. */
  readonly record: NameRecord | undefined
  /** The block, or the one that was taken back. */
  readonly height: number
}

/** Who answers: a daemon where there is one, else a node of our own; or one of both, whatever there is. */
export const ModeAuto = "auto"
export const ModeEmbedded = "embedded"
export const ModeDaemon = "daemon"

export type Mode = typeof ModeAuto | typeof ModeEmbedded | typeof ModeDaemon

/** How a client is made (docs/embedding.md). Everything may be left out. */
export interface ClientConfig {
  /** `ModeAuto` if it is left out. */
  readonly mode?: Mode | undefined
  /** `mainnet` if it is left out. */
  readonly network?: NetworkName | undefined
  /** Embedded: `~/.svcd` if it is left out. */
  readonly dataDir?: string | undefined
  /** Embedded: 8 if it is left out; 0 is offline. */
  readonly maxPeers?: number | undefined
  /** Embedded: `host:port`, in place of those that DNS names. */
  readonly bootstrapPeers?: ReadonlyArray<string> | undefined
  /** Daemon, and where auto looks for one: `http://127.0.0.1:8336` if it is left out. */
  readonly rpcAddr?: string | undefined
  readonly rpcUser?: string | undefined
  readonly rpcPassword?: string | undefined
  /** Daemon: a cookie file of the reference node, in place of user and password. */
  readonly rpcCookieFile?: string | undefined
  /** The wallet to use where there are several; the default one if it is left out. */
  readonly wallet?: string | undefined
  /** Daemon: milliseconds for one call; 30,000 if it is left out. */
  readonly timeout?: number | undefined
  /** Embedded: resolution only. */
  readonly disableWallet?: boolean | undefined
  /** Embedded: opens an encrypted wallet for as long as the client is open. */
  readonly walletPassphrase?: string | undefined
}
