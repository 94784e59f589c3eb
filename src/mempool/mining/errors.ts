import * as Schema from "effect/Schema"

export class TemplateInvalid extends Schema.TaggedError<TemplateInvalid>()("TemplateInvalid", {
  /** The reference node's own reason (protocol.md, appendix B). */
  reason: Schema.String,
  detail: Schema.optional(Schema.String)
}) {
  override get message(): string {
    return `TestBlockValidity failed: ${this.reason}${this.detail === undefined ? "" : `, ${this.detail}`}`
  }
}

/** No tried nonce meets the target. */
export class NoWorkFound extends Schema.TaggedError<NoWorkFound>()("NoWorkFound", {}) {
  override get message(): string {
    return "Failed to make block."
  }
}

export class MinedBlockRefused extends Schema.TaggedError<MinedBlockRefused>()("MinedBlockRefused", {
  reason: Schema.String
}) {
  override get message(): string {
    return `ProcessNewBlock, block not accepted (${this.reason})`
  }
}

export class CandidateUnknown extends Schema.TaggedError<CandidateUnknown>()("CandidateUnknown", {}) {
  override get message(): string {
    return "block hash unknown"
  }
}
