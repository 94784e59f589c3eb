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
  readonly pageSize: number
  /** Bytes that coins may use in memory before a flush. */
  readonly coinCacheBytes: number
  readonly now: () => number
  /** Called synchronously when damage of chainstate.db is found. The next start rebuilds it. */
  readonly onDamage?: (damage: StorageCorrupted) => void
}

export type Accepted =
  | { readonly type: "new"; readonly id: number }
  | { readonly type: "known"; readonly id: number }
  | { readonly type: "rejected"; readonly reject: Reject }

/** A connected block whose scripts are not verified yet. */
interface Prepared {
  readonly id: number
  readonly block: Block
  readonly delta: BlockDelta
}

/** A batch of connected blocks with unverified scripts, and the error that ended it, if any. */
export interface PreparedBatch {
  readonly blocks: ReadonlyArray<Prepared>
  readonly refused: { readonly id: number; readonly reject: Reject } | undefined
  readonly thrown: { readonly id: number; readonly cause: unknown } | undefined
}

/** The result of validating a block without connecting it. `reject` applies if all its scripts are valid. */
export interface Judged {
  readonly reject: Reject | undefined
  readonly scripts: ReadonlyArray<ScriptCheck>
  readonly flags: number
}

export interface Settled {
  readonly connected: ReadonlyArray<Connected>
  readonly refused: PreparedBatch["refused"]
  /** The error of a damaged block, which counts as missing from now on. */
  readonly damaged: StorageCorrupted | undefined
}

export type Step =
  | { readonly type: "none" }
  | { readonly type: "disconnect" }
  | { readonly type: "connect"; readonly target: number }
  /** A block that has to be disconnected is missing. The reorg waits for it. */
  | { readonly type: "wait"; readonly missing: number }

export interface Connected {
  readonly id: number
  readonly block: Block
  readonly effects: ReadonlyArray<NameEffect>
}

/**
 * The best chain: header tree, block files, coins and claims, and the steps from one tip to another. All methods are
 * synchronous. `Chain` is the only writer; it calls them for one block or batch at a time, and converts the errors
 * (`StorageFailure`).
 *
 * Invariants: a block's bytes and undo data are on disk before a commit refers to them. Coins, claims, index and best
 * block change in one commit. The active chain never contains a failed block. It contains blocks with unverified
 * scripts only while a batch is prepared.
 */
export class ChainState {
  readonly params: ConsensusParams
  readonly index = new BlockIndex()
  readonly files: BlockFiles
  readonly database: ChainDatabase
  readonly coins: CoinStore
  readonly timings: Timings = noTime()
  readonly repairs: Array<string> = []
  /** The parts of the block files after the last indexed record, at the start. */
  readonly tails: ReadonlyArray<Tail>
  readonly losses = new BlockLosses(this.index, this)
  private readonly options: ChainStateOptions
  private readonly candidates: Candidates
  private readonly wayBack: WayBack
  readonly stored: StoredBlocks
  /** Numbers of the headers of the best chain, by height. */
  private readonly active: Array<number> = []
  /** The number of blocks at the end of the best chain whose scripts are not verified yet. */
  private onTrust = 0
  readonly best = new BestHeader(this.index, this.losses)

