import * as Context from "effect/Context"
import type { NameEncoding } from "../protocol/nameText.ts"

/** What the operator decided about answers. */
export class NodeOptions extends Context.Tag("svcd/NodeOptions")<NodeOptions, {
  readonly nameEncoding: NameEncoding
  readonly valueEncoding: NameEncoding
  /** Whether `name_show` answers for expired names without being told to. */
  readonly allowExpired: boolean
  /** Whether `name_history` may be asked. The history itself is always kept. */
  readonly nameHistory: boolean
  /** Whether names may be asked for by their hash. */
  readonly nameHashIndex: boolean
}>() {}
