import { checkBlock, checkBlockContext } from "../../consensus/block.ts"
import { checkHeaderContext, checkProofOfWork } from "../../consensus/header.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { type Reject, rejectAs } from "../../consensus/Reject.ts"
import type { ChainView, Coin, NameClaim } from "../../consensus/view.ts"
import { chainstateFlushDuration } from "../../metrics/metrics.ts"
import type { Block, BlockHeader } from "../../protocol/block.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { HeaderId, Height, NameKey } from "../../protocol/keys.ts"
import type { Steps } from "../../protocol/steps.ts"
import type { Place } from "../../storage/BlockFiles.ts"
import { recordChecksum } from "../../storage/recordChecksum.ts"
import type { BestHeader } from "../index/BestHeader.ts"
import { type BlockIndex, GENESIS, NONE, Status } from "../index/BlockIndex.ts"
import { type PruneOptions, Pruning } from "../prune/Pruning.ts"
import { BlockLosses, hadUndo } from "../repair/BlockLosses.ts"
import type { BegunWith, SnapshotBase } from "../snapshot/snapshotState.ts"
import type { Accepted } from "./Accepted.ts"
import type { ActiveChain } from "./ActiveChain.ts"
import type { ChainDatabase } from "./ChainDatabase.ts"
import type { ChainStores } from "./ChainStores.ts"
import type { Undo } from "./coinCodec.ts"
import { CoinStore } from "./CoinStore.ts"
import {
  type BatchLimits,
  type CheckScripts,
  type Connected,
  Connector,
  type Judged,
  type PreparedBatch,
  type Settled
} from "./Connector.ts"
import { Forks, type Step } from "./Forks.ts"
import { StoredBlocks } from "./StoredBlocks.ts"
import { noTime, type Timings } from "./timings.ts"

export interface ChainStateOptions {
  readonly params: ConsensusParams
  /** Bytes of coins in memory before a flush. */
  readonly coinCacheBytes: number
  readonly now: () => number
  /** Prunes old blocks; `undefined` to keep all. */
  readonly prune?: PruneOptions | undefined
  /** The unvalidated snapshot that the chain state began with. */
  readonly snapshot?: SnapshotBase | undefined
}

/**
 * The best chain: header tree, block files, coins and claims, and the steps from tip to tip. Methods are synchronous
 * and called only by `ChainWriter`, for one block or batch at a time. Callers convert the errors (`StorageFailure`).
 * Invariants: a block's bytes and undo data are on disk before a commit refers to them. Coins, claims, index and best
 * block change in one commit. The active chain never contains a failed block, and contains blocks with unverified
 * scripts only while a batch is prepared.
 */
export class ChainState {
  readonly params: ConsensusParams
  readonly index: BlockIndex
  readonly losses: BlockLosses
  readonly stored: StoredBlocks
  readonly pruning: Pruning
  private readonly options: ChainStateOptions
  private readonly stores: ChainStores
  private readonly active: ActiveChain
  private readonly coins: CoinStore
  private readonly forks: Forks
  private readonly connector: Connector
  private readonly times: Timings = noTime()
  private begun: BegunWith | undefined

  /** Takes ownership of the stores, which it closes. */
  constructor(stores: ChainStores, options: ChainStateOptions) {
    this.options = options
    this.params = options.params
    this.stores = stores
    const { active, blocksDirectory, database, files, index } = stores
    this.index = index
    this.active = active
    this.coins = new CoinStore(database)
    this.losses = new BlockLosses(index, active)
    if (options.snapshot !== undefined) this.beginWith(options.snapshot)
    this.losses.look(active.all())
    const { coins, losses, params, times: timings } = this
    const stored = new StoredBlocks({ index, files, losses, params, timings })
    const checkPlace = (header: BlockHeader) => this.checkPlace(header)
    const forks = new Forks({ index, active, losses, stored, beyondRepair: (found) => stores.beyondRepair(found) })
    this.stored = stored
    this.forks = forks
    this.pruning = new Pruning({ index, active, files, losses, stored, forks, blocksDirectory }, options.prune)
    this.connector = new Connector({ params, index, active, forks, coins, files, stored, timings, checkPlace })
  }

  private beginWith(snapshot: SnapshotBase): void {
    const base = this.index.find(snapshot.hash)
    const isSound = base !== NONE && this.active.isActive(base)
    if (!isSound) throw this.stores.beyondRepair("the base block of its snapshot is not in its chain")
    this.begun = { ...snapshot, id: base, height: this.index.height(base) }
    this.losses.beginsAfter(this.begun.height)
  }

  becomeValidated(): void {
    this.begun = undefined
    this.losses.beginsAfter(-1)
  }

  /** The snapshot that the chain state began with, until it is validated. */
  get snapshot(): BegunWith | undefined {
    return this.begun
  }

  /** Continues on a snapshot's chain state, opened by `ChainStores.prepare`. Everything is flushed. */
  continueOn(database: ChainDatabase, directory: string, snapshot: SnapshotBase): void {
    this.stores.continueOn(database, { base: this.index.find(snapshot.hash), directory })
    this.coins.continueOn(database)
    this.beginWith(snapshot)
    this.losses.look(this.active.all())
    this.forks.examine()
  }

