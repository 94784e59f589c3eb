import * as Schema from "effect/Schema"

/**
 * - `consensus`: no block may contain it.
 * - `policy`: a block may contain it, but this node does not relay it.
 * - `witness`: its witness is invalid but may have been replaced by a relay, so the txid is not to blame.
 * - `missing-inputs`: it spends missing outputs, which may still arrive.
 * - `conflict`: it is known, confirmed or in the pool, or conflicts with a transaction that is.
 * - `underpaid`: it pays less than the pool requires now. A child that pays for both may help.
 * - `premature`: it can only be in a later block than the next.
 */
export const RejectionKind = Schema.Literal(
  "consensus",
  "policy",
  "witness",
  "missing-inputs",
  "conflict",
  "underpaid",
  "premature"
)

export type RejectionKind = typeof RejectionKind.Type

/** The reject reason as the reference node prints it. Source: upstream `ValidationState::ToString`. */
export const rejectionText = ({ detail, reason }: Pick<TransactionRejected, "detail" | "reason">): string =>
  detail === undefined || detail === "" ? reason : `${reason}, ${detail}`

export class TransactionRejected extends Schema.TaggedError<TransactionRejected>()("TransactionRejected", {
  /** Hex in display order. */
  txid: Schema.String,
  /** The reference node's reason (reference/protocol.md 5.5, appendix B). */
  reason: Schema.String,
  detail: Schema.optional(Schema.String),
  kind: RejectionKind
}) {
  override get message(): string {
    return `transaction ${this.txid} is refused: ${rejectionText(this)}`
  }
}
