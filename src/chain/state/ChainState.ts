import { monotonic } from "../../base/clock.ts"
import { checkBlock, checkBlockContext } from "../../consensus/block.ts"
import type { BlockUndo } from "../../consensus/connectBlock.ts"
import { checkHeaderContext, checkProofOfWork } from "../../consensus/header.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { type Reject, rejectAs } from "../../consensus/Reject.ts"
import type { ChainView } from "../../consensus/view.ts"
import { chainstateFlushDuration } from "../../metrics/metrics.ts"
import type { Block, BlockHeader } from "../../protocol/block.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { HeaderId, Height } from "../../protocol/keys.ts"
import type { Place } from "../../storage/BlockFiles.ts"
import { recordChecksum } from "../../storage/recordChecksum.ts"
import { type BlockIndex, NONE, Status } from "../index/BlockIndex.ts"
import { type PruneOptions, Pruning } from "../prune/Pruning.ts"
import { BlockLosses, hadUndo } from "../repair/BlockLosses.ts"
import type { BegunWith, SnapshotBase } from "../snapshot/snapshotState.ts"
import type { Accepted } from "./Accepted.ts"
import type { ActiveChainReader } from "./ActiveChain.ts"
import type { ChainDatabase } from "./ChainDatabase.ts"
import type { ChainStores } from "./ChainStores.ts"
import { CoinStore } from "./CoinStore.ts"
import { Connector } from "./Connector.ts"
import { Forks } from "./Forks.ts"
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
  /** The best chain. Only `connector` changes it. */
  readonly active: ActiveChainReader
  readonly forks: Forks
  readonly connector: Connector
  private readonly options: ChainStateOptions
  private readonly stores: ChainStores
  private readonly coins: CoinStore
  private readonly times: Timings = noTime()
  private begun: BegunWith | undefined
  /** The tip of the last flush. */
  private storedTip: HeaderId

  /** Takes ownership of the stores, which it closes. */
  constructor(stores: ChainStores, options: ChainStateOptions) {
    this.options = options
    this.params = options.params
    this.stores = stores
    const { active, blocksDirectory, database, files, index } = stores
    this.index = index
    this.active = active
    this.storedTip = active.tip
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
    this.storedTip = this.active.tip
    this.beginWith(snapshot)
    this.losses.look(this.active.all())
    this.forks.examine()
  }

  get isBehind(): boolean {
    return this.index.compareWork(this.forks.best.reachable, this.active.settledTip) > 0
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
    const started = monotonic()
    const accepted = this.checkedBlock(block)
    const checked = monotonic()
    this.times.check += checked - started
    if (accepted.type !== "new") return accepted
    const { place, record } = lies ?? { place: this.stores.files.appendBlock(block.bytes), record: block.bytes }
    const [txCount, checksum] = [block.transactions.length, recordChecksum(record)]
    this.index.setData(accepted.id, { place, txCount, checksum })
    this.stored.remember(accepted.id, block)
    this.forks.blockStored(accepted.id)
    this.times.append += monotonic() - checked
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

  /**
   * The undo data of a block; `undefined` if it was never connected. Throws `StorageFailure`, even if they are lost.
   */
  undo(id: HeaderId): BlockUndo | undefined {
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

  /** The coins and claims of the last flush, and their file. */
  get database(): Pick<ChainDatabase, "claimsAfter" | "coinOf" | "coinsAfter" | "coinsPaying" | "file"> {
    return this.stores.database
  }

  /** The last block of the best chain that a start would find. Later ones are in memory alone. */
  get storedHeight(): Height {
    const { active, index, storedTip } = this
    return index.height(active.isActive(storedTip) ? storedTip : index.forkPoint(storedTip, active.tip))
  }

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
    const started = monotonic()
    const pages = this.index.takeDirtyPages()
    try {
      if (pages.length === 0 && !this.coins.hasChanges) return false
      this.stores.files.sync()
      const [bestHash, keep] = [this.index.hash(this.active.tip), this.options.coinCacheBytes / (more ? 1 : 2)]
      this.coins.flush({ pages, headerCount: this.index.count, bestHash }, keep)
      this.storedTip = this.active.tip
      chainstateFlushDuration.observe((monotonic() - started) / 1000)
      return true
    } catch (cause) {
      this.index.restoreDirtyPages(pages.map(({ page }) => page))
      throw cause
    } finally {
      this.times.flush += monotonic() - started
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
