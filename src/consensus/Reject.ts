/** A refusal by a rule. A check returns `undefined` on success, else a `Reject`; it does not throw. */
export interface Reject {
  /** The reference node's reason, in its spelling (protocol.md appendix B). */
  readonly reason: RejectReason
  /** The reference node's additional text, if any. */
  readonly detail?: string
  readonly kind: RejectKind
}

/**
 * - `consensus`: the object is permanently invalid, on every node. The sender misbehaves.
 * - `mutated`: the bytes are not those of the block that the hash names (wrong merkle root, wrong proof, wrong
 *   witness); the hash must not be marked invalid. The sender misbehaves.
 * - `header`: the proof of work or a rule about the header alone is broken.
 * - `missing-prev`: the predecessor is unknown.
 * - `invalid-prev`: the predecessor is invalid.
 * - `time-future`: too far in the future for now; may be valid later. No peer misbehaves.
 */
export type RejectKind = "consensus" | "mutated" | "header" | "missing-prev" | "invalid-prev" | "time-future"

/** A reason is made of words with hyphens, or is one word. A sentence is none: it belongs in `detail`. */
export type RejectReason = `${string}-${string}` | "version" | "scriptpubkey" | "datacarrier" | "dust"

/** A refusal of kind `consensus`: permanent, and the same on every node. */
export const reject = (reason: RejectReason, detail?: string): Reject =>
  detail === undefined ? { reason, kind: "consensus" } : { reason, kind: "consensus", detail }

export const rejectAs = (kind: RejectKind, reason: RejectReason, detail?: string): Reject =>
  detail === undefined ? { reason, kind } : { reason, kind, detail }
