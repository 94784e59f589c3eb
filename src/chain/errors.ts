import * as Schema from "effect/Schema"

/** A block or header that breaks a rule. `reason` is the reference node's own. */
export class BlockRejected extends Schema.TaggedError<BlockRejected>()("BlockRejected", {
  /** As people see it. */
  hash: Schema.String,
  reason: Schema.String,
  detail: Schema.optional(Schema.String)
}) {
  override get message(): string {
    return `block ${this.hash} is refused: ${this.reason}${this.detail === undefined ? "" : ` (${this.detail})`}`
  }
}

/** No block or header with this hash is known. */
export class BlockNotFound extends Schema.TaggedError<BlockNotFound>()("BlockNotFound", {
  /** As people see it. */
  hash: Schema.String
}) {
  override get message(): string {
    return `no block ${this.hash} is known`
  }
}

/** The header is known, the block's bytes are not here: not fetched yet, or lost. */
export class BlockUnavailable extends Schema.TaggedError<BlockUnavailable>()("BlockUnavailable", {
  hash: Schema.String,
  height: Schema.Number
}) {
  override get message(): string {
    return `block ${this.hash} at height ${this.height} is not stored`
  }
}

/** A file to import from cannot be used. */
export class ImportFailed extends Schema.TaggedError<ImportFailed>()("ImportFailed", {
  file: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `cannot import ${this.file}: ${this.reason}`
  }
}
