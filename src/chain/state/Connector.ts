import { monotonic } from "../../base/clock.ts"
import { checkBlock, checkBlockBody, checkBlockContext } from "../../consensus/block.ts"
import { type BlockUndo, connectBlock, undoBlock } from "../../consensus/connectBlock.ts"
import { blockFlags } from "../../consensus/flags.ts"
import { nameEffects } from "../../consensus/names.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { type Reject, reject } from "../../consensus/Reject.ts"
import type { NameEffect, ScriptCheck } from "../../consensus/view.ts"
import type { Block, BlockHeader } from "../../protocol/block.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import type { HeaderId, Height } from "../../protocol/keys.ts"
import type { Steps } from "../../protocol/steps.ts"
import type { BlockFiles } from "../../storage/BlockFiles.ts"
import { StorageCorrupted } from "../../storage/errors.ts"
import { type BlockIndex, GENESIS, NONE, Status } from "../index/BlockIndex.ts"
import { scriptsAssumed } from "../index/scriptsAssumed.ts"
import type { ActiveChain } from "./ActiveChain.ts"
import { decodeUndo, encodeUndo } from "./coinCodec.ts"
import type { CoinStore } from "./CoinStore.ts"
import type { Forks } from "./Forks.ts"
import type { StoredBlocks } from "./StoredBlocks.ts"
import type { Timings } from "./timings.ts"

/** A connected block with unverified scripts. What it spent is packed, as a batch has thousands of coins. */
interface Prepared {
  readonly id: HeaderId
  readonly block: Block
  readonly effects: ReadonlyArray<NameEffect>
  readonly undo: Bytes
}

/** A batch of connected blocks with unverified scripts, and the error that ended it, if any. */
export interface PreparedBatch {
  readonly blocks: ReadonlyArray<Prepared>
  readonly refused: { readonly id: HeaderId; readonly reject: Reject } | undefined
  readonly thrown: { readonly id: HeaderId; readonly cause: unknown } | undefined
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

export interface Connected {
  readonly id: HeaderId
  readonly block: Block
  readonly effects: ReadonlyArray<NameEffect>
  /** Its encoded undo data; `undefined` if they are only on disk. */
  readonly undo?: Bytes
}

/** A batch ends at the first of these limits. */
export interface BatchLimits {
  readonly blocks: number
  readonly inputs: number
  readonly bytes: number
}

/** Receives the script checks of a block, by its index in the batch. */
export type CheckScripts = (block: number, checks: ReadonlyArray<ScriptCheck>, flags: number) => void

export interface ConnectorParts {
  readonly params: ConsensusParams
  readonly index: BlockIndex
  readonly active: ActiveChain
  readonly forks: Forks
  readonly coins: CoinStore
  readonly files: BlockFiles
  readonly stored: StoredBlocks
  readonly timings: Timings
  /** Checks a header against its predecessor. */
  readonly checkPlace: (header: BlockHeader) => Reject | undefined
}

/** The reference node's reason for a proposal that does not build on the tip (BIP 23). */
const NOT_ON_TIP = reject("inconclusive-not-best-prevblk")

/**
 * Connects batches of blocks to the best chain, and disconnects blocks. `prepare` connects the blocks of a batch
 * without their scripts, `settle` keeps them up to the first invalid script.
 */
export class Connector {
  private readonly params: ConsensusParams
  private readonly index: BlockIndex
  private readonly active: ActiveChain
  private readonly forks: Forks
  private readonly coins: CoinStore
  private readonly files: BlockFiles
  private readonly stored: StoredBlocks
  private readonly timings: Timings
  private readonly checkPlace: ConnectorParts["checkPlace"]

  constructor(parts: ConnectorParts) {
    this.params = parts.params
    this.index = parts.index
    this.active = parts.active
    this.forks = parts.forks
    this.coins = parts.coins
    this.files = parts.files
    this.stored = parts.stored
    this.timings = parts.timings
    this.checkPlace = parts.checkPlace
  }

  /**
   * Connects blocks on the way from the tip to `target` without their scripts, passing each block's script checks to
   * `check`. This includes a refused block after the last one, whose scripts may give the actual reason. `settle` ends
   * the batch. One step per block; no other block may be connected before the last.
   */
  *prepare(target: HeaderId, limits: BatchLimits, check: CheckScripts): Steps<PreparedBatch> {
    const blocks: Array<Prepared> = []
    const end = Math.min(this.index.height(target), this.active.height + limits.blocks)
    let bytes = 0
    for (let inputs = 0; this.active.height < end && inputs < limits.inputs && bytes < limits.bytes;) {
      const id = this.index.ancestor(target, this.active.height + 1)
      try {
        const block = this.stored.block(id)
        const flags = blockFlags(this.active.height + 1, this.params)
        const result = this.connectOnTrust(id, block, flags)
        if ("reject" in result) {
          check(blocks.length, result.scripts, flags)
          return { blocks, refused: { id, reject: result.reject }, thrown: undefined }
        }
        const { delta } = result
        check(blocks.length, delta.scripts, flags)
        const prepared = { id, block, effects: delta.effects, undo: encodeUndo(delta) }
        this.coins.apply(delta.coins, delta.claims)
        this.active.pushOnTrust(id)
        blocks.push(prepared)
        bytes += block.size
        for (const { coins } of delta.scripts) inputs += coins.length
      } catch (cause) {
        // The blocks before it are valid and must be settled first.
        return { blocks, refused: undefined, thrown: { id, cause } }
      }
      yield
    }
    return { blocks, refused: undefined, thrown: undefined }
  }

