import * as Data from "effect/Data"
import type { Cursor } from "../chain/write/Follower.ts"
import type { NameEntry } from "./NameEntry.ts"

export type NameEvent = Data.TaggedEnum<{
  /** An operation set the record of a name. */
  readonly Updated: { readonly record: NameEntry }
  /** The blocks above a block were disconnected: any name may have its earlier record again, or none. */
  readonly Rewound: { readonly to: Cursor }
}>
export const NameEvent = Data.taggedEnum<NameEvent>()
