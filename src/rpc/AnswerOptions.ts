import * as Context from "effect/Context"
import type { ProofLevel } from "../light/proof.ts"
import type { NameEncoding } from "../protocol/nameText.ts"

/** The operator's settings for answers. */
export class AnswerOptions extends Context.Tag("svcd/AnswerOptions")<AnswerOptions, {
  readonly nameEncoding: NameEncoding
  readonly valueEncoding: NameEncoding
  /** Whether `name_show` returns expired names by default. */
  readonly allowExpired: boolean
  /** Whether `name_history` is allowed. The node always keeps the history itself. */
  readonly nameHistory: boolean
  /** What an answer about a name rests on at least, unless the call says it; `work` if undefined. */
  readonly requireProof?: ProofLevel
  /** Whether callers may look up names by their hash. */
  readonly nameHashIndex: boolean
  /** Seconds of a ban by `setban`, if the caller says nothing else; a day if undefined. */
  readonly banTime?: number
}>() {}
