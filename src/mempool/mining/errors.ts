import * as Schema from "effect/Schema"

/** A block that was put together, and that no node would take. */
export class TemplateInvalid extends Schema.TaggedError<TemplateInvalid>()("TemplateInvalid", {
  /** The reference node's own reason (protocol.md, appendix B). */
  reason: Schema.String,
  detail: Schema.optional(Schema.String)
}) {
  override get message(): string {
    return `TestBlockValidity failed: ${this.reason}${this.detail === undefined ? "" : `, ${this.detail}`}`
  }
}

/** No nonce that was tried makes enough work. */
export class NoWorkFound extends Schema.TaggedError<NoWorkFound>()("NoWorkFound", {}) {
  override get message(): string {
    return "Failed to make block."
  }
}

/** A block of our own that the chain does not take. */
export class MinedBlockRefused extends Schema.TaggedError<MinedBlockRefused>()("MinedBlockRefused", {
  reason: Schema.String
}) {
  override get message(): string {
    return `ProcessNewBlock, block not accepted (${this.reason})`
  }
}

/** A hash that is not that of a block handed out for merged mining, or not any more. */
export class CandidateUnknown extends Schema.TaggedError<CandidateUnknown>()("CandidateUnknown", {}) {
  override get message(): string {
    return "block hash unknown"
  }
}
