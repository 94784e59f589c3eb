import * as Data from "effect/Data"
import type { Cursor } from "./write/Follower.ts"

/** What happened to the best chain; published after it was stored and the followers know. */
export type ChainEvent = Data.TaggedEnum<{
  /** A block became the tip. */
  BlockConnected: {
    readonly block: Cursor
    readonly transactions: number
    /** Whether it came from a file and not from the network or a caller. */
    readonly imported: boolean
  }
  /** The tip was taken back. */
  BlockDisconnected: { readonly block: Cursor }
}>

export const ChainEvent = Data.taggedEnum<ChainEvent>()
