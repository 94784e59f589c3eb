import { checkBlock, checkBlockContext } from "../../src/consensus/block.ts"
import { type BlockUndo, connectBlock, undoBlock } from "../../src/consensus/connectBlock.ts"
import type { HeaderPoint } from "../../src/consensus/difficulty.ts"
import { blockFlags } from "../../src/consensus/flags.ts"
import { checkHeaderContext } from "../../src/consensus/header.ts"
import type { ConsensusParams } from "../../src/consensus/params.ts"
import { type Reject, reject, rejectAs } from "../../src/consensus/Reject.ts"
import { verifyTransaction } from "../../src/consensus/verifyInput.ts"
import type { BlockDelta, ChainView, Coin, NameClaim, ScriptCheck } from "../../src/consensus/view.ts"
import { type Block, decodeBlock } from "../../src/protocol/block.ts"
import { binaryString } from "../../src/protocol/bytes.ts"
import type { Height, NameKey } from "../../src/protocol/keys.ts"

/** Returns what is wrong with the scripts of a transaction, in the reference node's words. */
export type VerifyScripts = (check: ScriptCheck, flags: number) => string | undefined

export const verifyScripts: VerifyScripts = (check, flags) => verifyTransaction(check, flags)?.message

/** For tests of other things than scripts. */
export const trustScripts: VerifyScripts = () => undefined

/** The result for a block that was offered: its effect on the tip's state, or the reason for its refusal. */
export type Verdict =
  | { readonly type: "valid"; readonly delta: BlockDelta }
  /** Valid as far as can be checked for a block that is not on top of the tip. */
  | { readonly type: "stored" }
  | { readonly type: "refused"; readonly reject: Reject }

export interface JudgeOptions {
  /** The clock, seconds since 1970. */
  readonly now?: number
  readonly verify?: VerifyScripts
}

interface Linked {
  readonly block: Block
  readonly undo: BlockUndo
}

/** A time at which all fixtures give the same answer. */
const SOME_TIME = 1_900_000_000

/**
 * A chain in memory: the rules in the order in which a node applies them, over plain maps. It keeps one branch; a block
 * with another parent is checked as far as that goes without coins.
 */
export class MemoryChain implements ChainView {
  readonly params: ConsensusParams
  readonly coins = new Map<string, Coin>()
  readonly claims = new Map<NameKey, NameClaim>()
  private readonly verify: VerifyScripts
  private readonly linked: Array<Linked> = []
  private readonly heights = new Map<string, number>()
  private readonly failed = new Set<string>()
  private readonly named = new Map<Height, Set<NameKey>>()

  constructor(params: ConsensusParams, verify: VerifyScripts = verifyScripts) {
    this.params = params
    this.verify = verify
    const block = decodeBlock(params.network.genesisBlock)
    this.link(block, { removed: new Map(), claimsBefore: new Map() })
  }

  readonly coin = (outpoint: string): Coin | undefined => this.coins.get(outpoint)

  readonly claim = (name: NameKey): NameClaim | undefined => this.claims.get(name)

  readonly claimsBetween = (from: Height, to: Height): ReadonlyArray<readonly [name: NameKey, claim: NameClaim]> => {
    const found: Array<readonly [name: NameKey, claim: NameClaim]> = []
    for (let height = from; height <= to; height++) {
      for (const name of this.named.get(height) ?? []) {
        const claim = this.claims.get(name)
        if (claim !== undefined) found.push([name, claim])
      }
    }
    return found
  }

  get height(): number {
    return this.linked.length - 1
  }

  get tip(): Block {
    return this.blockAt(this.height)
  }

  private at(height: number): Linked {
    const linked = this.linked[height]
    if (linked === undefined) throw new RangeError(`no block at height ${height}`)
    return linked
  }

  blockAt(height: number): Block {
    return this.at(height).block
  }

  undoAt(height: number): BlockUndo {
    return this.at(height).undo
  }

  readonly point = (height: number): HeaderPoint => {
    const { bits, time } = this.blockAt(height).header
    return { height, time, bits }
  }

  readonly medianTimePastAt = (height: number): number => {
    const times: Array<number> = []
    for (let at = height; at >= 0 && times.length < 11; at--) times.push(this.blockAt(at).header.time)
    return times.sort((a, b) => a - b)[times.length >> 1] ?? 0
  }

