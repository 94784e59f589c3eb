/**
 * The proof level of an answer about a name (docs/light.md). `work`: the operation is in the chain with the most work
 * since the anchor. `signatures`: in addition, each owner in the window signed the transfer to the next. `full`: all
 * rules since genesis.
 */
export type ProofLevel = "work" | "signatures" | "full"

/** From the weakest to the strongest. */
export const PROOF_LEVELS = ["work", "signatures", "full"] as const satisfies ReadonlyArray<ProofLevel>

export const isProved = ({ proof }: { readonly proof: ProofLevel }, required: ProofLevel): boolean =>
  PROOF_LEVELS.indexOf(proof) >= PROOF_LEVELS.indexOf(required)
