import { type BlockIndex, NONE, Status } from "../chain/index/BlockIndex.ts"
import type { HeaderTree } from "../chain/index/HeaderTree.ts"
import { checkBlock, checkBlockBody, checkBlockContext } from "../consensus/block.ts"
import { expirationDepth } from "../consensus/expiry.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { type Reject, rejectAs } from "../consensus/Reject.ts"
import type { Block } from "../protocol/block.ts"
import type { HeaderId, Height, UnixTime } from "../protocol/keys.ts"
import { GivenUp } from "./GivenUp.ts"
import { type LightHeaders } from "./LightHeaders.ts"
import { lightTree } from "./lightTree.ts"
import { keptOf } from "./nameWindow.ts"
import { allSigned } from "./signatures.ts"
import { WaitingBlocks } from "./WaitingBlocks.ts"
import { bestOf, betterBranch, isInBranch, isLost, isStale, KEPT_EXPIRED, type WindowPlace } from "./windowBranches.ts"
import type { NewOperation, Proof, StoredLight, WindowChanges, WindowFile } from "./WindowFile.ts"
import type { KeptHead } from "./windowProofs.ts"
import { firstOfWindow } from "./windowStart.ts"

/** Bytes of blocks that may wait for their neighbours. Further ones are dropped and requested again later. */
const MOST_WAITING = 32 * 1024 * 1024

/** Seconds to wait for the window's first block while blocks with less work are available. */
const PATIENCE = 30

/**
 * A chain of headers with a window of names: of the blocks `low` to `high`, only the name operations are known.
 *
 * ```
 * root ───────── floor ······ low ═══════ high ······ best header
 *                   ◀── filled downwards    filled upwards ──▶
 * ```
 *
 * The window begins at the best header, grows down to `floor`, and follows the best chain. Methods are synchronous;
 * those that use the file throw `StorageFailure`.
 */
export class LightChain {
  readonly headers: LightHeaders
  readonly index: BlockIndex
  readonly params: ConsensusParams
  readonly tree: HeaderTree
  private readonly file: WindowFile
  private readonly mostWaiting: number
  /** The last block of the window, or the header where it begins; `NONE` before that. */
  private high: HeaderId = NONE
  /** Its first block; above `high` while there is none. */
  private low: Height = 0
  /** The lowest block that it wants. */
  private floor: Height = 0
  /** Checked blocks that are not adjacent to the window yet. */
  readonly waiting = new WaitingBlocks()
  /** From here to `reachedFrom`, all blocks are in the window or wait for it. */
  private reached: Height = 0
  private reachedFrom: HeaderId = NONE
  /** When the window began without a block, in seconds since 1970. */
  private since: UnixTime = 0
  /** Forgotten when the block arrives or the window is complete: blocks above it may come at any time. */
  private readonly givenUp: GivenUp
  /** Whether a branch with more work is too large for the waiting room, so that it cannot be taken at once. */
  private isStuck = false

  /** `mostWaiting`: bytes of blocks that may wait for their neighbours. */
  constructor(file: WindowFile, headers: LightHeaders, mostWaiting = MOST_WAITING) {
    this.file = file
    this.mostWaiting = mostWaiting
    this.headers = headers
    this.index = headers.index
    this.params = headers.params
    this.givenUp = new GivenUp(headers.index)
    const { window } = file.state() ?? {}
    if (window !== undefined) {
      this.high = this.index.find(window.high)
      if (this.high === NONE) throw file.corrupted("the window's last block is not among the headers")
      this.low = window.low
      this.floor = window.floor
    }
    this.tree = lightTree({
      headers,
      hasBlock: (id) => this.hasBlock(id),
      tip: () => this.range.high === NONE ? headers.root : this.high
    })
  }

  /** Begins the window at the best header, once a peer has sent all its headers. */
  begin(): void {
    const { headers: { best }, index } = this
    if (this.high !== NONE || index.chainwork(best.reachable) < this.params.minimumChainWork) return
    this.beginAt(best.reachable)
  }

  private beginAt(header: HeaderId): void {
    this.high = header
    this.low = this.height + 1
    this.floor = this.floorAt(this.height)
    this.since = this.headers.now()
  }

  /**
   * A peer may announce a header with work and withhold its block. So the window begins at the best available block if
   * that has as much work, or if no peer sends the first block for a while. The other one is followed when it arrives.
   */
  private concede(): void {
    const { high, index } = this
    if (high === NONE || this.range.high !== NONE || this.isFilled || this.waiting.has(high)) return
    const best = bestOf(index, this.waiting.ids)
    if (best === NONE || index.chainwork(best) < this.params.minimumChainWork) return
    const isPatient = this.headers.now() < this.since + PATIENCE
    if (isPatient && index.compareWork(best, high) < 0) return
    if (index.forkPoint(high, best) !== high) this.givenUp.add(high)
    this.beginAt(best)
  }

  private floorAt(tip: Height): Height {
    const first = firstOfWindow(tip, expirationDepth(tip, this.params))
    return Math.max(first, this.index.height(this.headers.root) + 1)
  }