  /** Validates a block; changes nothing but the memory of invalid blocks. */
  judge(block: Block, { now = SOME_TIME, verify = this.verify }: JudgeOptions = {}): Verdict {
    const { params } = this
    const broken = checkBlock(block, params)
    if (broken !== undefined) return { type: "refused", reject: broken }
    const prevKey = binaryString(block.header.prevHash)
    if (this.failed.has(prevKey)) return { type: "refused", reject: rejectAs("invalid-prev", "bad-prevblk") }
    const prev = this.heights.get(prevKey)
    if (prev === undefined) return { type: "refused", reject: rejectAs("missing-prev", "prev-blk-not-found") }
    const medianTimePast = this.medianTimePastAt(prev)
    const misplaced = checkHeaderContext({
      header: block.header,
      prev: this.point(prev),
      medianTimePast,
      ancestor: this.point,
      params,
      now
    }) ?? this.remember(block, checkBlockContext(block, { height: prev + 1, medianTimePast, params }))
    if (misplaced !== undefined) return { type: "refused", reject: misplaced }
    return prev === this.height ? this.judgeOnTip(block, medianTimePast, verify) : { type: "stored" }
  }

  private judgeOnTip(block: Block, medianTimePast: number, verify: VerifyScripts): Verdict {
    const height = this.height + 1
    const { medianTimePastAt, params } = this
    const flags = blockFlags(height, params)
    const checkScripts = verify !== trustScripts
    const result = connectBlock({
      block,
      height,
      params,
      flags,
      view: this,
      medianTimePast,
      medianTimePastAt,
      checkScripts
    })
    const refused = "reject" in result
    for (const check of refused ? result.scripts : result.delta.scripts) {
      const error = verify(check, flags)
      if (error === undefined) continue
      const broken = reject(`block-script-verify-flag-failed (${error})`)
      return { type: "refused", reject: this.remember(block, broken) }
    }
    return refused
      ? { type: "refused", reject: this.remember(block, result.reject) }
      : { type: "valid", delta: result.delta }
  }

  private remember<R extends Reject | undefined>(block: Block, broken: R): R {
    if (broken !== undefined && broken.kind !== "mutated") this.failed.add(binaryString(block.hash))
    return broken
  }

  /** Adds a block to the chain; throws where it is invalid. */
  connect(block: Block, options?: JudgeOptions): BlockDelta {
    const verdict = this.judge(block, options)
    if (verdict.type !== "valid") {
      const why = verdict.type === "stored" ? "not on the tip" : `${verdict.reject.reason}, ${verdict.reject.detail}`
      throw new Error(`block ${this.height + 1} is refused: ${why}`)
    }
    const { delta } = verdict
    this.apply(delta.coins, delta.claims)
    this.link(block, delta)
    return delta
  }

  /** Disconnects the last block. */
  disconnect(): Block {
    const { block, undo } = this.at(this.height)
    const { claims, coins } = undoBlock(block, undo, { height: this.height, params: this.params })
    this.apply(coins, claims)
    this.linked.pop()
    this.heights.delete(binaryString(block.hash))
    return block
  }

  private link(block: Block, { claimsBefore, removed }: BlockUndo): void {
    this.heights.set(binaryString(block.hash), this.linked.length)
    this.linked.push({ block, undo: { removed, claimsBefore } })
  }

  private apply(
    coins: ReadonlyMap<string, Coin | undefined>,
    claims: ReadonlyMap<NameKey, NameClaim | undefined>
  ): void {
    for (const [key, coin] of coins) {
      if (coin === undefined) this.coins.delete(key)
      else this.coins.set(key, coin)
    }
    for (const [name, claim] of claims) this.setClaim(name, claim)
  }

  private setClaim(name: NameKey, claim: NameClaim | undefined): void {
    const before = this.claims.get(name)
    if (before !== undefined) this.named.get(before.height)?.delete(name)
    if (claim === undefined) {
      this.claims.delete(name)
      return
    }
    this.claims.set(name, claim)
    const names = this.named.get(claim.height) ?? new Set()
    this.named.set(claim.height, names.add(name))
  }
}
