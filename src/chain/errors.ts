import * as Schema from "effect/Schema"

/** A block or header that violates a rule. `reason` is the reference node's. */
export class BlockRejected extends Schema.TaggedError<BlockRejected>()("BlockRejected", {
  /** In display order. */
  hash: Schema.String,
  reason: Schema.String,
  detail: Schema.optional(Schema.String)
}) {
  override get message(): string {
    return `block ${this.hash} is refused: ${this.reason}${this.detail === undefined ? "" : ` (${this.detail})`}`
  }
}

export class BlockNotFound extends Schema.TaggedError<BlockNotFound>()("BlockNotFound", {
  /** In display order. */
  hash: Schema.String
}) {
  override get message(): string {
    return `no block ${this.hash} is known`
  }
}

/** The header is known, but the block is not stored: not fetched yet, or lost. */
export class BlockUnavailable extends Schema.TaggedError<BlockUnavailable>()("BlockUnavailable", {
  hash: Schema.String,
  height: Schema.Number
}) {
  override get message(): string {
    return `block ${this.hash} at height ${this.height} is not stored`
  }
}

export class ImportFailed extends Schema.TaggedError<ImportFailed>()("ImportFailed", {
  file: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `cannot import ${this.file}: ${this.reason}`
  }
}