  get height(): Height {
    return this.high === NONE ? this.index.height(this.headers.root) : this.index.height(this.high)
  }

  /**
   * Whether all blocks in which a name can live are known, so that a name without an operation does not exist. Not just
   * above an anchor, as names may live in earlier blocks.
   */
  get isComplete(): boolean {
    return this.isFilled && this.low <= this.oldestLiving
  }

  /** The lowest block that may have the newest operation of a living name. */
  private get oldestLiving(): Height {
    return Math.max(1, this.height - expirationDepth(this.height, this.params) + 1)
  }

  /**
   * Whether each owner within the window signed for the next one. An operation whose predecessor is below the window is
   * taken on trust, so the window must have its full length, which puts that operation under many blocks.
   */
  proves(proof: Proof): boolean {
    const { height } = this
    return this.isFilled && this.low <= firstOfWindow(height, expirationDepth(height, this.params)) && allSigned(proof)
  }

  /** Whether the window is complete down to the lowest block that it wants. */
  get isFilled(): boolean {
    return this.high !== NONE && this.low <= this.floor
  }

  private get place(): WindowPlace {
    const { floor, height, high, index, low } = this
    return { floor, height, high, index, low }
  }

  /** The blocks of the window; `NONE` before the first one. */
  get range(): { readonly low: Height; readonly high: HeaderId } {
    return { low: this.low, high: this.low > this.height ? NONE : this.high }
  }

  /** The blocks in the window or waiting for it, without a gap. */
  get taken(): { readonly low: Height; readonly high: HeaderId } {
    const { floor, high, index, low, waiting } = this
    if (high === NONE) return this.range
    if (this.reachedFrom !== high) this.reached = low
    this.reachedFrom = high
    let reached = Math.min(this.reached, low)
    while (reached > floor && waiting.has(index.ancestor(high, reached - 1))) reached--
    this.reached = reached
    return { low: reached, high: reached > this.height ? NONE : high }
  }

  /** The blocks of the window so far and when complete. */
  get filled(): { readonly blocks: number; readonly of: number } {
    const of = this.high === NONE ? 0 : this.height - this.floor + 1
    return { blocks: Math.max(0, Math.min(of, this.height - this.low + 1)), of }
  }

  /** The lowest block that the window wants; above all heights until it begins. */
  get first(): Height {
    return this.high === NONE ? Infinity : this.floor
  }

  /** Whether the window has a block, waits for its neighbour, or does not want it. */
  hasBlock(id: HeaderId): boolean {
    const { high, index } = this
    if (high === NONE) return false
    const height = index.height(id)
    if (height < this.floor || this.waiting.has(id)) return true
    return height >= this.low && index.ancestor(high, height) === id
  }

  /** Offers a block whose header is known or follows a known one. Throws `StorageFailure`. */
  take(block: Block): Reject | undefined {
    // The header was accepted with a proof. The block's copy may have another one, which does not affect its content.
    const isKnown = this.index.find(block.hash) !== NONE && !this.file.keepsProofs
    const broken = isKnown ? checkBlockBody(block) : checkBlock(block, this.params)
    if (broken !== undefined) return broken
    const accepted = this.headers.accept(block, true)
    if (accepted.type === "rejected") return accepted.reject
    const { id } = accepted
    const prev = this.index.parent(id)
    if (prev === NONE || this.hasBlock(id)) return undefined
    const { index, params } = this
    const reject = checkBlockContext(block, {
      height: index.height(id),
      medianTimePast: index.medianTimePast(prev),
      params
    })
    if (reject !== undefined) {
      if (reject.kind !== "mutated") this.fail(id)
      return reject
    }
    // Before the window begins, all blocks are requested later.
    if (this.high === NONE) return undefined
    if (this.waiting.bytes > this.mostWaiting && !this.isNext(id)) {
      this.isStuck ||= isInBranch(this.place, this.headers.best.reachable, id)
      return rejectAs("time-future", "too-many-blocks")
    }
    const kept = keptOf({ block, height: index.height(id), params, proofs: this.file.keepsProofs })
    this.waiting.put(id, { ...kept, size: block.size })
    this.givenUp.delete(id)
    return undefined
  }

  private isNext(id: HeaderId): boolean {
    const { high, index } = this
    return index.parent(id) === high || index.ancestor(high, this.low - 1) === id
  }

  /**
   * Restarts if the window cannot follow the best chain, or only with more blocks than it has. To be called for new
   * headers. Returns whether it did. Throws `StorageFailure`.
   */
  review(): boolean {
    const { floor, high, low } = this
    if (high === NONE || !(this.isTooShort || this.isLost)) return false
    this.high = NONE
    this.low = 0
    this.isStuck = false
    try {
      this.store((changes) => changes.clear())
    } catch (cause) {
      this.restore({ floor, high, low })
      throw cause
    }
    this.begin()
    return true
  }

