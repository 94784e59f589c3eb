import { BestHeader } from "../chain/index/BestHeader.ts"
import { type BlockIndex, GENESIS, NONE } from "../chain/index/BlockIndex.ts"
import type { Accepted } from "../chain/state/Accepted.ts"
import { blockWork, type HeaderPoint, permittedTransition } from "../consensus/difficulty.ts"
import { checkHeaderContext, checkProofOfWork } from "../consensus/header.ts"
import type { ChainAnchor, ConsensusParams } from "../consensus/params.ts"
import { type Reject, rejectAs } from "../consensus/Reject.ts"
import { type BlockHeader, decodeBlock } from "../protocol/block.ts"
import { equal } from "../protocol/bytes.ts"
import type { HeaderId, Height } from "../protocol/keys.ts"

/** The number of headers in a median time (consensus), all needed by the time rule. */
const MEDIAN_SPAN = 11

/**
 * The required share of the mean work of blocks up to the last anchor. Otherwise a peer could fill the tree with
 * headers of minimum difficulty between the anchors, and after one whose own difficulty is unknown. On testnet, which
 * allows late blocks of minimum difficulty, it only limits their number.
 */
const LEAST_PART = 16n

/** The mean work of a block between the anchors, or up to a single anchor. */
const meanWork = (first: ChainAnchor, last: ChainAnchor): bigint =>
  first === last
    ? last.chainwork / BigInt(Math.max(1, last.height))
    : (last.chainwork - first.chainwork) / BigInt(last.height - first.height)

/** Headers allowed beyond those plausible by the clock, and a factor to leave space for branches. */
const SPARE = { headers: 20_000, factor: 2 }

const nothingMissing = { bars: () => false }

/**
 * The headers of a light chain from the first anchor on, or from genesis. Up to the last anchor, whose hash fixes them,
 * only links and proofs of work are checked. Above it, all rules apply that do not look back before the first anchor; a
 * retarget that does is checked against the range of possible changes.
 */
export class LightHeaders {
  readonly index: BlockIndex
  readonly params: ConsensusParams
  readonly best: BestHeader
  /** Seconds since 1970. */
  readonly now: () => number
  private readonly fixed: ChainAnchor | undefined
  private readonly genesisTime: number
  /** The least work of a block up to the last anchor, and after a block of unknown difficulty. */
  private readonly leastWork: bigint

  /** `index`: empty, or loaded from an earlier run. `now`: seconds since 1970. */
  constructor(index: BlockIndex, params: ConsensusParams, now: () => number) {
    const genesis = decodeBlock(params.network.genesisBlock)
    const [first] = params.anchors
    this.index = index
    this.params = params
    this.now = now
    this.fixed = params.anchors.at(-1)
    this.genesisTime = genesis.header.time
    const [from, to] = [first, this.fixed]
    this.leastWork = from === undefined || to === undefined ? 0n : meanWork(from, to) / LEAST_PART
    if (index.count === 0) {
      if (first === undefined) index.add(genesis.header, NONE)
      else index.plant(first)
    }
    this.best = new BestHeader(index, nothingMissing)
    this.best.find(this.root)
  }

  /** The header of the first anchor, or genesis. */
  readonly root: HeaderId = GENESIS

  /** Offers a header. `checked`: the caller has checked its proof of work. */
  accept(header: BlockHeader, checked = false): Accepted {
    const { index } = this
    const known = index.find(header.header.hash)
    if (known !== NONE) {
      return index.isFailed(known)
        ? { type: "rejected", reject: rejectAs("invalid-prev", "duplicate-invalid") }
        : { type: "known", id: known }
    }
    const reject = (checked ? undefined : checkProofOfWork(header, this.params)) ?? this.misplaced(header)
    if (reject !== undefined) return { type: "rejected", reject }
    const id = index.add(header.header, index.find(header.header.prevHash))
    this.best.consider(id)
    return { type: "new", id }
  }

  /** Checks a header against its predecessor and the anchors, without its proof. */
  misplaced({ header }: BlockHeader): Reject | undefined {
    const { index } = this
    const prev = index.find(header.prevHash)
    if (prev === NONE) return rejectAs("missing-prev", "prev-blk-not-found")
    if (index.isFailed(prev)) return rejectAs("invalid-prev", "bad-prevblk")
    const isPoor = this.leastWork === 0n || blockWork(header.bits) < this.leastWork
    // A header with enough work needs no limit. Poor ones must not displace others.
    if (isPoor && index.count >= this.mostHeaders) return rejectAs("time-future", "too-many-headers")
    const height = index.height(prev) + 1
    const isFixed = this.fixed !== undefined && height <= this.fixed.height
    const mayBePoor = this.leastWork === 0n || this.params.minDifficultySince !== undefined
    if (isPoor && !mayBePoor && (isFixed || !this.knows(height - 1))) {
      return rejectAs("header", "bad-diffbits", "incorrect proof of work")
    }
    if (this.fixed === undefined || !isFixed) return this.misplacedAbove(header, prev)
    const isForeign = height === this.fixed.height && !equal(header.hash, this.fixed.hash)
    return isForeign ? rejectAs("header", "bad-fork-prior-to-checkpoint", "the chain lacks the anchor") : undefined
  }

  private misplacedAbove(header: BlockHeader["header"], prev: HeaderId): Reject | undefined {
    const { index, params } = this
    // What an anchor does not tell is taken from the header itself.
    const pointAt = (height: Height): HeaderPoint => {
      const id = index.ancestor(prev, height)
      return this.knows(height)
        ? { height, time: index.time(id), bits: index.bits(id) }
        : { height, time: 0, bits: header.bits }
    }
    const before = pointAt(index.height(prev))
    const isTimed = this.knows(before.height - MEDIAN_SPAN + 1)
    const hasPeriod = this.knows(before.height - params.retargetInterval)
    if (!hasPeriod) {
      const change = { height: before.height + 1, oldBits: before.bits, newBits: header.bits }
      if (!permittedTransition(params, change)) return rejectAs("header", "bad-diffbits", "incorrect proof of work")
    }
    // Whether a block is late depends on the time of its predecessor.
    const rules = this.knows(before.height) ? params : { ...params, minDifficultySince: undefined }
    const isRetarget = (before.height + 1) % params.retargetInterval === 0
    return checkHeaderContext({
      header,
      prev: isRetarget && !hasPeriod ? { ...before, bits: header.bits } : before,
      medianTimePast: isTimed ? index.medianTimePast(prev) : -Infinity,
      ancestor: pointAt,
      params: hasPeriod ? rules : { ...rules, noRetargeting: true },
      now: this.now()
    })
  }

  /** Whether all fields of the headers at a height are known, unlike those of an anchor or before it. */
  private knows(height: Height): boolean {
    const root = this.index.height(this.root)
    return root === 0 || height > root
  }

  /** Limits what peers can make the node keep, wherever their branches begin. */
  private get mostHeaders(): number {
    const { index, params } = this
    const expected = (this.now() - this.genesisTime) / params.targetSpacing - index.height(this.root)
    return SPARE.factor * Math.max(0, expected) + SPARE.headers
  }
}
