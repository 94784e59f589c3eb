import type { ProofLevel } from "../light/proof.ts"
import type { DropReason, EventKind, LiveKind, OperationKind } from "../names/events/kinds.ts"
import type { NetworkName } from "../protocol/networks.ts"
import type { SearchKey } from "../values/searchable.ts"

/**
 * Configuration, options, filters and live changes of a client. `NameClient` and `svcd/promise` share them, and a program with
 * `svcd/promise` may not have Effect: so these types do not use it.
 */

export interface ResolveOptions {
  /** Fails with `NotSynced` unless the node is synced. */
  readonly requireSynced?: boolean | undefined
  /** Fails with `NotSynced` unless names are known up to this height. */
  readonly minHeight?: number | undefined
  /** Fails with `NotSynced` unless the answer rests on this much; by default that of the configuration, else `work`. */
  readonly requireProof?: ProofLevel | undefined
}

export interface OperationOptions {
  /** The recipient of the name; by default an address of the wallet. */
  readonly address?: string | undefined
}

/** The steps of a registration, as they happen. */
export type RegistrationProgress =
  /** The wallet stores the registration, and sends NAME_NEW after a block: too many of its payments wait for one. */
  | { readonly step: "queued"; readonly reason: string }
  /**
   * NAME_NEW was sent. Over the reference node the step carries the salt, which that node does not store. With the salt
   * the operator can call `name_firstupdate` by hand if this client cannot.
   */
  | { readonly step: "announced"; readonly txHash: string; readonly rand?: string }
  /** NAME_NEW is in a block. The name can be claimed after `blocksLeft` more blocks. */
  | { readonly step: "waiting"; readonly txHash: string; readonly blocksLeft: number }
  /** NAME_FIRSTUPDATE was sent. */
  | { readonly step: "claimed"; readonly txHash: string }
  /** NAME_FIRSTUPDATE is in a block: the wallet owns the name. */
  | { readonly step: "registered"; readonly txHash: string; readonly height: number }
  /** The registration cannot complete, or can no longer be followed. */
  | { readonly step: "failed"; readonly reason: string }

export interface RegisterOptions extends OperationOptions {
  /**
   * Registers also a name that cannot be what its namespace is for, such as `d/UPPER`, which is not a domain. Otherwise it is refused
   * (`InvalidRequest`) before it costs money.
   */
  readonly anyName?: boolean | undefined
  /**
   * The step to wait for: NAME_NEW is sent (`announced`, the default), NAME_FIRSTUPDATE is sent (`claimed`), or
   * NAME_FIRSTUPDATE is in a block (`registered`). The registration continues in any case.
   */
  readonly waitFor?: "announced" | "claimed" | "registered" | undefined
  /** Called at each step. */
  readonly onProgress?: ((progress: RegistrationProgress) => void) | undefined
}

export interface UpdateOptions extends OperationOptions {
  /** The step to wait for: the transaction is sent (`sent`, the default) or is in a block (`confirmed`). */
  readonly waitFor?: "sent" | "confirmed" | undefined
}

export interface ListFilter {
  /** The prefix of the names, such as `d/`; empty for all. */
  readonly namespace?: string | undefined
  /** Maximum number of names; 100 by default. */
  readonly limit?: number | undefined
  /** Fails with `NotSynced` unless each record rests on this much; by default that of the configuration, else `work`. */
  readonly requireProof?: ProofLevel | undefined
}

/** What a search looks for: at least one condition. All of them hold. */
export interface FindFilter {
  /** Part of the name or of the value, without case; three characters or more. */
  readonly text?: string | undefined
  /** An item of the value, also below `map`; alone or with its `value`. */
  readonly key?: SearchKey | undefined
  readonly value?: string | undefined
  /** The address of the owner. */
  readonly owner?: string | undefined
  /** The prefix of the names, such as `d/`. */
  readonly namespace?: string | undefined
  /** The height of a block: the last operation is in it or later. */
  readonly changedSince?: number | undefined
  /** Blocks within which the name expires unless it is renewed. */
  readonly expiresWithin?: number | undefined
  /** Whether to find expired names too; by default not. */
  readonly includeExpired?: boolean | undefined
  /** Fails with `NotSynced` unless each record rests on this much; by default that of the configuration, else `work`. */
  readonly requireProof?: ProofLevel | undefined
}

/** What happened to a name. */
export type ChangeType = EventKind

