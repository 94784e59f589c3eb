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

/** names.db is not at the chain's tip, or blocks are missing: the name may exist. */
export class NamesIncomplete extends Schema.TaggedError<NamesIncomplete>()("NamesIncomplete", {}) {
  override get message(): string {
    return "names.db is not at the tip of the chain: retry later"
  }
}
