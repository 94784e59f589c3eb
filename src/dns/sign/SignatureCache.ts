import type { RrsigRecord } from "./signSet.ts"

interface KeptSignature {
  readonly signature: RrsigRecord
  /** Seconds since 1970. */
  readonly renewAt: number
}

/** A Map entry with its strings and objects, measured on Node 24. */
const ENTRY_BYTES = 500

/**
 * Signatures by what they sign, within a number of bytes. Two generations: a signature that nobody asks for while the
 * younger one fills is forgotten. Those of random questions thus pass through without driving others out.
 */
export class SignatureCache {
  private young = new Map<string, KeptSignature>()
  private old = new Map<string, KeptSignature>()
  private youngBytes = 0
  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  get(signed: string, now: number): RrsigRecord | undefined {
    const young = this.young.get(signed)
    const kept = young ?? this.old.get(signed)
    // The clock may have been set back.
    if (kept === undefined || now >= kept.renewAt || now < kept.signature.inception) return undefined
    if (young === undefined) this.keep(signed, kept)
    return kept.signature
  }

  keep(signed: string, kept: KeptSignature): void {
    const isRenewed = this.young.has(signed)
    this.young.set(signed, kept)
    if (isRenewed) return
    this.youngBytes += signed.length + ENTRY_BYTES
    if (this.youngBytes <= this.limit / 2) return
    this.old = this.young
    this.young = new Map()
    this.youngBytes = 0
  }

  clear(): void {
    this.young.clear()
    this.old.clear()
    this.youngBytes = 0
  }
}
