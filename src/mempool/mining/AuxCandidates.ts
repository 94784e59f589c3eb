import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import type { Header } from "../../protocol/header.ts"
import type { BlockTemplate } from "./blockTemplate.ts"

export interface AuxCandidate {
  readonly template: BlockTemplate
  /** With the merged-mining flag. The parent must commit to its hash. */
  readonly header: Header
}

/** When a candidate was made, and the state of the pool then. */
export interface Made {
  /** Seconds since 1970. */
  readonly time: number
  readonly changes: number
}

/** Candidates to keep; the oldest are dropped first. */
export const MAX_CANDIDATES = 1_000

/** Seconds for which a candidate is reused although the pool has changed. */
const FRESH_SECONDS = 60

interface Kept extends Made {
  readonly candidate: AuxCandidate
  readonly script: string
}

/**
 * The candidates of merged mining, all on one tip. They are dropped when the first one on another tip is made, not when
 * the tip moves, so that a miner who submits a proof twice gets a success twice. Source: upstream
 * `rpc/auxpow_miner.cpp`.
 */
export class AuxCandidates {
  private readonly byHash = new Map<string, Kept>()
  private readonly latest = new Map<string, Kept>()
  private tip = ""

  find(tip: Bytes, script: Bytes, now: Made): AuxCandidate | undefined {
    const kept = this.tip === binaryString(tip) ? this.latest.get(binaryString(script)) : undefined
    if (kept === undefined) return undefined
    return kept.changes === now.changes || now.time - kept.time <= FRESH_SECONDS ? kept.candidate : undefined
  }

  add(candidate: AuxCandidate, script: Bytes, made: Made): void {
    const tip = binaryString(candidate.template.prevHash)
    if (tip !== this.tip) this.clear()
    this.tip = tip
    const kept: Kept = { candidate, ...made, script: binaryString(script) }
    this.byHash.set(binaryString(candidate.header.hash), kept)
    this.latest.set(kept.script, kept)
    for (const [hash, oldest] of this.byHash) {
      if (this.byHash.size <= MAX_CANDIDATES) break
      this.byHash.delete(hash)
      if (this.latest.get(oldest.script) === oldest) this.latest.delete(oldest.script)
    }
  }

  /** The candidate with a hash in wire order. */
  get(hash: Bytes): AuxCandidate | undefined {
    return this.byHash.get(binaryString(hash))?.candidate
  }

  get size(): number {
    return this.byHash.size
  }

  private clear(): void {
    this.byHash.clear()
    this.latest.clear()
  }
}