/** The changes that a subscriber wants: those that fit each given part. A part with several values fits if one does. */
export interface ChangeFilter {
  /** The cursor of a change: those behind it. `"0"` for all from the first block on, `undefined` for those from now on. */
  readonly from?: string | undefined
  /** All but `expiring` by default. `undone` always belongs to it. */
  readonly types?: ReadonlyArray<ChangeType> | undefined
  /** Whole names. */
  readonly name?: string | ReadonlyArray<string> | undefined
  /** The prefix of the names; empty for all. */
  readonly namespace?: string | ReadonlyArray<string> | undefined
  /** Addresses of owners, before or after the change. */
  readonly owner?: string | ReadonlyArray<string> | undefined
  /**
   * Whether to have only changes of names that the node watches (`name_watch`), and of names that its wallets own before or
   * after the change; with both, of those and these. The list and the wallets of the moment count, even for past changes.
   * A light client has neither.
   */
  readonly watched?: boolean | undefined
  readonly mine?: boolean | undefined
}

/** The types of live changes, which a subscriber gets if it asks for them. They have no cursor. */
export type LiveType = LiveKind

/** As `ChangeFilter`, with live types. If they are the only types, of the changes in blocks only `undone` comes. */
export interface LiveFilter extends Omit<ChangeFilter, "types"> {
  readonly types: ReadonlyArray<ChangeType | LiveType>
}

/** An operation that waits for a block. No miner has to put it into one. */
export interface UnconfirmedChange {
  /** The type of the change that it will be in a block. */
  readonly operation: OperationKind
  readonly name: string
  /** As in `NameRecord`. */
  readonly value: string
  readonly valueHex?: string
  /** The owner's address after it; empty if the script has none. */
  readonly address: string
  /** 64 hex digits: the change in a block has the same in its record. */
  readonly txid: string
}

/**
 * A change of the mempool or of the node. It has no cursor and comes once: after each new connection, `pending_reset` and
 * all operations of the mempool come first.
 */
export type LiveChange =
  /** The operation entered the mempool of the node. The same one may come again. */
  | UnconfirmedChange & { readonly type: "pending" }
  /** It left the mempool, and not with a block. */
  | UnconfirmedChange & { readonly type: "pending_dropped"; readonly reason: DropReason }
  /** Forget all pending operations. Those that wait now follow. */
  | { readonly type: "pending_reset" }
  /** The subscriber has all changes, and names are known up to the tip of the network, whose height it is. */
  | { readonly type: "synced"; readonly height: number }

/**
 * Where a client gets its answers: `auto` takes a daemon if one answers, otherwise it runs a node in this process. The
 * other modes allow only one of the two.
 */
export const ModeAuto = "auto"
export const ModeEmbedded = "embedded"
export const ModeDaemon = "daemon"

export type Mode = typeof ModeAuto | typeof ModeEmbedded | typeof ModeDaemon

/**
 * How a client is made (docs/embedding.md), without what only one entry takes. Every field is optional. `Secret` is the
 * type of a password, and `Time` that of a time limit.
 */
export interface ConfigOf<Secret, Time> {
  /** `ModeAuto` by default. */
  readonly mode?: Mode | undefined
  /** `mainnet` by default. */
  readonly network?: NetworkName | undefined
  /** Embedded: `~/.svcd` by default. */
  readonly dataDir?: string | undefined
  /** Embedded: 8 by default; 0 is offline. */
  readonly maxPeers?: number | undefined
  /** Embedded: addresses as `host:port`, instead of the DNS seeds. */
  readonly bootstrapPeers?: ReadonlyArray<string> | undefined
  /** Daemon, and where `ModeAuto` looks for one: `http://127.0.0.1:8336` by default. */
  readonly rpcAddr?: string | undefined
  readonly rpcUser?: string | undefined
  readonly rpcPassword?: Secret | undefined
  /** Daemon: a cookie file of the reference node, instead of user and password. */
  readonly rpcCookieFile?: string | undefined
  /** The wallet to use if there are several; by default the default wallet. */
  readonly wallet?: string | undefined
  /** Daemon: the time for one call with its retries, in milliseconds unless it has a unit; 30 seconds by default. */
  readonly timeout?: Time | undefined
  /** Embedded: the client only resolves names. */
  readonly disableWallet?: boolean | undefined
  /**
   * Embedded: `light` answers from headers and the last blocks of the chain alone, within a minute, without a wallet;
   * `full` checks the whole chain. By default `light` in a directory without a chain and a wallet, on a network with
   * anchors, unless another field asks for a wallet or for the proof `full`.
   */
  readonly sync?: "light" | "full" | undefined
  /**
   * Embedded: the block at which the headers of a light client begin, as `HEIGHT:HASH:WORK`: height, hash, and the total
   * work of the chain up to it in hexadecimal digits. `none` begins at genesis. By default the anchors of the network.
   */
  readonly anchor?: string | undefined
  /** What answers have to rest on, for calls that do not say so; `work` by default. */
  readonly requireProof?: ProofLevel | undefined
  /** Embedded: unlocks an encrypted wallet for as long as the client is open. */
  readonly walletPassphrase?: Secret | undefined
}
