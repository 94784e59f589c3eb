import * as Schema from "effect/Schema"
import { quoted } from "../base/safeText.ts"
import { lasting } from "../base/verdict.ts"
import { type Bytes, fromHex } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { decodeText, printable, textOrHex } from "../protocol/nameText.ts"

/** The name in an error. Not called `name`, which is the class of an `Error`. */
export const REQUESTED = {
  /** Bytes that are not UTF-8 show as U+FFFD. */
  requested: Schema.String,
  /** Hexadecimal, if the name is not UTF-8. */
  requestedHex: Schema.optional(Schema.String)
}

interface Requested {
  readonly requested: string
  readonly requestedHex?: string | undefined
}

export const requestedName = (name: Bytes): Requested => {
  const { hex, text } = textOrHex(name)
  return hex === undefined ? { requested: text } : { requested: text, requestedHex: hex }
}

export const requestedText = ({ requested, requestedHex }: Requested): string => {
  const bytes = requestedHex === undefined ? decodeText(requested, "utf8") : fromHex(requestedHex)
  return bytes === undefined ? quoted(requested) : printable(bytes)
}

/** No record: the name was never registered, or its registration is not in a block yet. */
export class NameNotFound extends Schema.TaggedError<NameNotFound>()("NameNotFound", REQUESTED, lasting(404)) {
  override get message(): string {
    return `name not found: ${requestedText(this)}`
  }
}

export class NameHashNotFound extends Schema.TaggedError<NameHashNotFound>()("NameHashNotFound", {
  /** In display order. */
  requested: Schema.String
}) {
  override get message(): string {
    return `name hash not found: ${this.requested}`
  }
}

/** The name was registered, but its owner did not renew it in time. */
export class NameExpired extends Schema.TaggedError<NameExpired>()("NameExpired", {
  ...REQUESTED,
  updateHeight: Schema.Int
}, lasting(410)) {
  override get message(): string {
    return `name expired: ${requestedText(this)}, last updated at height ${this.updateHeight}`
  }
}

export class WrongQuery extends Schema.TaggedError<WrongQuery>()("WrongQuery", {
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** names.db is not at the chain's tip, or blocks are missing, so the name may exist. */
export class NamesIncomplete extends Schema.TaggedError<NamesIncomplete>()("NamesIncomplete", {}) {
  override get message(): string {
    return "names.db is not at the tip of the chain: retry later"
  }
}

/** A reader of name events cannot continue from its cursor and must start over. */
export class CursorUnusable extends Schema.TaggedError<CursorUnusable>()("CursorUnusable", {
  cursor: Schema.String,
  why: Schema.Literal("damaged", "unknown", "future", "early", "pruned"),
  /** The oldest usable cursor. */
  oldest: Schema.String,
  /** For `future`, the height of the last known block, if the reader can tell. */
  height: Schema.optional(Schema.Int)
}, lasting(410)) {
  override get message(): string {
    const { cursor, height, oldest, why } = this
    const last = height === undefined ? "" : ` (${height})`
    const remedy = why === "future"
      ? "retry later if this node still lacks blocks; a cursor from another network never works"
      : `read everything again from cursor ${oldest}`
    return `no events from cursor ${JSON.stringify(cursor.slice(0, 64))}: ${REASONS[why]}${
      why === "future" ? last : ""
    }; ${remedy}`
  }
}

const REASONS = {
  damaged: "it is not a cursor of svcd",
  unknown: "its block is unknown, so it is from another network or another chain",
  future: "its block is above the node's last known block",
  early: "this node has no events from before its block",
  pruned: "its block left the best chain, and is no longer stored"
}

/** Why a name that is known cannot be proven, with the remedy. */
const UNPROVABLE = {
  pruned: "its block was pruned. Ask a node that keeps all blocks, or start without -prune and with -reindex",
  missing: "its block is not stored yet. Retry when the node has it",
  unkept: "the node keeps names without their blocks. Start it with -nameproofs, or nameProofs: true in a program",
  long: "it is too large for a proof. Ask for fewer headers, or read the name from a node of your own",
  none: "there are no blocks here. Ask a daemon with blocks"
}

/** The node knows the name, but does not store what a proof needs. */
export class ProofUnavailable extends Schema.TaggedError<ProofUnavailable>()("ProofUnavailable", {
  /** With the height of the operation that cannot be proven, and the remedy. */
  reason: Schema.String
}, lasting(409)) {
  override get message(): string {
    return this.reason
  }
}

export const unprovable = (height: Height, why: keyof typeof UNPROVABLE): ProofUnavailable =>
  new ProofUnavailable({ reason: `the operation at height ${height} cannot be proven: ${UNPROVABLE[why]}` })
