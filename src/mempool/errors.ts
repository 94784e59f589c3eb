import * as Schema from "effect/Schema"

/**
 * - `consensus`: no block may hold it.
 * - `policy`: a block may hold it, but this node does not relay it.
 * - `witness`: its witness is invalid, and a relay may have replaced the original one: the txid is not to be blamed.
 * - `missing-inputs`: it spends outputs that are missing, or not there yet.
 * - `conflict`: it is known already, confirmed or in the pool, or conflicts with a transaction that is.
 * - `underpaid`: it pays less than the pool requires now; with a child that pays for both it may be accepted.
 * - `premature`: it cannot be in the next block, but in a later one.
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

/** The reject reason of a transaction as the reference node prints it. Source: upstream `ValidationState::ToString`. */
export const rejectionText = ({ detail, reason }: Pick<TransactionRejected, "detail" | "reason">): string =>
  detail === undefined || detail === "" ? reason : `${reason}, ${detail}`

/** A transaction that the mempool refuses. */
export class TransactionRejected extends Schema.TaggedError<TransactionRejected>()("TransactionRejected", {
  /** In display order, as hex. */
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
