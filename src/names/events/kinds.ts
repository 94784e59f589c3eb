/** The kinds of name events, as in interfaces. */

/** What an operation does to a name. */
export const OPERATION_KINDS = ["registered", "updated", "renewed", "transferred", "cleared"] as const

export type OperationKind = (typeof OPERATION_KINDS)[number]

/** All kinds of events, in the order of the documentation. */
export const EVENT_KINDS = [...OPERATION_KINDS, "expired", "expiring", "undone"] as const

export type EventKind = (typeof EVENT_KINDS)[number]

/** The contents of an event stream: besides name events, the blocks. */
export const STREAM_KINDS = [...EVENT_KINDS, "block"] as const

export type StreamKind = (typeof STREAM_KINDS)[number]

/** The kinds of live events that a reader can request. */
export const LIVE_KINDS = ["pending", "pending_dropped", "synced"] as const

export type LiveKind = (typeof LIVE_KINDS)[number]

/** Why an operation left the mempool, other than with a block. */
export const DROP_REASONS = ["replaced", "conflict", "expired", "evicted", "reorg"] as const

export type DropReason = (typeof DROP_REASONS)[number]

export const isLiveKind = (word: string): word is LiveKind => LIVE_KINDS.some((kind) => kind === word)