  private connectOnTrust(id: HeaderId, block: Block, flags: number) {
    const started = monotonic()
    const prev = this.index.parent(id)
    const result = connectBlock({
      block,
      height: this.index.height(id),
      params: this.params,
      flags,
      view: this.coins,
      medianTimePast: prev === NONE ? 0 : this.index.medianTimePast(prev),
      medianTimePastAt: (height: Height) => this.index.medianTimePast(this.index.ancestor(id, height)),
      checkScripts: !scriptsAssumed(this.index, { id, best: this.forks.best.reachable }, this.params)
    })
    this.timings.connect += monotonic() - started
    return result
  }

  /**
   * Validates a block on top of the tip without proof of work and without storing it. Returns its script checks for the
   * caller. Source: upstream `validation.cpp`, `TestBlockValidity`.
   */
  judge(block: Block): Judged {
    const { tip } = this.active
    const refuse = (reject: Reject): Judged => ({ reject, scripts: [], flags: 0 })
    if (!equal(block.header.prevHash, this.index.hash(tip))) return refuse(NOT_ON_TIP)
    const place = {
      height: this.active.height + 1,
      medianTimePast: this.index.medianTimePast(tip),
      params: this.params
    }
    const broken = checkBlockBody(block) ?? this.checkPlace(block) ?? checkBlockContext(block, place)
    if (broken !== undefined) return refuse(broken)
    const flags = blockFlags(place.height, this.params)
    const result = connectBlock({
      ...place,
      block,
      flags,
      // The block is not connected, so its coins are not kept in memory.
      view: this.coins.passing,
      medianTimePastAt: (height) => this.index.medianTimePast(this.active.at(height)),
      checkScripts: true
    })
    return "reject" in result
      ? { ...result, flags }
      : { reject: undefined, scripts: result.delta.scripts, flags }
  }

  /**
   * Ends a batch: keeps the blocks before `failure` and disconnects the others. `failure` is the index in the batch, or
   * of the refused block after it, and the reason. Throws the error that ended the batch, except for a damaged block,
   * which counts as missing from now on.
   */
  settle(batch: PreparedBatch, failure: { readonly block: number; readonly reject: Reject } | undefined): Settled {
    const good = failure === undefined ? batch.blocks : batch.blocks.slice(0, failure.block)
    this.takeBack({ blocks: batch.blocks.slice(good.length) })
    const started = monotonic()
    for (const [i, { block, id, undo }] of good.entries()) {
      try {
        if (!this.index.has(id, Status.HAVE_UNDO)) {
          this.index.setUndo(id, this.files.appendUndo(block.hash, undo))
        }
      } catch (cause) {
        // A block without undo data could never be disconnected.
        this.takeBack({ blocks: good.slice(i) })
        throw cause
      }
      this.index.addStatus(id, Status.VALID)
      this.active.settleOne()
    }
    this.timings.append += monotonic() - started
    const bad = failure === undefined ? undefined : batch.blocks[failure.block] ?? batch.refused
    const refused = bad === undefined || failure === undefined
      ? batch.refused
      : { id: bad.id, reject: failure.reject }
    const damaged = refused === undefined ? this.missing(batch.thrown) : this.changedOnDisk(refused.id)
    if (refused !== undefined && damaged === undefined) this.forks.markFailed(refused.id)
    this.forks.prune()
    this.stored.forgetConnected()
    return {
      connected: good.map(({ block, effects, id, undo }) => ({ id, block, effects, undo })),
      refused: damaged === undefined ? refused : undefined,
      damaged
    }
  }

  takeBack({ blocks }: Pick<PreparedBatch, "blocks">): void {
    for (const { block, id, undo } of [...blocks].reverse()) {
      const { claims, coins } = this.undone(id, block, decodeUndo(undo))
      this.active.popOnTrust()
      this.coins.apply(coins, claims)
    }
  }

  /**
   * Repeats the checks that a refused block passed when it was stored. If it fails them now, its bytes changed on disk,
   * in a witness or proof that neither hash nor merkle root covers, and it counts as damaged instead of invalid.
   */
  private changedOnDisk(id: HeaderId): StorageCorrupted | undefined {
    const block = this.stored.block(id)
    const reject = checkBlock(block, this.params) ?? checkBlockContext(block, {
      height: this.index.height(id),
      medianTimePast: this.index.medianTimePast(this.index.parent(id)),
      params: this.params
    })
    if (reject === undefined) return undefined
    const damage = this.stored.damagedBlock(id, reject.reason)
    this.forks.findCandidates()
    return damage
  }

  private missing(thrown: PreparedBatch["thrown"]): StorageCorrupted | undefined {
    if (thrown === undefined) return undefined
    const { cause, id } = thrown
    if (!this.isDamage(id, cause)) throw cause
    this.forks.findCandidates()
    return cause
  }

  /** Whether the damaged bytes of this block caused an error. Not for genesis, which is built in. */
  private isDamage(id: HeaderId, cause: unknown): cause is StorageCorrupted {
    return id !== GENESIS && cause instanceof StorageCorrupted &&
      cause.file === this.files.path("blk", this.index.dataPlace(id).file)
  }

  disconnectTip(): HeaderId {
    const id = this.active.tip
    const block = this.stored.block(id)
    const undone = this.undone(id, block, this.stored.undo(id))
    this.coins.apply(undone.coins, undone.claims)
    this.active.pop()
    return id
  }

  private undone(id: HeaderId, block: Block, undo: BlockUndo): ReturnType<typeof undoBlock> {
    return undoBlock(block, undo, { height: this.index.height(id), params: this.params })
  }

  connected(id: HeaderId): Connected {
    const block = this.stored.block(id)
    return { id, block, effects: nameEffects(block, this.index.height(id), this.params) }
  }
}
