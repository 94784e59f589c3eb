import * as Schema from "effect/Schema"

/** No record: the name was never registered, or its registration is not in a block yet. */
export class NameNotFound extends Schema.TaggedError<NameNotFound>()("NameNotFound", {
  /** The name as messages show it: `'d/example'` or `0x` and hex. */
  requested: Schema.String
}) {
  override get message(): string {
    return `name not found: ${this.requested}`
  }
}

/** Nobody ever registered a name with this hash. */
export class NameHashNotFound extends Schema.TaggedError<NameHashNotFound>()("NameHashNotFound", {
  /** As hashes are displayed. */
  requested: Schema.String
}) {
  override get message(): string {
    return `name hash not found: ${this.requested}`
  }
}

/** The name had an owner, who did not renew it in time. */
export class NameExpired extends Schema.TaggedError<NameExpired>()("NameExpired", {
  /** The name as messages show it. */
  requested: Schema.String,
  /** Height of its last operation. */
  updateHeight: Schema.Int
}) {
  override get message(): string {
    return `name expired: ${this.requested}, last updated at height ${this.updateHeight}`
  }
}

/** names.db does not hold the names of the chain's tip, or more blocks are to come: a name may exist all the same. */
export class NamesIncomplete extends Schema.TaggedError<NamesIncomplete>()("NamesIncomplete", {}) {
  override get message(): string {
    return "names are not known up to the tip of the chain: ask again later"
  }
}
