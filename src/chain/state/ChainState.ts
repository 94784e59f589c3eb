import { checkBlock, checkBlockBody, checkBlockContext } from "../../consensus/block.ts"
import { connectBlock, undoBlock } from "../../consensus/connectBlock.ts"
import { blockFlags } from "../../consensus/flags.ts"
import { checkHeaderContext, checkProofOfWork } from "../../consensus/header.ts"
import { nameEffects } from "../../consensus/names.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { type Reject, reject, rejectAs } from "../../consensus/Reject.ts"
import type { BlockDelta, NameEffect, ScriptCheck } from "../../consensus/view.ts"
import { chainstateFlushDuration } from "../../metrics/metrics.ts"
import { type Block, type BlockHeader, decodeBlock } from "../../protocol/block.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { BlockFiles, type Place } from "../../storage/BlockFiles.ts"
import { StorageCorrupted, StorageUnavailable } from "../../storage/errors.ts"
import { recordChecksum } from "../../storage/recordChecksum.ts"
import { BestHeader } from "../index/BestHeader.ts"
import { BlockIndex, NONE, Status } from "../index/BlockIndex.ts"
import { Candidates } from "../index/Candidates.ts"
import { scriptsAssumed } from "../index/scriptsAssumed.ts"
import { BlockLosses } from "../repair/BlockLosses.ts"
import { requestRebuild } from "../repair/rebuild.ts"
import { repairFiles, type Tail } from "../repair/repairFiles.ts"
import { WayBack } from "../repair/WayBack.ts"
import { ChainDatabase } from "./ChainDatabase.ts"
import { encodeUndo, type Undo } from "./coinCodec.ts"
import { CoinStore } from "./CoinStore.ts"
import { StoredBlocks } from "./StoredBlocks.ts"
import { noTime, type Timings } from "./timings.ts"

export interface ChainStateOptions {
  readonly params: ConsensusParams
  readonly blocksDirectory: string
  readonly chainstateDirectory: string
  /** Bytes of a page of a new database. */
  readonly pageSize: number
  /** Bytes that coins may take in memory before they are stored. */
  readonly coinCacheBytes: number
  /** Unix time in seconds. */
  readonly now: () => number
  /** Called in the midst of the work that meets damage of chainstate.db; the next start makes it anew. */
  readonly onDamage?: (damage: StorageCorrupted) => void
}

/** What came of a header or block that was offered. */
export type Accepted =
  | { readonly type: "new"; readonly id: number }
  | { readonly type: "known"; readonly id: number }
  | { readonly type: "rejected"; readonly reject: Reject }

/** A block that was connected on trust: its scripts are not judged yet. */
interface Prepared {
  readonly id: number
  readonly block: Block
  readonly delta: BlockDelta
}

/** Blocks that were connected on trust, and what ended the row, if something did. */
export interface PreparedBatch {
  readonly blocks: ReadonlyArray<Prepared>
  readonly refused: { readonly id: number; readonly reject: Reject } | undefined
  /** What was thrown at the block after the last one. */
  readonly thrown: { readonly id: number; readonly cause: unknown } | undefined
}

/** What came of a block that is only judged: `reject` counts where none of its scripts fails. */
export interface Judged {
  readonly reject: Reject | undefined
  readonly scripts: ReadonlyArray<ScriptCheck>
  readonly flags: number
}

/** What came of a batch. */
export interface Settled {
  readonly connected: ReadonlyArray<Connected>
  readonly refused: PreparedBatch["refused"]
  /** A block whose bytes are damaged: it counts as missing from now on. */
  readonly damaged: StorageCorrupted | undefined
}

/** What to do next to get to the best chain. */
export type Step =
  | { readonly type: "none" }
  | { readonly type: "disconnect" }
  | { readonly type: "connect"; readonly target: number }
  /** A block that would have to be taken back is missing: it has to come first. */
  | { readonly type: "wait"; readonly missing: number }

/** A block of the best chain and what it does to names. */
export interface Connected {
  readonly id: number
  readonly block: Block
  readonly effects: ReadonlyArray<NameEffect>
}

