import * as Schema from "effect/Schema"

/**
 * - `consensus`: no block may hold it.
 * - `policy`: a block may, we relay no such thing.
 * - `witness`: something is wrong with the witness, which may not be the one that its maker gave it: nothing is said
 *   against the txid.
 * - `missing-inputs`: it spends what is not there, or not yet.
 * - `conflict`: it is here, mined or in the pool, or stands against something that is.
 * - `mempool-full`: it pays less than the pool asks for now.
 * - `premature`: it cannot be in the next block, but in a later one.
 */
export const RejectionKind = Schema.Literal(
  "consensus",
  "policy",
  "witness",
  "missing-inputs",
  "conflict",
  "mempool-full",
  "premature"
)

export type RejectionKind = typeof RejectionKind.Type

/** A transaction that the mempool does not take. */
export class TransactionRejected extends Schema.TaggedError<TransactionRejected>()("TransactionRejected", {
  /** As people see it. */
  txid: Schema.String,
  /** The reference node's own reason (reference/protocol.md 5.5, appendix B). */
  reason: Schema.String,
  detail: Schema.optional(Schema.String),
  kind: RejectionKind
}) {
  override get message(): string {
    return `transaction ${this.txid} is refused: ${this.reason}${this.detail === undefined ? "" : `, ${this.detail}`}`
  }
}
