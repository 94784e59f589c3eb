/**
 * A rule refuses. A check returns `undefined` where all is well, else a `Reject`; it does not throw.
 */
export interface Reject {
  /** The reference node's own reason, spelled as it spells it (protocol.md appendix B). */
  readonly reason: string
  /** What the reference node adds for people, if anything. */
  readonly detail?: string
  readonly kind: RejectKind
}

/**
 * - `consensus`: the thing is invalid for everybody and for ever; whoever sent it is to blame.
 * - `mutated`: the bytes are not those of the block that the hash names (wrong merkle root, wrong proof, wrong
 *   witness); the hash must not be remembered as invalid. The sender is to blame.
 * - `header`: the proof of work or a rule about the header alone is broken.
 * - `missing-prev`: the predecessor is unknown.
 * - `invalid-prev`: the predecessor is invalid.
 * - `time-future`: too far in the future for now; may be valid later, nobody is to blame.
 */
export type RejectKind = "consensus" | "mutated" | "header" | "missing-prev" | "invalid-prev" | "time-future"

/** A refusal for everybody and for ever. */
export const reject = (reason: string, detail?: string): Reject =>
  detail === undefined ? { reason, kind: "consensus" } : { reason, kind: "consensus", detail }

/** A refusal of another kind. */
export const rejectAs = (kind: RejectKind, reason: string, detail?: string): Reject =>
  detail === undefined ? { reason, kind } : { reason, kind, detail }
