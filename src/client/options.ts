import type { AskedType } from "../dns/recordTypes.ts"
import type { ProofLevel } from "../light/proof.ts"
import type { DropReason, EventKind, LiveKind, OperationKind } from "../names/events/kinds.ts"
import type { NetworkName } from "../protocol/networks.ts"
import type { SearchKey } from "../values/searchable.ts"

/**
 * Configuration, options, filters and live changes of `NameClient` and of `svcd/promise`. They do not use Effect, which
 * a program with `svcd/promise` need not have.
 */

export interface ResolveOptions {
  /** Fails with `NotSynced` unless the node is synced. */
  readonly requireSynced?: boolean | undefined
  /** Fails with `NotSynced` unless names are known up to this height. */
  readonly minHeight?: number | undefined
  /** Fails with `NotSynced` unless the answer has this proof; by default that of the configuration, else `work`. */
  readonly requireProof?: ProofLevel | undefined
}

/** The parts of a portable proof. */
export interface ProveOptions {
  /** Headers of the blocks after that of the newest operation, 0 to 24, as far as there are blocks; 6 by default. */
  readonly headers?: number | undefined
  /**
   * Whether to prove all operations since the registration, as far as the node has their blocks, so that a reader can check
   * the owners' signatures.
   */
  readonly chain?: boolean | undefined
}

/** The type of records to resolve, such as `AAAA`, `TXT` or `TYPE65`. `ANY`: all types. */
export type DomainType = AskedType

/** A time limit: milliseconds, or with a unit. */
export type TimeLimit = number | `${number} ${"second" | "seconds" | "minute" | "minutes" | "hour" | "hours"}`

export interface ReadyOptions {
  /** The proof to wait for; by default that of the configuration, else `work`. */
  readonly proof?: ProofLevel | undefined
  /** Fails with `NotSynced` after this time, with what is missing. By default, there is no limit. */
  readonly within?: TimeLimit | undefined
}

export interface OperationOptions {
  /** The recipient of the name; by default an address of the wallet. */
  readonly address?: string | undefined
}

/** The steps of a registration, as they happen. */
export type RegistrationProgress =
  /**
   * The wallet stores the registration and sends NAME_NEW after a block, because too many of its payments are pending.
   */
  | { readonly step: "queued"; readonly reason: string }
  /** NAME_NEW was sent. `rand` is the salt, which the reference node does not store, for `name_firstupdate` by hand. */
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
   * Allows a name that is useless in its namespace, such as `d/UPPER`, which is not a domain. By default it is refused
   * (`InvalidRequest`) before it costs money.
   */
  readonly anyName?: boolean | undefined
  /**
   * The step to wait for: NAME_NEW is sent (`announced`, the default), NAME_FIRSTUPDATE is sent (`claimed`) or
   * confirmed (`registered`). The registration continues in any case.
   */
  readonly waitFor?: "announced" | "claimed" | "registered" | undefined
  /** Called at each step. */
  readonly onProgress?: ((progress: RegistrationProgress) => void) | undefined
}

export interface UpdateOptions extends OperationOptions {
  /** The step to wait for: the transaction is sent (`sent`, the default) or confirmed (`confirmed`). */
  readonly waitFor?: "sent" | "confirmed" | undefined
}

export interface ListFilter {
  /** The prefix of the names, such as `d/`; empty for all. */
  readonly namespace?: string | undefined
  /** Maximum number of names; 100 by default. */
  readonly limit?: number | undefined
  /** Fails with `NotSynced` unless each record has this proof; by default that of the configuration, else `work`. */
  readonly requireProof?: ProofLevel | undefined
}

/** The conditions of a search, at least one. All of them hold. */
export interface FindFilter {
  /** Part of the name or of the value, case-insensitive, at least three characters. */
  readonly text?: string | undefined
  /** An item of the value, even below `map`; alone or with its `value`. */
  readonly key?: SearchKey | undefined
  readonly value?: string | undefined
  /** The address of the owner. */
  readonly owner?: string | undefined
  /** The prefix of the names, such as `d/`. */
  readonly namespace?: string | undefined
  /** The lowest block height of the last operation. */
  readonly changedSince?: number | undefined
  /** The name expires within this many blocks unless renewed. */
  readonly expiresWithin?: number | undefined
  /** Whether to find expired names, too. */
  readonly includeExpired?: boolean | undefined
  /** Fails with `NotSynced` unless each record has this proof; by default that of the configuration, else `work`. */
  readonly requireProof?: ProofLevel | undefined
}

