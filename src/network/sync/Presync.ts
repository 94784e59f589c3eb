import { sipHashHalves, type SipKey } from "../../base/siphash.ts"
import { blockWork, permittedTransition } from "../../consensus/difficulty.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { MAX_FUTURE_BLOCK_TIME } from "../../consensus/readerParams.ts"
import type { BlockHeader } from "../../protocol/block.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import type { NetworkName } from "../../protocol/networks.ts"

/** See reference/protocol.md 1.1, 6.7. */
export interface PresyncParameters {
  /** One header in each period has a stored bit. */
  readonly period: number
  /** Headers held back in the second pass until as many more have arrived. */
  readonly buffer: number
}

/** Upstream `kernel/chainparams.cpp`, `HeadersSyncParams`. */
export const presyncParameters: Readonly<Record<NetworkName, PresyncParameters>> = {
  mainnet: { period: 641, buffer: 15_218 },
  testnet: { period: 673, buffer: 14_460 },
  regtest: { period: 275, buffer: 7_017 }
}

/** The known header from which the peer's chain branches off. */
export interface PresyncStart {
  /** Wire order. */
  readonly hash: Bytes
  readonly height: number
  /** `undefined` for an anchor, whose difficulty is unknown: the header after it may have any. */
  readonly bits: number | undefined
  readonly chainwork: bigint
  /** Seconds since 1970. */
  readonly medianTimePast: number
}

export interface PresyncOptions {
  readonly params: ConsensusParams
  readonly parameters: PresyncParameters
  readonly start: PresyncStart
  /** From this chain work on, a chain is worth storing. */
  readonly threshold: bigint
  /** Seconds since 1970. */
  readonly now: number
  readonly key: SipKey
  /** Secret index, from 0, of the header in each period whose bit is stored. */
  readonly offset: number
}

export interface PresyncStep {
  /** False if the chain breaks a rule, changed, or is impossibly long, which ends the pass. */
  readonly sound: boolean
  readonly released: ReadonlyArray<BlockHeader>
  /** Whether to ask the peer for headers after `next`. */
  readonly more: boolean
  /** Whether headers of the message after the released ones were skipped because the check ended at an anchor. */
  readonly cut: boolean
}

const OVER: PresyncStep = { sound: false, released: [], more: false, cut: false }

/** Maximum blocks per second under the time rules (one per second for six of the median's eleven blocks). */
const FASTEST = 6

/**
 * Checks a peer's chain twice before any of it is stored, so that headers without work cost no memory.
 *
 * ```
 * pass 1  walk the chain, store one keyed bit per period, until its work reaches the threshold, or to an anchor
 * pass 2  walk it again, compare the bits, hold `buffer` headers back and release the older ones
 * ```
 *
 * The hash of an anchor fixes all headers up to it, so these are worth storing; those after it are judged again. A peer
 * that sends another chain in the second pass must guess a bit per period. The caller checks proofs of work first.
 * Source: upstream `headerssync.cpp`.
 */
export class Presync {
  private readonly options: PresyncOptions
  private readonly mostBits: number
  /** The bits of pass 1, one per byte, and how many of them pass 2 has compared. */
  private readonly bits: Array<number> = []
  private compared = 0
  private pass: 1 | 2 = 1
  private height: number
  private hash: Bytes
  private lastBits: number | undefined
  private work: bigint
  private held: Array<BlockHeader> = []
  private enough = false

  constructor(options: PresyncOptions) {
    const { now, parameters, start } = options
    this.options = options
    const seconds = Math.max(now - start.medianTimePast, 0) + MAX_FUTURE_BLOCK_TIME
    this.mostBits = Math.floor((FASTEST * seconds) / parameters.period)
    this.height = start.height
    this.hash = start.hash
    this.lastBits = start.bits
    this.work = start.chainwork
  }

  /** The last checked header, in wire order, after which the peer is asked to continue. */
  get next(): Bytes {
    return this.hash
  }

  get lookedAt(): number {
    return this.height
  }

  continues(headers: ReadonlyArray<BlockHeader>): boolean {
    const first = headers[0]
    return first !== undefined && equal(first.header.prevHash, this.hash)
  }

  /** Headers must be linked. `full`: more are expected. */
  take(headers: ReadonlyArray<BlockHeader>, full: boolean): PresyncStep {
    if (!this.continues(headers)) return OVER
    return this.pass === 1 ? this.first(headers, full) : this.second(headers, full)
  }

  private first(headers: ReadonlyArray<BlockHeader>, full: boolean): PresyncStep {
    let isFixed = false
    for (const header of headers) {
      if (!this.step(header)) return OVER
      if (this.isMarked() && this.bits.push(this.bitOf(header)) > this.mostBits) return OVER
      isFixed = this.isAnchor()
      if (isFixed) break
    }
    const { start, threshold } = this.options
    if (this.work < threshold && !isFixed) return { sound: true, released: [], more: full, cut: false }
    this.pass = 2
    this.height = start.height
    this.hash = start.hash
    this.lastBits = start.bits
    this.work = start.chainwork
    return { sound: true, released: [], more: true, cut: false }
  }

  private second(headers: ReadonlyArray<BlockHeader>, full: boolean): PresyncStep {
    for (const [place, header] of headers.entries()) {
      if (!this.step(header)) return OVER
      if (this.work >= this.options.threshold) this.enough = true
      // The peer's chain may have grown: beyond the threshold there are no bits.
      if (!this.enough && this.isMarked() && this.bits[this.compared++] !== this.bitOf(header)) return OVER
      this.held.push(header)
      if (this.isAnchor()) {
        return { sound: true, released: this.held, more: false, cut: place < headers.length - 1 }
      }
    }
    const count = this.enough ? this.held.length : Math.max(this.held.length - this.options.parameters.buffer, 0)
    const released = this.held.slice(0, count)
    this.held = this.held.slice(count)
    return { sound: true, released, more: full && !(this.enough && this.held.length === 0), cut: false }
  }

  /** False if the header's difficulty is impossible. */
  private step({ header }: BlockHeader): boolean {
    if (!equal(header.prevHash, this.hash)) return false
    const change = { height: this.height + 1, oldBits: this.lastBits ?? header.bits, newBits: header.bits }
    if (!permittedTransition(this.options.params, change)) return false
    this.height++
    this.hash = header.hash
    this.lastBits = header.bits
    this.work += blockWork(header.bits)
    return true
  }

  /** Whether the hash of the last header is known beforehand. */
  private isAnchor(): boolean {
    return this.options.params.anchors.some(({ hash, height }) => height === this.height && equal(hash, this.hash))
  }

  private isMarked(): boolean {
    return this.height % this.options.parameters.period === this.options.offset
  }

  private bitOf({ header }: BlockHeader): number {
    return sipHashHalves(this.options.key, header.hash)[0] & 1
  }
}
