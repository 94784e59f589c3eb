import * as Data from "effect/Data"
import type { Cursor } from "../chain/write/Follower.ts"
import type { NameRecord } from "./NameRecord.ts"

/** Something that was committed to names.db. */
export type NameEvent = Data.TaggedEnum<{
  /** An operation set the record of a name. */
  readonly Updated: { readonly record: NameRecord }
  /** Everything above a block is forgotten: any name may have its earlier record again, or none. */
  readonly Rewound: { readonly to: Cursor }
}>
export const NameEvent = Data.taggedEnum<NameEvent>()