/**
 * The best chain: header tree, block files, coins and claims, and the steps that move from one tip to another. All
 * synchronous; `Chain` is the one writer that calls it, a block or a batch at a time, and wraps what it throws
 * (`StorageFailure`).
 *
 * Invariants: a block's bytes and undo data are on disk before a commit refers to them; coins, claims, index and best
 * block change in one commit; the active chain never contains a block that failed or whose scripts were not judged,
 * outside of a batch that is being prepared.
 */
export class ChainState {
  readonly params: ConsensusParams
  readonly index = new BlockIndex()
  readonly files: BlockFiles
  readonly database: ChainDatabase
  readonly coins: CoinStore
  readonly timings: Timings = noTime()
  /** What was mended at the start, in words for the log. */
  readonly repairs: Array<string> = []
  /** What lies in the block files behind the last place that the index knows, at the start. */
  readonly tails: ReadonlyArray<Tail>
  /** Blocks of the best chain that are missing. */
  readonly losses = new BlockLosses(this.index, this)
  private readonly options: ChainStateOptions
  private readonly candidates: Candidates
  private readonly wayBack: WayBack
  readonly stored: StoredBlocks
  /** Numbers of the headers of the best chain, by height. */
  private readonly active: Array<number> = []
  /** How many blocks at the end of the best chain are connected on trust only. */
  private onTrust = 0
  /** The headers with the most work. */
  readonly best = new BestHeader(this.index, this.losses)

  /** Opens the stores and brings them to a sound state. Throws `StorageFailure`. */
  constructor(options: ChainStateOptions) {
    this.options = options
    this.params = options.params
    this.files = new BlockFiles(options.blocksDirectory, options.params.network.magic)
    try {
      this.database = new ChainDatabase(
        options.chainstateDirectory,
        options.pageSize,
        (damage) => {
          requestRebuild(options.chainstateDirectory, damage.found)
          options.onDamage?.(damage)
        }
      )
    } catch (cause) {
      this.files.close()
      throw cause
    }
    try {
      this.coins = new CoinStore(this.database)
      this.stored = new StoredBlocks(this)
      this.candidates = new Candidates(this.index)
      this.wayBack = new WayBack(this)
      const stored = this.database.state()
      if (stored === undefined) this.begin()
      else this.load(stored.headerCount, stored.bestHash)
      const mended = stored === undefined ? { said: [], tails: [] } : repairFiles(this.index, this.files)
      this.repairs.push(...mended.said)
      this.tails = mended.tails
      if (!this.hasStrayBlocks) this.storeGenesis()
      this.losses.look(this.active)
      this.candidates.rebuild(this.active)
      this.best.find(this.tip)
    } catch (cause) {
      this.close()
      throw cause
    }
  }

  private begin(): void {
    const genesis = decodeBlock(this.params.network.genesisBlock)
    this.active.push(this.index.add(genesis.header, NONE))
    this.index.addStatus(0, Status.VALID)
    for (const file of this.files.numbers("undo")) this.files.cut("undo", file, 0)
    this.index.setUndo(0, this.files.appendUndo(genesis.hash, encodeUndo(NOTHING_UNDONE)))
    // Block files from before are kept: they may be all that is left of a chain whose index is gone.
    if (!this.hasStrayBlocks) this.storeGenesis()
  }

  /** Stores the genesis block where it is not stored. This is also what ends a rebuild: see `hasStrayBlocks`. */
  storeGenesis(): void {
    if (this.index.has(0, Status.HAVE_DATA)) return
    const genesis = decodeBlock(this.params.network.genesisBlock)
    const place = this.files.appendBlock(genesis.bytes)
    this.index.setData(0, place, genesis.transactions.length, recordChecksum(genesis.bytes))
  }

  /**
   * Whether there are block files that nothing, or not everything yet, refers to: the index was deleted and is to be
   * rebuilt. Genesis is noted last, so that a rebuild that was cut short is taken up again.
   */
  get hasStrayBlocks(): boolean {
    return !this.index.has(0, Status.HAVE_DATA) &&
      this.files.numbers("blk").some((file) => this.files.sizeOf("blk", file) > 0)
  }

