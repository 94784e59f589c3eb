import * as Data from "effect/Data"
import type { Cursor } from "./write/Follower.ts"

/** A change of the best chain, published after it is stored and the followers are notified. */
export type ChainEvent = Data.TaggedEnum<{
  BlockConnected: {
    readonly block: Cursor
    readonly transactions: number
    readonly imported: boolean
  }
  BlockDisconnected: { readonly block: Cursor }
}>

export const ChainEvent = Data.taggedEnum<ChainEvent>()
