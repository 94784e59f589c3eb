import type { HeaderId } from "../../protocol/keys.ts"
import type { StorageCorrupted } from "../../storage/errors.ts"
import { BestHeader } from "../index/BestHeader.ts"
import { type BlockIndex, GENESIS, NONE, Status } from "../index/BlockIndex.ts"
import { Candidates } from "../index/Candidates.ts"
import type { BlockLosses } from "../repair/BlockLosses.ts"
import { WayBack } from "../repair/WayBack.ts"
import type { ActiveChain } from "./ActiveChain.ts"
import type { StoredBlocks } from "./StoredBlocks.ts"

export type Step =
  | { readonly type: "none" }
  | { readonly type: "disconnect" }
  | { readonly type: "connect"; readonly target: HeaderId }
  /** A block to disconnect is missing, and the reorg waits for it. */
  | { readonly type: "wait"; readonly missing: HeaderId }

interface ForkParts {
  readonly index: BlockIndex
  readonly active: ActiveChain
  readonly losses: BlockLosses
  readonly stored: StoredBlocks
  readonly beyondRepair: (found: string) => StorageCorrupted
}

/** The branches of the header tree: which are invalid, and which one the best chain takes. */
export class Forks {
  private readonly index: BlockIndex
  private readonly active: ActiveChain
  private readonly losses: BlockLosses
  private readonly stored: StoredBlocks
  private readonly candidates: Candidates
  private readonly wayBack: WayBack
  readonly best: BestHeader

  constructor(parts: ForkParts) {
    this.index = parts.index
    this.active = parts.active
    this.losses = parts.losses
    this.stored = parts.stored
    this.candidates = new Candidates(parts.index)
    this.wayBack = new WayBack(parts)
    this.best = new BestHeader(parts.index, parts.losses)
    this.examine()
  }

  examine(): void {
    this.findCandidates()
    this.best.find(this.active.tip)
  }

  /** Finds all candidates again, after stored blocks were lost. */
  findCandidates(): void {
    this.candidates.rebuild(this.active.all())
  }

  headerAdded(id: HeaderId): void {
    this.best.consider(id)
  }

  blockStored(id: HeaderId): void {
    if (this.losses.regained(id)) this.best.find(this.active.tip)
    this.candidates.arrived(id, this.active.tip)
  }

  /** Forgets candidates with less work than the tip. */
  prune(): void {
    this.candidates.prune(this.active.tip)
  }

  nextStep(): Step {
    const { tip } = this.active
    const target = this.candidates.best(tip, (id) => this.losses.bars(id))
    const fork = this.index.forkPoint(target, tip)
    const missing = this.wayBack.obstacle(tip, fork)
    this.losses.waitFor(missing)
    if (missing !== undefined) return { type: "wait", missing }
    if (target === tip) return { type: "none" }
    return fork === tip ? { type: "connect", target } : { type: "disconnect" }
  }

  markFailed(failed: HeaderId): void {
    this.index.addStatus(failed, Status.FAILED)
    // Children have higher numbers than their parents, so one ascending pass finds all descendants.
    for (const id of this.index.ids(failed)) {
      const parent = this.index.parent(id)
      if (parent !== NONE && this.index.isFailed(parent)) this.index.addStatus(id, Status.FAILED_PARENT)
    }
    this.stored.forget(failed)
    this.examine()
  }

  /** Marks a block as invalid (`invalidateblock`). The caller then follows `nextStep`. */
  invalidate(id: HeaderId): void {
    // Genesis is part of every chain.
    if (id !== GENESIS) this.markFailed(id)
  }

  /** Withdraws `invalidate` or a refusal for a block, its ancestors and its descendants. */
  reconsider(id: HeaderId): void {
    const height = this.index.height(id)
    for (const other of this.index.ids()) {
      const related = this.index.height(other) >= height
        ? this.index.ancestor(other, height) === id
        : this.index.ancestor(id, this.index.height(other)) === other
      if (related) this.index.clearStatus(other, Status.FAILED | Status.FAILED_PARENT)
    }
    for (const other of this.index.ids()) {
      const parent = this.index.parent(other)
      if (parent !== NONE && this.index.isFailed(parent)) this.index.addStatus(other, Status.FAILED_PARENT)
    }
    this.examine()
  }

  /** Treats a block as the first to arrive among those of equal work. Does nothing for less work than the tip's. */
  prefer(id: HeaderId): void {
    const { tip } = this.active
    if (this.index.compareWork(id, tip) >= 0) this.candidates.prefer({ id, tip })
  }

  /** Gives up the branch that waits for a missing block. Returns false if none waits, or if the tip is invalid. */
  giveUp(): boolean {
    if (this.losses.waitsFor === undefined || this.index.isFailed(this.active.tip)) return false
    this.losses.giveUp()
    this.best.find(this.active.tip)
    return true
  }

  /** The last headers of all branches, including the tip, highest first. */
  tips(): ReadonlyArray<HeaderId> {
    const { active, index } = this
    const hasChild = new Uint8Array(index.count)
    for (const id of index.ids()) {
      const parent = index.parent(id)
      if (parent !== NONE) hasChild[parent] = 1
    }
    for (let height = active.settledHeight + 1; height <= active.height; height++) hasChild[active.at(height)] = 1
    hasChild[active.settledTip] = 0
    const tips: Array<HeaderId> = []
    for (const id of index.ids()) if (hasChild[id] === 0) tips.push(id)
    return tips.sort((a, b) => index.height(b) - index.height(a))
  }
}
