import * as Schema from "effect/Schema"

/** No record: the name was never registered, or its registration is not in a block yet. */
export class NameNotFound extends Schema.TaggedError<NameNotFound>()("NameNotFound", {
  /** As messages show it: `'d/example'` or `0x` and hex. */
  requested: Schema.String
}) {
  override get message(): string {
    return `name not found: ${this.requested}`
  }
}

/** No name with this hash was ever registered. */
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
  requested: Schema.String,
  updateHeight: Schema.Int
}) {
  override get message(): string {
    return `name expired: ${this.requested}, last updated at height ${this.updateHeight}`
  }
}

/** A search that cannot be answered as it was asked. */
export class WrongQuery extends Schema.TaggedError<WrongQuery>()("WrongQuery", {
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** names.db is not at the chain's tip, or blocks are missing: the name may exist. */
export class NamesIncomplete extends Schema.TaggedError<NamesIncomplete>()("NamesIncomplete", {}) {
  override get message(): string {
    return "names.db is not at the tip of the chain: retry later"
  }
}

/** A reader of name events cannot go on from its cursor: it has to begin again. */
export class CursorUnusable extends Schema.TaggedError<CursorUnusable>()("CursorUnusable", {
  cursor: Schema.String,
  why: Schema.Literal("damaged", "unknown", "future", "early", "pruned"),
  /** The oldest cursor from which events can be read here. */
  oldest: Schema.String,
  /** Of `future`: the height of the last block that is known here, if the reader can tell. */
  height: Schema.optional(Schema.Int)
}) {
  override get message(): string {
    const { cursor, height, oldest, why } = this
    const last = height === undefined ? "" : ` (${height})`
    const remedy = why === "future"
      ? "ask again later if blocks are still missing here; a cursor of another network is of no use"
      : `read everything again from cursor ${oldest}`
    return `no events from cursor ${JSON.stringify(cursor.slice(0, 64))}: ${REASONS[why]}${
      why === "future" ? last : ""
    }; ${remedy}`
  }
}

const REASONS = {
  damaged: "it is not a cursor of svcd",
  unknown: "its block is not known here, so it is of another network or another chain",
  future: "its block is above the last one that is known here",
  early: "events before its block are not known here",
  pruned: "its block left the best chain, and is not stored any more"
}