  /** Opens the stores and repairs them. Throws `StorageFailure`. */
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
    // Existing block files are kept: they may have a chain whose index was deleted.
    if (!this.hasStrayBlocks) this.storeGenesis()
  }

  /** Stores the genesis block if it is missing. This also ends a rebuild: see `hasStrayBlocks`. */
  storeGenesis(): void {
    if (this.index.has(0, Status.HAVE_DATA)) return
    const genesis = decodeBlock(this.params.network.genesisBlock)
    const place = this.files.appendBlock(genesis.bytes)
    this.index.setData(0, place, genesis.transactions.length, recordChecksum(genesis.bytes))
  }

  /**
   * Whether there are block files that are not indexed, or not completely: the index was deleted and has to be rebuilt.
   * Genesis is indexed last, so that an interrupted rebuild is resumed.
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

  get tip(): number {
    return this.active[this.active.length - 1] ?? 0
  }

  get height(): number {
    return this.active.length - 1
  }

  /** The number of the header with the most work that is not invalid and that the chain can reach. */
  get bestHeader(): number {
    return this.best.reachable
  }

  at(height: number): number {
    return this.active[height] ?? NONE
  }

  /** The height of the last validated block. Readers see the chain up to it. */
  get settledHeight(): number {
    return this.height - this.onTrust
  }

  /** Whether a block is in the validated part of the best chain. */
  isActive(id: number): boolean {
    const height = this.index.height(id)
    return height <= this.settledHeight && this.active[height] === id
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
    this.best.consider(id)
    return { type: "new", id }
  }

  /** Checks a header against its predecessor: time, target and version, without its proof. */
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

  /** Offers a block: checks it without coins, and stores it. `lies` is its location if it is in our files already. */
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

  /** "new" means that the caller has to store the block. */
  private checkedBlock(block: Block): Accepted {
    const broken = checkBlock(block, this.params)
    if (broken !== undefined) return { type: "rejected", reject: broken }
    const known = this.index.find(block.hash)
    // A missing block of the best chain is accepted even if it is marked as failed: it is needed to disconnect it.
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

  /** Marks a block and its descendants as invalid. */
  private markFailed(failed: number): void {
    this.index.addStatus(failed, Status.FAILED)
    // Children have higher numbers than their parents: so one ascending pass finds all descendants.
    for (let id = failed + 1; id < this.index.count; id++) {
      const parent = this.index.parent(id)
      if (parent !== NONE && this.index.isFailed(parent)) this.index.addStatus(id, Status.FAILED_PARENT)
    }
    this.stored.forget(failed)
    this.candidates.rebuild(this.active)
    this.best.find(this.tip)
  }

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
   * Throws `StorageFailure`. A damaged block counts as missing from then on: it is stored again when a peer sends it.
   */
  block(id: number): Block {
    return this.stored.block(id)
  }

  /** Whether the damaged bytes of this block caused an error. Genesis is excluded: its bytes are built in. */
  private isDamage(id: number, cause: unknown): cause is StorageCorrupted {
    return id !== 0 && cause instanceof StorageCorrupted &&
      cause.file === this.files.path("blk", this.index.dataPlace(id).file)
  }

  undo(id: number): Undo {
    return this.stored.undo(id)
  }

  /**
   * Connects blocks on the way from the tip to `target`, without their scripts. Each block's script checks are passed
   * to `check`. This includes a refused block after the last one, whose scripts may give the actual reason. `settle`
   * ends the batch with the result of the checks.
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
        // The blocks before it are valid and have to be settled first.
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
   * Validates a block on top of the tip, without proof of work and without storing it. Returns its script checks for
   * the caller. Source: upstream `validation.cpp`, `TestBlockValidity`.
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
      // The block is not connected, so its coins are not kept in memory.
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

  /** The error of a chain state that has to be rebuilt from the blocks. The next start does this. */
  beyondRepair(found: string): StorageCorrupted {
    requestRebuild(this.options.chainstateDirectory, found)
    const remedy = "Start the node again: it rebuilds the chain state from the stored blocks"
    return new StorageCorrupted({ file: this.database.file, found, remedy })
  }

  /**
   * Ends a batch. The blocks before `failure` stay, the others are disconnected. `failure` is the index of a block in
   * the batch, or of the refused block after it, and the reason. Throws the error that ended the batch, except for a
   * damaged block, which counts as missing from now on.
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
        // A block without undo data could never be disconnected.
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

  takeBack({ blocks }: Pick<PreparedBatch, "blocks">): void {
    for (const { delta } of [...blocks].reverse()) {
      this.active.pop()
      this.coins.apply(inverse(delta), delta.claimsBefore)
      this.onTrust--
    }
  }

  /**
   * Checks a refused block again. It passed all checks that need no coins when it was stored. If it fails them now, its
   * bytes changed on disk, in a witness or proof that neither hash nor merkle root covers: then the block counts as
   * damaged, not as invalid.
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

  /** Disconnects the last block. Returns its number. */
  disconnectTip(): number {
    const id = this.tip
    const block = this.block(id)
    const undone = undoBlock(block, this.undo(id))
    this.coins.apply(undone.coins, undone.claims)
    this.active.pop()
    return id
  }

  connected(id: number): Connected {
    const block = this.block(id)
    return { id, block, effects: nameEffects(block, this.index.height(id), this.params) }
  }

  /** Marks a block as invalid (`invalidateblock`). The caller then follows `nextStep`. */
  invalidate(id: number): void {
    // Genesis is part of every chain.
    if (id !== 0) this.markFailed(id)
  }

  /** Withdraws `invalidate` or a refusal for a block, its ancestors and its descendants. */
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

  /** The last headers of all branches, the best chain's tip included, highest first. */
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

  /** Headers with their proofs, up to the first block that is not stored. Throws `StorageFailure`. */
  fullHeaders(ids: ReadonlyArray<number>): ReadonlyArray<BlockHeader> {
    const headers: Array<BlockHeader> = []
    for (const id of ids) {
      if (!this.index.has(id, Status.HAVE_DATA)) break
      headers.push(this.stored.header(id))
    }
    return headers
  }

  /** Whether the coins use more memory than their budget, so that a flush is due. */
  get flushDue(): boolean {
    return this.coins.memory > this.options.coinCacheBytes
  }

  /** Stores everything: block bytes first, then one commit to this tip. Returns whether there were changes. */
  flush(): boolean {
    // Blocks with unverified scripts must not be stored as the best chain.
    if (this.onTrust > 0) throw new Error(`flush refused: the scripts of ${this.onTrust} blocks are not verified yet`)
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

/** The reference node's reason for a proposal that does not build on the tip (BIP 23). */
const NOT_ON_TIP = reject("inconclusive-not-best-prevblk")

const NOTHING_UNDONE: Undo = { removed: new Map(), claimsBefore: new Map() }

/** The changes of coins that disconnect a block. */
const inverse = ({ coins, removed }: BlockDelta) =>
  new Map([...coins.keys()].map((outpoint) => [outpoint, removed.get(outpoint)] as const))
