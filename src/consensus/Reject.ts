/** A check returns `undefined` on success and a `Reject` otherwise; it never throws. */
export interface Reject {
  /** The reference node's reason, spelled as there (protocol.md appendix B). */
  readonly reason: RejectReason
  /** The reference node's additional text, if any. */
  readonly detail?: string
  readonly kind: RejectKind
}

/**
 * - `consensus`: permanently invalid on every node. The sender misbehaves.
 * - `mutated`: not the bytes of the block with this hash (wrong merkle root, proof or witness). The hash must not be
 *   marked invalid. The sender misbehaves.
 * - `header`: the proof of work or another rule about the header is broken.
 * - `missing-prev`: the predecessor is unknown.
 * - `invalid-prev`: the predecessor is invalid.
 * - `time-future`: too far in the future; may become valid. No peer misbehaves.
 */
export type RejectKind = "consensus" | "mutated" | "header" | "missing-prev" | "invalid-prev" | "time-future"

/** Hyphenated words, or one word. Sentences belong in `detail`. */
export type RejectReason = `${string}-${string}` | "version" | "scriptpubkey" | "datacarrier" | "dust"

/** Makes a `Reject` of kind `consensus`. */
export const reject = (reason: RejectReason, detail?: string): Reject =>
  detail === undefined ? { reason, kind: "consensus" } : { reason, kind: "consensus", detail }

export const rejectAs = (kind: RejectKind, reason: RejectReason, detail?: string): Reject =>
  detail === undefined ? { reason, kind } : { reason, kind, detail }