  /** Whether reorgs shortened the chain so much that names may live below the window. */
  private get isTooShort(): boolean {
    return this.floor > Math.max(this.oldestLiving, this.index.height(this.headers.root) + 1)
  }

  private get isLost(): boolean {
    const { headers: { best: { reachable } }, high, index } = this
    return index.compareWork(reachable, high) > 0 && !this.givenUp.isIn(reachable) &&
      isLost(this.place, reachable, this.isStuck)
  }

  /** Drops waiting blocks that the window can no longer take: invalid, old, or of branches that lost. */
  private dropStale(): void {
    for (const id of this.waiting.ids) {
      if (!isStale(this.place, id)) continue
      this.waiting.take(id)
      this.reachedFrom = NONE
    }
  }

  /** Adds all adjacent blocks in one transaction. Returns whether the window changed. */
  settle(): boolean {
    if (this.waiting.count === 0) return false
    this.concede()
    this.dropStale()
    if (!this.isNextWaiting && this.nextAbove() === NONE && betterBranch(this.place, this.waiting) === undefined) {
      return false
    }
    this.addWaiting()
    this.dropStale()
    this.isStuck &&= this.waiting.bytes > this.mostWaiting
    if (this.isFilled) this.givenUp.clear()
    return true
  }

  private addWaiting(): void {
    const { floor, high, low } = this
    try {
      this.store((changes) => {
        while (this.stepDown(changes) || this.stepUp(changes) || this.reorganize(changes));
      })
    } catch (cause) {
      this.restore({ floor, high, low })
      throw cause
    }
  }

  /** Returns to what the file has. Blocks taken since then are requested again. */
  private restore({ floor, high, low }: Pick<WindowPlace, "floor" | "high" | "low">): void {
    this.floor = floor
    this.high = high
    this.low = low
    this.reachedFrom = NONE
  }

  flush(): void {
    this.store(() => {})
  }

  /** Makes changes in one transaction with the headers, whose number and pages belong together. */
  private store<A>(work: (changes: WindowChanges) => A): A {
    const pages = this.index.takeDirtyPages()
    try {
      return this.file.change((changes) => {
        const result = work(changes)
        changes.putPages(pages)
        changes.putState(this.stored())
        return result
      })
    } catch (cause) {
      this.index.restoreDirtyPages(pages.map(({ page }) => page))
      throw cause
    }
  }

  private stored(): StoredLight {
    const { floor, high, index, low } = this
    const has = high !== NONE && low <= this.height
    return { headerCount: index.count, window: has ? { high: index.hash(high).slice(), low, floor } : undefined }
  }

  private get isNextWaiting(): boolean {
    const { floor, high, index, low, waiting } = this
    return high !== NONE && low > floor && waiting.has(index.ancestor(high, low - 1))
  }

  private stepDown(changes: WindowChanges): boolean {
    const added: Array<NewOperation> = []
    const heads: Array<KeptHead> = []
    const { low } = this
    while (this.isNextWaiting) {
      const kept = this.waiting.take(this.index.ancestor(this.high, this.low - 1))
      added.push(...kept?.operations ?? [])
      heads.push(...kept?.heads ?? [])
      this.low--
    }
    changes.add(added)
    changes.addHeads(heads)
    return this.low < low
  }

  /** A waiting block that follows the last one of the window, or `NONE`. */
  private nextAbove(): HeaderId {
    // A window that began at the root has no block of its own to wait for.
    if (this.high === NONE || (this.low > this.height && !this.isFilled)) return NONE
    for (const id of this.waiting.ids) if (this.index.parent(id) === this.high) return id
    return NONE
  }

  private stepUp(changes: WindowChanges): boolean {
    const id = this.nextAbove()
    if (id === NONE) return false
    this.addAbove(changes, id)
    return true
  }

  private addAbove(changes: WindowChanges, id: HeaderId): void {
    const kept = this.waiting.take(id)
    if (kept === undefined) return
    this.high = id
    changes.add(kept.operations)
    changes.addHeads(kept.heads)
    const lowest = this.height - expirationDepth(this.height, this.params) - KEPT_EXPIRED
    changes.removeBelow(lowest)
    // Reorgs may shorten the chain. Removed blocks must not count as known then.
    this.low = Math.max(this.low, lowest)
    this.floor = Math.max(this.floor, lowest)
  }

  /** Moves to the branch with more work whose blocks are all here. */
  private reorganize(changes: WindowChanges): boolean {
    const branch = betterBranch(this.place, this.waiting)
    const [first] = branch ?? []
    if (branch === undefined || first === undefined) return false
    this.high = this.index.parent(first)
    changes.removeFrom(this.height + 1)
    for (const id of branch) this.addAbove(changes, id)
    return true
  }

  private fail(id: HeaderId): void {
    const { headers: { best, root }, index } = this
    index.addStatus(id, Status.FAILED)
    for (const other of index.ids(id)) {
      if (index.isFailed(index.parent(other))) index.addStatus(other, Status.FAILED_PARENT)
    }
    best.find(root)
  }
}