  private load(headerCount: number, bestHash: Bytes): void {
    try {
      this.index.load(this.database.pages(), headerCount)
    } catch (cause) {
      if (cause instanceof StorageCorrupted || cause instanceof StorageUnavailable) throw cause
      throw this.database.corrupted(`the block index does not load (${String(cause)})`)
    }
    const genesis = this.index.find(this.params.network.genesisHash)
    const tip = this.index.find(bestHash)
    if (genesis !== 0 || tip === NONE) throw this.database.corrupted("the best block is not in the block index")
    this.active.length = this.index.height(tip) + 1
    for (let id = tip; id !== NONE; id = this.index.parent(id)) this.active[this.index.height(id)] = id
  }

  /** The number of the last block of the best chain. */
  get tip(): number {
    return this.active[this.active.length - 1] ?? 0
  }

  get height(): number {
    return this.active.length - 1
  }

  /** The number of the header with the most work that nothing is known against and that the chain can go to. */
  get bestHeader(): number {
    return this.best.reachable
  }

  /** The number of the block of the best chain at a height, or `NONE`. */
  at(height: number): number {
    return this.active[height] ?? NONE
  }

  /** The height up to which everything is judged: what others may see. */
  get settledHeight(): number {
    return this.height - this.onTrust
  }

  /** Whether a block is in the best chain, as far as that is judged. */
  isActive(id: number): boolean {
    const height = this.index.height(id)
    return height <= this.settledHeight && this.active[height] === id
  }

  /** Offers a header. `checked` where its proof of work was checked already. */
  acceptHeader(header: BlockHeader, checked = false): Accepted {
    const known = this.index.find(header.header.hash)
    if (known !== NONE) {
      if (!this.index.isFailed(known)) return { type: "known", id: known }
      return { type: "rejected", reject: rejectAs("invalid-prev", "duplicate-invalid") }
    }
    const reject = (checked ? undefined : checkProofOfWork(header, this.params)) ?? this.checkPlace(header)
    if (reject !== undefined) return { type: "rejected", reject }
    const id = this.index.add(header.header, this.index.find(header.header.prevHash))
    this.best.consider(id)
    return { type: "new", id }
  }

