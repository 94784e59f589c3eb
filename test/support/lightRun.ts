import { Effect, Either } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Random } from "../../scripts/crash/random.ts"
import { BlockIndex } from "../../src/chain/index/BlockIndex.ts"
import { isExpired } from "../../src/consensus/expiry.ts"
import { LightChain } from "../../src/light/LightChain.ts"
import { LightHeaders } from "../../src/light/LightHeaders.ts"
import { verifyLink } from "../../src/light/signatures.ts"
import { inspectedWindow, type WindowChanges, WindowFile } from "../../src/light/WindowFile.ts"
import { type Block, type BlockHeader, makeBlock } from "../../src/protocol/block.ts"
import { type Bytes, toHex } from "../../src/protocol/bytes.ts"
import { makeHeader } from "../../src/protocol/header.ts"
import { type StorageFailure, StorageUnavailable } from "../../src/storage/errors.ts"
import { removeDatabase, requireSound } from "../../src/storage/inspect.ts"
import { type Branch, type Truth, worked, type World } from "./lightWorld.ts"

/**
 * Random hostile runs of a light chain. A driver gives it headers and blocks of honest and hostile peers in any order, stops it
 * at any point, fills its disk, damages its file and moves its clock. After each step every answer has to be true at the tip
 * that the chain names, and in the end, with one honest peer, all answers have to be there.
 */

/** A false answer: what was answered, and what is true. */
export class WrongAnswer extends Error {}

const DAY = 86_400

/** Steps before the honest end of a run. */
const STEPS = 40

const isStorage = (cause: unknown): cause is StorageFailure =>
  typeof cause === "object" && cause !== null && "_tag" in cause && String(cause._tag).startsWith("Storage")

/** A window file whose next writes can fail. */
class FailingFile extends WindowFile {
  /** The writes until one fails; `undefined` for never. */
  failsIn: number | undefined

  override change<A>(work: (changes: WindowChanges) => A): A {
    return super.change((changes) => {
      const result = work(changes)
      if (this.failsIn !== undefined && this.failsIn-- <= 0) {
        this.failsIn = undefined
        throw new StorageUnavailable({ file: this.filename, doing: "writing", reason: "disk full" })
      }
      return result
    })
  }
}

class Run {
  private readonly world: World
  private readonly random: Random
  private readonly directory: string
  private file: FailingFile
  private chain: LightChain
  private clock: number
  private readonly peers: ReadonlyArray<Branch>
  /** How many times as many headers and blocks as usual a peer gives at once: a long chain needs more. */
  private readonly most: number
  restarts = 0
  answers = 0
  complete = 0

  constructor(world: World, random: Random, directory: string) {
    this.world = world
    this.random = random
    this.directory = directory
    this.clock = (world.main.blocks.at(-1)?.header.time ?? 0) + 600
    const { blocks, held } = world.main
    // A peer that is behind all others, and may be the first one.
    const stale = { blocks: blocks.slice(0, -(7 + random.below(60))), held }
    this.peers = [stale, world.main, ...world.forks]
    this.most = blocks.length > 300 ? 4 : 1
    const { chain, file } = this.open()
    this.chain = chain
    this.file = file
  }

  private get filename(): string {
    return join(this.directory, "names-window.db")
  }

  private open(): { readonly file: FailingFile; readonly chain: LightChain } {
    for (;;) {
      let file: FailingFile | undefined
      try {
        file = new FailingFile(this.filename, 4096)
        const index = new BlockIndex()
        const stored = file.state()
        if (stored !== undefined) index.load(file.pages(), stored.headerCount)
        const headers = new LightHeaders(index, this.world.params, () => this.clock)
        return { file, chain: new LightChain(file, headers) }
      } catch (cause) {
        if (!isStorage(cause)) throw cause
        file?.close()
        removeDatabase(this.filename)
      }
    }
  }

  /** Ends without a last word, and starts again with what is in the file. */
  private restart(): void {
    this.restarts++
    this.file.close()
    const { chain, file } = this.open()
    this.chain = chain
    this.file = file
  }

  close(): void {
    this.file.close()
  }

  /** Does a step. A failure of the file ends the chain, as it ends a node. */
  private guarded(step: () => void): void {
    try {
      step()
    } catch (cause) {
      if (!isStorage(cause)) throw cause
      if (cause._tag === "StorageCorrupted") this.forget()
      else this.restart()
    }
  }

  /** Begins again with an empty directory. */
  private forget(): void {
    this.file.close()
    removeDatabase(this.filename)
    const { chain, file } = this.open()
    this.chain = chain
    this.file = file
  }