/** The kind of a change to a name. */
export type ChangeType = EventKind

/** The wanted changes: those that fit each given part. A part with several values fits if one does. */
export interface ChangeFilter {
  /** Changes after this cursor: `"0"` for all from the first block on, `undefined` for those from now on. */
  readonly from?: string | undefined
  /** All but `expiring` by default. `undone` is always included. */
  readonly types?: ReadonlyArray<ChangeType> | undefined
  /** Whole names. */
  readonly name?: string | ReadonlyArray<string> | undefined
  /** The prefix of the names; empty for all. */
  readonly namespace?: string | ReadonlyArray<string> | undefined
  /** Addresses of owners, before or after the change. */
  readonly owner?: string | ReadonlyArray<string> | undefined
  /**
   * Only changes of names that the node watches (`name_watch`), or that its wallets own before or after the change;
   * with both, of either. The current list and wallets decide, even for past changes. A light client has neither.
   */
  readonly watched?: boolean | undefined
  readonly mine?: boolean | undefined
}

/** Live changes come only on request and have no cursor. */
export type LiveType = LiveKind

/** As `ChangeFilter`, with live types. If it has only live types, the only changes in blocks are `undone`. */
export interface LiveFilter extends Omit<ChangeFilter, "types"> {
  readonly types: ReadonlyArray<ChangeType | LiveType>
}

/** An unconfirmed operation. No miner has to include it. */
export interface UnconfirmedChange {
  /** The type of the change once it is in a block. */
  readonly operation: OperationKind
  readonly name: string
  /** As in `NameRecord`. */
  readonly value: string
  readonly valueHex?: string
  /** The next owner's address; empty if the script has none. */
  readonly address: string
  /** 64 hex digits, the same as in the record once it is in a block. */
  readonly txid: string
}

/**
 * A change of the mempool or of the node. It has no cursor and cannot be requested again. Each new connection begins
 * with `pending_reset` and all operations in the mempool.
 */
export type LiveChange =
  /** The operation entered the mempool. It may do so repeatedly. */
  | UnconfirmedChange & { readonly type: "pending" }
  /** It left the mempool unconfirmed. */
  | UnconfirmedChange & { readonly type: "pending_dropped"; readonly reason: DropReason }
  /** Forget all pending operations. The current ones follow. */
  | { readonly type: "pending_reset" }
  /** The subscriber has all changes, and names are known up to the network's tip at this height. */
  | { readonly type: "synced"; readonly height: number }

/** The source of a client's answers: `auto` takes a daemon if one answers, else it runs a node in this process. */
export const ModeAuto = "auto"
export const ModeEmbedded = "embedded"
export const ModeDaemon = "daemon"

export type Mode = typeof ModeAuto | typeof ModeEmbedded | typeof ModeDaemon

/**
 * The configuration of a client (docs/embedding.md) that both entries share. Every field is optional. `Secret` is the
 * type of a password, `Time` that of a time limit.
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
  /** The wallet to use if there are several; the default one unless set. */
  readonly wallet?: string | undefined
  /** Daemon: the time for one call with its retries, in milliseconds unless it has a unit; 30 seconds by default. */
  readonly timeout?: Time | undefined
  /** Embedded: no wallet, names can only be resolved. */
  readonly disableWallet?: boolean | undefined
  /**
   * Embedded: `light` answers from headers and the last blocks alone, within a minute, without a wallet; `full` checks
   * the whole chain. The default is `light` in a directory without chain and wallet, on a network with anchors, unless
   * another field asks for a wallet or the proof `full`.
   */
  readonly sync?: "light" | "full" | undefined
  /**
   * Embedded: the block at which a light client's headers begin, as `HEIGHT:HASH:WORK`, with the total work of the
   * chain up to it in hex. `none` begins at genesis. The default is the network's anchors.
   */
  readonly anchor?: string | undefined
  /**
   * Embedded: a light client keeps what `proveName` needs, some 75 MB, and fetches its blocks again if it has them without.
   * Off by default; a client with the whole chain needs no such setting.
   */
  readonly nameProofs?: boolean | undefined
  /** The proof that answers need unless a call says otherwise; `work` by default. */
  readonly requireProof?: ProofLevel | undefined
  /** Embedded: unlocks an encrypted wallet for as long as the client is open. */
  readonly walletPassphrase?: Secret | undefined
}