  /** Whether a header can follow its predecessor: by its time, target and version, whatever its proof. */
  checkPlace({ header }: BlockHeader): Reject | undefined {
    const prev = this.index.find(header.prevHash)
    if (prev === NONE) return rejectAs("missing-prev", "prev-blk-not-found")
    if (this.index.isFailed(prev)) return rejectAs("invalid-prev", "bad-prevblk")
    const point = (id: number) => ({
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

  /** Offers a block: checks what can be said without coins, and stores it. `lies` where it is in our files already. */
  acceptBlock(block: Block, lies?: { readonly place: Place; readonly record: Bytes }): Accepted {
    const started = performance.now()
    const accepted = this.checkedBlock(block)
    const checked = performance.now()
    this.timings.check += checked - started
    if (accepted.type !== "new") return accepted
    const { place, record } = lies ?? { place: this.files.appendBlock(block.bytes), record: block.bytes }
    this.index.setData(accepted.id, place, block.transactions.length, recordChecksum(record))
    if (this.losses.regained(accepted.id)) this.best.find(this.tip)
    this.stored.remember(accepted.id, block)
    this.candidates.arrived(accepted.id, this.tip)
    this.timings.append += performance.now() - checked
    return accepted
  }

  /** "new" means: to be stored. */
  private checkedBlock(block: Block): Accepted {
    const broken = checkBlock(block, this.params)
    if (broken !== undefined) return { type: "rejected", reject: broken }
    const known = this.index.find(block.hash)
    // Whatever is held against it by now: to take a block back it has to be here.
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
    if (reject.kind !== "mutated") this.markFailed(id)
    return { type: "rejected", reject }
  }

  /** Notes that a block is invalid, and with it all that builds on it. */
  private markFailed(failed: number): void {
    this.index.addStatus(failed, Status.FAILED)
    // Children have higher numbers than their parents, so one pass upwards finds all descendants.
    for (let id = failed + 1; id < this.index.count; id++) {
      const parent = this.index.parent(id)
      if (parent !== NONE && this.index.isFailed(parent)) this.index.addStatus(id, Status.FAILED_PARENT)
    }
    this.stored.forget(failed)
    this.candidates.rebuild(this.active)
    this.best.find(this.tip)
  }

  /** What to do next to get to the chain with the most work. */
  nextStep(): Step {
    const target = this.candidates.best(this.tip, (id) => this.losses.bars(id))
    const fork = this.index.forkPoint(target, this.tip)
    const missing = this.wayBack.obstacle(this.tip, fork)
    this.losses.waitFor(missing)
    if (missing !== undefined) return { type: "wait", missing }
    if (target === this.tip) return { type: "none" }
    return fork === this.tip ? { type: "connect", target } : { type: "disconnect" }
  }

  /**
   * The transactions of a block. Throws `StorageFailure`; where the block is not what it was, it counts as missing from
   * then on, so that it is taken when it comes again.
   */
  block(id: number): Block {
    return this.stored.block(id)
  }

  /** Whether it was the bytes of this block that made a failure. Genesis is no matter: its bytes are known. */
  private isDamage(id: number, cause: unknown): cause is StorageCorrupted {
    return id !== 0 && cause instanceof StorageCorrupted &&
      cause.file === this.files.path("blk", this.index.dataPlace(id).file)
  }

  /** The undo data of a connected block. Throws `StorageFailure`. */
  undo(id: number): Undo {
    return this.stored.undo(id)
  }

  /**
   * Connects blocks on the way from the tip to `target`, on trust as far as scripts go: `check` is told what is to be
   * checked, block by block, also for a block behind the last one that is refused: its scripts may be the reason that
   * counts. `settle` ends the batch, whatever the checks say.
   */
  prepare(
    target: number,
    limits: { readonly blocks: number; readonly inputs: number; readonly bytes: number },
    check: (block: number, checks: ReadonlyArray<ScriptCheck>, flags: number) => void
  ): PreparedBatch {
    const blocks: Array<Prepared> = []
    const end = Math.min(this.index.height(target), this.height + limits.blocks)
    let bytes = 0
    for (let inputs = 0; this.height < end && inputs < limits.inputs && bytes < limits.bytes;) {
      const id = this.index.ancestor(target, this.height + 1)
      try {
        const block = this.block(id)
        const flags = blockFlags(this.height + 1, this.params)
        const result = this.connectOnTrust(id, block, flags)
        if ("reject" in result) {
          check(blocks.length, result.scripts, flags)
          return { blocks, refused: { id, reject: result.reject }, thrown: undefined }
        }
        const { delta } = result
        check(blocks.length, delta.scripts, flags)
        this.coins.apply(delta.coins, delta.claims)
        this.active.push(id)
        this.onTrust++
        blocks.push({ id, block, delta })
        bytes += block.size
        for (const { coins } of delta.scripts) inputs += coins.length
      } catch (cause) {
        // What came before is sound and has to be settled first.
        return { blocks, refused: undefined, thrown: { id, cause } }
      }
    }
    return { blocks, refused: undefined, thrown: undefined }
  }

  private connectOnTrust(id: number, block: Block, flags: number) {
    const started = performance.now()
    const prev = this.index.parent(id)
    const result = connectBlock({
      block,
      height: this.index.height(id),
      params: this.params,
      flags,
      view: this.coins,
      medianTimePast: prev === NONE ? 0 : this.index.medianTimePast(prev),
      medianTimePastAt: (height: number) => this.index.medianTimePast(this.index.ancestor(id, height)),
      checkScripts: !scriptsAssumed(this.index, id, this.bestHeader, this.params)
    })
    this.timings.connect += performance.now() - started
    return result
  }

  /**
   * Judges a block on top of the tip that is not stored and need not have any proof of work: all but its scripts, which
   * come back to be checked. Source: upstream `validation.cpp`, `TestBlockValidity`.
   */
  judge(block: Block): Judged {
    const { tip } = this
    const refuse = (reject: Reject): Judged => ({ reject, scripts: [], flags: 0 })
    if (!equal(block.header.prevHash, this.index.hash(tip))) return refuse(NOT_ON_TIP)
    const place = { height: this.height + 1, medianTimePast: this.index.medianTimePast(tip), params: this.params }
    const broken = checkBlockBody(block) ?? this.checkPlace(block) ?? checkBlockContext(block, place)
    if (broken !== undefined) return refuse(broken)
    const { coins } = this
    const flags = blockFlags(place.height, this.params)
    const result = connectBlock({
      ...place,
      block,
      flags,
      // What nobody connects is no reason to keep coins in memory.
      view: {
        coin: (outpoint) => coins.peek(outpoint),
        claim: coins.claim,
        expectClaims: coins.expectClaims,
        claimsBetween: coins.claimsBetween
      },
      medianTimePastAt: (height) => this.index.medianTimePast(this.at(height)),
      checkScripts: true
    })
    return "reject" in result
      ? { ...result, flags }
      : { reject: undefined, scripts: result.delta.scripts, flags }
  }

  /** The failure of a chain state that can only be made anew from the blocks, which the next start does. */
  beyondRepair(found: string): StorageCorrupted {
    requestRebuild(this.options.chainstateDirectory, found)
    const remedy = "Start the node again: it makes the chain state anew from the stored blocks"
    return new StorageCorrupted({ file: this.database.file, found, remedy })
  }

  /**
   * Ends a batch: what comes before `failure` (a block counted within the batch, the refused one behind its last
   * included, and why it is refused) stays, the rest is taken back. Throws what ended the batch, unless it was a block
   * that does not read, which counts as missing from now on: it may come again.
   */
  settle(batch: PreparedBatch, failure: { readonly block: number; readonly reject: Reject } | undefined): Settled {
    const good = failure === undefined ? batch.blocks : batch.blocks.slice(0, failure.block)
    this.takeBack({ blocks: batch.blocks.slice(good.length) })
    const started = performance.now()
    for (const [i, { block, delta, id }] of good.entries()) {
      try {
        if (!this.index.has(id, Status.HAVE_UNDO)) {
          this.index.setUndo(id, this.files.appendUndo(block.hash, encodeUndo(delta)))
        }
      } catch (cause) {
        // A block without undo data could never be left again.
        this.takeBack({ blocks: good.slice(i) })
        throw cause
      }
      this.index.addStatus(id, Status.VALID)
      this.onTrust--
    }
    this.timings.append += performance.now() - started
    const bad = failure === undefined ? undefined : batch.blocks[failure.block] ?? batch.refused
    const refused = bad === undefined || failure === undefined
      ? batch.refused
      : { id: bad.id, reject: failure.reject }
    const damaged = refused === undefined ? this.missing(batch.thrown) : this.changedOnDisk(refused.id)
    if (refused !== undefined && damaged === undefined) this.markFailed(refused.id)
    this.candidates.prune(this.tip)
    return {
      connected: good.map(({ block, delta, id }) => ({ id, block, effects: delta.effects })),
      refused: damaged === undefined ? refused : undefined,
      damaged
    }
  }

  /** Takes the blocks of a batch back, which are the last of the chain. */
  takeBack({ blocks }: Pick<PreparedBatch, "blocks">): void {
    for (const { delta } of [...blocks].reverse()) {
      this.active.pop()
      this.coins.apply(inverse(delta), delta.claimsBefore)
      this.onTrust--
    }
  }

  /**
   * A block that is refused although it passed all checks that need no coins when it came: its bytes may have changed on
   * disk, in a witness or a proof that neither hash nor merkle root cover. It is not to be held against the block.
   */
  private changedOnDisk(id: number): StorageCorrupted | undefined {
    const block = this.block(id)
    const reject = checkBlock(block, this.params) ?? checkBlockContext(block, {
      height: this.index.height(id),
      medianTimePast: this.index.medianTimePast(this.index.parent(id)),
      params: this.params
    })
    if (reject === undefined) return undefined
    const damage = this.stored.damagedBlock(id, reject.reason)
    this.candidates.rebuild(this.active)
    return damage
  }

  private missing(thrown: PreparedBatch["thrown"]): StorageCorrupted | undefined {
    if (thrown === undefined) return undefined
    const { cause, id } = thrown
    if (!this.isDamage(id, cause)) throw cause
    this.candidates.rebuild(this.active)
    return cause
  }

  /** Takes the last block back. Returns its number. */
  disconnectTip(): number {
    const id = this.tip
    const block = this.block(id)
    const undone = undoBlock(block, this.undo(id))
    this.coins.apply(undone.coins, undone.claims)
    this.active.pop()
    return id
  }

  /** A connected block as followers want it. */
  connected(id: number): Connected {
    const block = this.block(id)
    return { id, block, effects: nameEffects(block, this.index.height(id), this.params) }
  }

  /** Notes that a block is to be taken as invalid (`invalidateblock`); the caller then follows `nextStep`. */
  invalidate(id: number): void {
    // There is no chain without it.
    if (id !== 0) this.markFailed(id)
  }

  /** Takes back what `invalidate` or a refusal noted of a block, its ancestors and what builds on it. */
  reconsider(id: number): void {
    const height = this.index.height(id)
    for (let other = 0; other < this.index.count; other++) {
      const related = this.index.height(other) >= height
        ? this.index.ancestor(other, height) === id
        : this.index.ancestor(id, this.index.height(other)) === other
      if (related) this.index.clearStatus(other, Status.FAILED | Status.FAILED_PARENT)
    }
    for (let other = 0; other < this.index.count; other++) {
      const parent = this.index.parent(other)
      if (parent !== NONE && this.index.isFailed(parent)) this.index.addStatus(other, Status.FAILED_PARENT)
    }
    this.candidates.rebuild(this.active)
    this.best.find(this.tip)
  }

  /** The last headers of all branches, the best chain's tip among them, highest first. */
  tips(): ReadonlyArray<number> {
    const hasChild = new Uint8Array(this.index.count)
    for (let id = 0; id < this.index.count; id++) {
      const parent = this.index.parent(id)
      if (parent !== NONE) hasChild[parent] = 1
    }
    for (let height = this.settledHeight + 1; height <= this.height; height++) hasChild[this.at(height)] = 1
    hasChild[this.at(this.settledHeight)] = 0
    const tips: Array<number> = []
    for (let id = 0; id < this.index.count; id++) if (hasChild[id] === 0) tips.push(id)
    return tips.sort((a, b) => this.index.height(b) - this.index.height(a))
  }

  /**
   * Headers with their proofs, read from the stored blocks: up to the first whose block is not stored. Throws
   * `StorageFailure`.
   */
  fullHeaders(ids: ReadonlyArray<number>): ReadonlyArray<BlockHeader> {
    const headers: Array<BlockHeader> = []
    for (const id of ids) {
      if (!this.index.has(id, Status.HAVE_DATA)) break
      headers.push(this.stored.header(id))
    }
    return headers
  }

  /** Whether memory for coins is used up, so that a flush is due. */
  get flushDue(): boolean {
    return this.coins.memory > this.options.coinCacheBytes
  }

  /**
   * Stores everything: block bytes first, then one commit from the last stored tip to this one. Returns whether there was
   * anything to store.
   */
  flush(): boolean {
    // What nobody judged must not become what is stored.
    if (this.onTrust > 0) throw new Error(`${this.onTrust} blocks are connected on trust while the chain is stored`)
    const started = performance.now()
    const pages = this.index.takeDirtyPages()
    try {
      if (pages.length === 0 && !this.coins.hasChanges) return false
      this.files.sync()
      const rest = { pages, headerCount: this.index.count, bestHash: this.index.hash(this.tip) }
      this.coins.flush(rest, this.options.coinCacheBytes / 2)
      this.database.committed()
      chainstateFlushDuration.observe((performance.now() - started) / 1000)
      return true
    } catch (cause) {
      this.index.restoreDirtyPages(pages.map(({ page }) => page))
      throw cause
    } finally {
      this.timings.flush += performance.now() - started
    }
  }

  close(): void {
    this.files.close()
    this.database.close()
  }
}

/** The reference node's word for a proposal that does not build on the tip (BIP 23). */
const NOT_ON_TIP = reject("inconclusive-not-best-prevblk")

const NOTHING_UNDONE: Undo = { removed: new Map(), claimsBefore: new Map() }

/** What takes a block's effect on the coins back. */
const inverse = ({ coins, removed }: BlockDelta) =>
  new Map([...coins.keys()].map((outpoint) => [outpoint, removed.get(outpoint)] as const))