  /** A header that no rule allows, made from a true one; or one with work whose block no peer has. */
  private spoiled({ header }: Block): BlockHeader {
    const kind = this.random.below(5)
    const parts = {
      version: header.version,
      prevHash: kind === 0 ? this.random.bytes(32) : kind === 4 ? header.hash : header.prevHash,
      merkleRoot: kind === 1 ? this.random.bytes(32) : header.merkleRoot,
      time: kind === 2 ? this.clock + 3 * DAY : header.time + (kind === 4 ? 600 : 0),
      bits: kind === 3 ? 0x1d00ffff : header.bits
    }
    return { header: makeHeader({ ...parts, nonce: this.random.below(1 << 20) }), auxpow: undefined }
  }

  private giveHeaders({ blocks }: Branch): void {
    const { chain, random } = this
    let from = blocks.findLastIndex(({ hash }) => chain.index.find(hash) !== -1)
    if (random.chance(0.2)) from = random.below(blocks.length)
    for (const block of blocks.slice(from + 1, from + 2 + random.below(90 * this.most))) {
      // At the end of a chain, a header without its block may have the most work.
      const spoils = random.chance(block === blocks.at(-1) ? 0.1 : 0.01)
      chain.headers.accept(spoils ? this.spoiled(block) : block)
    }
    chain.review()
    if (random.chance(0.5)) chain.begin()
  }

  /** A block with other content than its header says. */
  private altered(block: Block): Block {
    const { transactions } = block
    const [first, ...rest] = transactions
    if (first === undefined) return block
    const other = this.random.chance(0.5)
      ? transactions.slice(0, -1)
      : [first, ...rest, ...rest.slice(-1)]
    return makeBlock(block, other)
  }

  private giveBlocks({ blocks }: Branch): void {
    const { chain, random } = this
    const wanted = blocks.filter(({ hash }) => {
      const id = chain.index.find(hash)
      return id !== -1 && !chain.hasBlock(id)
    })
    const count = 1 + random.below(60 * this.most)
    // The newest first, or those above the window.
    const some = random.chance(0.7) ? wanted.slice(-count) : wanted.slice(0, count)
    // A hostile peer withholds some of them, and changes others.
    const [withheld, liar] = [random.chance(0.3) ? 0.3 : 0, random.chance(0.3) ? 0.3 : 0]
    while (some.length > 0) {
      const [block] = some.splice(random.chance(0.7) ? some.length - 1 : random.below(some.length), 1)
      if (block === undefined || random.chance(withheld)) continue
      chain.take(random.chance(liar) ? this.altered(block) : block)
      if (random.chance(0.1)) this.settle()
    }
    this.settle()
  }

  private settle(): void {
    this.chain.settle()
    this.chain.review()
  }

  private checkSignatures(): void {
    const { chain, file, random, world: { params } } = this
    const links = file.nextLinks(1 + random.below(50))
    const rules = { params, low: chain.range.low }
    file.change((changes) => {
      for (const link of links) changes.checked(link, verifyLink(link, rules))
    })
  }