  get tip(): HeaderId {
    return this.active.tip
  }

  get height(): Height {
    return this.active.height
  }

  at(height: Height): HeaderId {
    return this.active.at(height)
  }

  /** The height of the last validated block, up to which readers see the chain. */
  get settledHeight(): Height {
    return this.active.settledHeight
  }

  get settledTip(): HeaderId {
    return this.active.settledTip
  }

  /** Whether a block is in the validated part of the best chain. */
  isActive(id: HeaderId): boolean {
    return this.active.isActive(id)
  }

  medianTimePastAt(height: Height): number {
    return this.index.medianTimePast(this.at(height))
  }

  /** The number of a header, or `NONE`. */
  find(hash: Bytes): HeaderId {
    return this.index.find(hash)
  }

  /** The valid header with the most work that the chain can reach. */
  get bestHeader(): HeaderId {
    return this.forks.best.reachable
  }

  get bestHeaders(): Readonly<BestHeader> {
    return this.forks.best
  }

  get isBehind(): boolean {
    return this.index.compareWork(this.bestHeader, this.settledTip) > 0
  }

  /** Offers a header. `checked` if the caller has checked its proof of work. */
  acceptHeader(header: BlockHeader, checked = false): Accepted {
    const known = this.index.find(header.header.hash)
    if (known !== NONE) {
      if (!this.index.isFailed(known)) return { type: "known", id: known }
      return { type: "rejected", reject: rejectAs("invalid-prev", "duplicate-invalid") }
    }
    const reject = (checked ? undefined : checkProofOfWork(header, this.params)) ?? this.checkPlace(header)
    if (reject !== undefined) return { type: "rejected", reject }
    const id = this.index.add(header.header, this.index.find(header.header.prevHash))
    this.forks.headerAdded(id)
    return { type: "new", id }
  }

  /** Checks a header against its predecessor: time, target and version, without its proof. */
  checkPlace({ header }: BlockHeader): Reject | undefined {
    const prev = this.index.find(header.prevHash)
    if (prev === NONE) return rejectAs("missing-prev", "prev-blk-not-found")
    if (this.index.isFailed(prev)) return rejectAs("invalid-prev", "bad-prevblk")
    const point = (id: HeaderId) => ({
      height: this.index.height(id),
      time: this.index.time(id),
      bits: this.index.bits(id)
    })
    return checkHeaderContext({
      header,
      prev: point(prev),
      medianTimePast: this.index.medianTimePast(prev),
      ancestor: (height) => point(this.index.ancestor(prev, height)),
      params: this.params,
      now: this.options.now()
    })
  }

  /** Checks a block without coins and stores it. `lies` is its location if it is already in our files. */
  acceptBlock(block: Block, lies?: { readonly place: Place; readonly record: Bytes }): Accepted {
    const started = performance.now()
    const accepted = this.checkedBlock(block)
    const checked = performance.now()
    this.times.check += checked - started
    if (accepted.type !== "new") return accepted
    const { place, record } = lies ?? { place: this.stores.files.appendBlock(block.bytes), record: block.bytes }
    const [txCount, checksum] = [block.transactions.length, recordChecksum(record)]
    this.index.setData(accepted.id, { place, txCount, checksum })
    this.stored.remember(accepted.id, block)
    this.forks.blockStored(accepted.id)
    this.times.append += performance.now() - checked
    return accepted
  }

  /** "new" means that the caller must store the block. */
  private checkedBlock(block: Block): Accepted {
    const broken = checkBlock(block, this.params)
    if (broken !== undefined) return { type: "rejected", reject: broken }
    const known = this.index.find(block.hash)
    // A missing block of the best chain is accepted even if marked as failed, because disconnecting it requires it.
    const header = this.losses.has(known) ? { type: "known", id: known } as const : this.acceptHeader(block, true)
    if (header.type === "rejected") return header
    const { id } = header
    if (this.index.has(id, Status.HAVE_DATA)) return { type: "known", id }
    const prev = this.index.parent(id)
    const reject = prev === NONE ? undefined : checkBlockContext(block, {
      height: this.index.height(id),
      medianTimePast: this.index.medianTimePast(prev),
      params: this.params
    })
    if (reject === undefined) return { type: "new", id }
    if (reject.kind !== "mutated") this.forks.markFailed(id)
    return { type: "rejected", reject }
  }

  hasBlock(id: HeaderId): boolean {
    return this.index.has(id, Status.HAVE_DATA)
  }

  /** Throws `StorageFailure`. A damaged block then counts as missing, until a peer sends it. */
  block(id: HeaderId): Block {
    return this.stored.block(id)
  }

  /** The stored bytes of a block. Throws `StorageFailure`. */
  blockBytes(id: HeaderId): Bytes {
    return this.stored.bytes(id)
  }

