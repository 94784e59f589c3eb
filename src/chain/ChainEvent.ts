import * as Data from "effect/Data"
import type { Cursor } from "./write/Follower.ts"

/** A change of the best chain. It is published after it was stored and the followers were notified. */
export type ChainEvent = Data.TaggedEnum<{
  BlockConnected: {
    readonly block: Cursor
    readonly transactions: number
    /** Whether the block came from a file, not from a peer or a caller. */
    readonly imported: boolean
  }
  BlockDisconnected: { readonly block: Cursor }
}>

export const ChainEvent = Data.taggedEnum<ChainEvent>()