  /** Changes bits of the file, and starts again as a node does: with a check of the whole file first. */
  private async damage(): Promise<void> {
    this.file.close()
    const bytes = readFileSync(this.filename)
    for (let i = 0; i < 1 + this.random.below(3); i++) {
      const at = this.random.below(bytes.length)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << this.random.below(8))
    }
    if (this.random.chance(0.2)) writeFileSync(this.filename, bytes.subarray(0, this.random.below(bytes.length)))
    else writeFileSync(this.filename, bytes)
    const found = await Effect.runPromise(Effect.either(requireSound(inspectedWindow(this.filename))))
    if (Either.isLeft(found)) removeDatabase(this.filename)
    this.restart()
  }

  /** All answers, against what is true at the tip that the chain names. */
  private compare(): void {
    const { chain, file, world } = this
    const tip = chain.tree.tip()
    const truth = chain.range.high === -1 ? undefined : world.truth(chain.tree.hash(tip))
    for (const name of world.names) {
      const found = file.newest(name)
      const lives = found !== undefined && !isExpired(found, chain.height, world.params)
      const wanted = truth?.get(toHex(name))
      if (lives) {
        this.answers++
        const isTrue = wanted !== undefined && wanted.height === found.height && wanted.value === toHex(found.value)
        if (!isTrue) throw this.wrong(name, `${toHex(found.value)} of ${found.height}`, wanted)
        if (chain.proves(file.proof(name)) && !wanted.signed) throw this.wrong(name, "signatures", wanted)
      } else if (chain.isComplete) {
        this.answers++
        if (wanted !== undefined) throw this.wrong(name, "no such name", wanted)
      }
    }
    if (chain.isComplete) this.complete++
  }

  private wrong(name: Bytes, answer: string, truth: Truth | undefined): WrongAnswer {
    const { height, isComplete, range } = this.chain
    const expected = truth === undefined ? "no such name" : `${truth.value} of ${truth.height}, signed ${truth.signed}`
    const state = JSON.stringify({ height, low: range.low, isComplete })
    return new WrongAnswer(`${toHex(name)}: ${answer}; true: ${expected}; ${state}`)
  }

  private step(): void {
    const { random } = this
    const dice = random.below(100)
    if (dice < 30) this.giveHeaders(random.pick(this.peers))
    else if (dice < 70) this.giveBlocks(random.pick(this.peers))
    else if (dice < 80) this.checkSignatures()
    else if (dice < 86) this.restart()
    else if (dice < 89) this.chain.flush()
    else if (dice < 92) this.file.failsIn = random.below(4)
    else if (dice < 97) this.clock += random.chance(0.5) ? DAY : -DAY
    else this.chain.begin()
  }

  /** Takes a branch to its end in some steps, the oldest blocks first, as a node does that follows a peer. */
  private follow({ blocks }: Branch): void {
    const { chain } = this
    for (let end = 0; end < blocks.length;) {
      end = Math.min(blocks.length, end + 80 + this.random.below(80))
      for (const block of blocks.slice(1, end)) chain.headers.accept(block)
      chain.review()
      chain.begin()
      for (const block of blocks.slice(1, end)) {
        const id = chain.index.find(block.hash)
        if (id !== -1 && !chain.hasBlock(id)) chain.take(block)
      }
      this.settle()
      this.compare()
    }
  }

  async hostile(): Promise<void> {
    // Each of these branches has more work than the one before, and fewer blocks.
    if (this.world.shrinks && this.random.chance(0.5)) {
      for (const fork of this.world.forks) {
        this.guarded(() => this.follow(fork))
        if (this.random.chance(0.3)) this.guarded(() => this.step())
        this.guarded(() => this.compare())
      }
    }
    for (let i = 0; i < STEPS; i++) {
      if (this.random.chance(0.02)) await this.damage()
      else this.guarded(() => this.step())
      this.guarded(() => this.compare())
    }
  }

  /** A header with the most work, on the chain or beside its last block. No peer has its block. */
  private withheld(): BlockHeader {
    const { blocks } = this.world.main
    const parent = blocks.at(this.random.chance(0.5) ? -1 : -2)
    if (parent === undefined) throw new Error("the chain has two blocks")
    const { bits, time, version } = parent.header
    const parts = { version, prevHash: parent.hash, merkleRoot: this.random.bytes(32), time: time + 600, bits }
    return { header: worked(parts), auxpow: undefined }
  }

  /** From now on there is an honest peer, nothing fails, and time passes. Some peers still withhold a block. */
  honest(): void {
    const { blocks } = this.world.main
    const { random } = this
    const withheld = random.chance(0.4) ? this.withheld() : undefined
    if (random.chance(0.2)) this.forget()
    if (withheld !== undefined) { for (const block of blocks.slice(1, -1)) this.chain.headers.accept(block) }
    this.file.failsIn = undefined
    this.clock = (blocks.at(-1)?.header.time ?? 0) + DAY
    for (let round = 0; round < 5 && !this.isDone; round++) {
      this.clock += 60
      this.guarded(() => {
        if (withheld !== undefined) this.chain.headers.accept(withheld)
        for (const block of blocks.slice(1)) this.chain.headers.accept(block)
        if (withheld !== undefined) this.chain.headers.accept(withheld)
        this.chain.review()
        this.chain.begin()
        for (const block of blocks.toReversed()) {
          const id = this.chain.index.find(block.hash)
          if (id !== -1 && !this.chain.hasBlock(id)) this.chain.take(block)
        }
        this.settle()
        while (this.file.nextLinks(1).length > 0) this.checkSignatures()
      })
      this.guarded(() => this.compare())
    }
    if (!this.isDone) throw new WrongAnswer(`the chain is not complete: ${JSON.stringify(this.chain.range)}`)
  }

  private get isDone(): boolean {
    const { chain, world } = this
    // Just above an anchor, names may live below it.
    const [anchor] = world.params.anchors
    const isWhole = chain.isComplete || chain.range.low === (anchor?.height ?? 0) + 1
    return chain.isFilled && isWhole && chain.height === world.main.blocks.length - 1
  }
}

export interface RunFigures {
  readonly answers: number
  readonly restarts: number
  /** Steps after which the window was complete. */
  readonly complete: number
}

/** Runs the run of a seed in a world. Throws `WrongAnswer`. */
export const hostileRun = async (world: World, seed: number, parent = tmpdir()): Promise<RunFigures> => {
  const directory = mkdtempSync(join(parent, "svcd-light-"))
  try {
    const run = new Run(world, Random.of(seed, 2), directory)
    try {
      await run.hostile()
      run.honest()
    } finally {
      run.close()
    }
    const { answers, complete, restarts } = run
    return { answers, complete, restarts }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