  /**
   * The undo data of a block; `undefined` if it was never connected. Throws `StorageFailure`, also if they are lost.
   */
  undo(id: HeaderId): Undo | undefined {
    return hadUndo(this.index, id) ? this.stored.undo(id) : undefined
  }

  /** The undo data as stored. */
  undoBytes(id: HeaderId): Bytes | undefined {
    return hadUndo(this.index, id) ? this.stored.undoBytes(id) : undefined
  }

  /** Headers with proofs, up to the first whose block, which has the proof, is not stored. Throws `StorageFailure`. */
  fullHeaders(ids: ReadonlyArray<HeaderId>): ReadonlyArray<BlockHeader> {
    const headers: Array<BlockHeader> = []
    for (const id of ids) {
      const isKnown = this.index.has(id, Status.PRUNED) && !this.index.header(id).hasAuxpowFlag
      if (!isKnown && !this.index.has(id, Status.HAVE_DATA)) break
      headers.push(this.stored.header(id))
    }
    return headers
  }

  /** Coins and claims at the tip, for callers that connect no block. Reads throw `StorageFailure`. */
  get view(): ChainView {
    return this.coins.passing
  }

  /** The first coin of a transaction as of the last flush. */
  storedCoinOf(txid: Bytes): Coin | undefined {
    return this.stores.database.coinOf(txid)
  }

  /** The stored coins, and their file. */
  get storedCoins(): Pick<ChainDatabase, "coinsAfter" | "coinsPaying" | "file"> {
    return this.stores.database
  }

  /** The stored claims after a name, or from the first one, in order. */
  storedClaims(after: NameKey | undefined, limit: number): ReadonlyArray<readonly [name: NameKey, claim: NameClaim]> {
    return this.stores.database.claimsAfter(after, limit)
  }

  nextStep(): Step {
    return this.forks.nextStep()
  }

  // For the next four, see `Connector`.

  prepare(target: HeaderId, limits: BatchLimits, check: CheckScripts): Steps<PreparedBatch> {
    return this.connector.prepare(target, limits, check)
  }

  settle(batch: PreparedBatch, failure: { readonly block: number; readonly reject: Reject } | undefined): Settled {
    return this.connector.settle(batch, failure)
  }

  takeBack(batch: PreparedBatch): void {
    this.connector.takeBack(batch)
  }

  judge(block: Block): Judged {
    return this.connector.judge(block)
  }

  disconnectTip(): void {
    this.connector.disconnectTip()
  }

  /** A block of the best chain with its name effects. Throws `StorageFailure`. */
  connected(id: HeaderId): Connected {
    return this.connector.connected(id)
  }

  /** Marks a block as invalid (`invalidateblock`). The caller then follows `nextStep`. */
  invalidate(id: HeaderId): void {
    // Genesis is part of every chain.
    if (id !== GENESIS) this.forks.markFailed(id)
  }

  /** Withdraws `invalidate` or a refusal for a block, its ancestors and its descendants. */
  reconsider(id: HeaderId): void {
    this.forks.reconsider(id)
  }

  /** Prefers a block to others of equal work (`preciousblock`). The caller then follows `nextStep`. */
  prefer(id: HeaderId): void {
    this.forks.prefer(id)
  }

  /** See `ChainControl.giveUpBranch`. The caller then follows `nextStep`. */
  giveUpBranch(): boolean {
    return this.forks.giveUp()
  }

  /** The last headers of all branches, including the tip, highest first. */
  tips(): ReadonlyArray<HeaderId> {
    return this.forks.tips()
  }

  /** Whether the coins exceed their memory budget. */
  get flushDue(): boolean {
    return this.coins.memory > this.options.coinCacheBytes
  }

  /**
   * Stores block bytes, then commits this tip. Returns whether there were changes. Keeps coins up to half of the
   * budget, or all of it if `more` blocks follow.
   */
  flush(more = false): boolean {
    const { onTrust } = this.active
    if (onTrust > 0) throw new Error(`flush refused: the scripts of ${onTrust} blocks are not verified yet`)
    const started = performance.now()
    const pages = this.index.takeDirtyPages()
    try {
      if (pages.length === 0 && !this.coins.hasChanges) return false
      this.stores.files.sync()
      const [bestHash, keep] = [this.index.hash(this.tip), this.options.coinCacheBytes / (more ? 1 : 2)]
      this.coins.flush({ pages, headerCount: this.index.count, bestHash }, keep)
      chainstateFlushDuration.observe((performance.now() - started) / 1000)
      return true
    } catch (cause) {
      this.index.restoreDirtyPages(pages.map(({ page }) => page))
      throw cause
    } finally {
      this.times.flush += performance.now() - started
    }
  }

  /** Syncs the block files without blocking the event loop. Rejects with `StorageFailure`. */
  syncBlocks(): Promise<void> {
    return this.stores.files.syncAside()
  }

  spent(what: keyof Timings, milliseconds: number): void {
    this.times[what] += milliseconds
  }

  timings(): Readonly<Timings> {
    return { ...this.times }
  }

  close(): void {
    this.stores.close()
  }
}
