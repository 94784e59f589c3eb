import { type Context, Effect, Either, Exit, Layer, Scope } from "effect"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Random } from "../../scripts/crash/random.ts"
import { NameClient } from "../../src/client/NameClient.ts"
import type { NameRecord } from "../../src/client/records.ts"
import { Light } from "../../src/light/Light.ts"
import { MOST_BEHIND } from "../../src/light/windowBranches.ts"
import * as LightClient from "../../src/node/lightClient.ts"
import { type Block, makeBlock } from "../../src/protocol/block.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { encodeText } from "../../src/protocol/nameText.ts"
import { type FakePeer, type FakePeerOptions, ServedBlocks } from "../network/sync/fakePeers.ts"
import { following, lightLayer, type LightService } from "./lightNode.ts"
import { type Truth, worked, type World } from "./lightWorld.ts"
import { ManualClock } from "./manualClock.ts"
import { noPeers } from "./peers.ts"

/**
 * Random hostile runs of a whole light client: peers in memory that follow a script, the sync, the light node with its cache,
 * and the client that answers. Peers are behind, withhold or change blocks, stay silent, are slow, and go over to other branches;
 * the node is stopped and killed at any point. Each answer has to be true at the tip at which it was given, and in the end,
 * with one honest peer, all answers have to be there. Time is that of a clock that the run moves.
 */

/** A false answer: what was answered, and what is true. */
export class WrongClientAnswer extends Error {}

/** Steps before the honest end of a run. */
const STEPS = 25

/** Blocks that a window may lack and still say that a name does not exist. */
const MOST_MISSING = 2

/** Simulated seconds within which an honest peer leads to all answers. */
const PATIENCE = 1_800

/** A node with its client, until its scope closes. */
interface OpenClient {
  readonly scope: Scope.CloseableScope
  readonly light: LightService
  readonly client: Context.Tag.Service<NameClient>
  readonly connect: (served: ServedBlocks, options?: FakePeerOptions) => Effect.Effect<FakePeer>
  readonly announce: (peer: FakePeer, headers: ReadonlyArray<Block>) => Effect.Effect<void>
  readonly peers: Array<FakePeer>
}

interface RunParts {
  readonly world: World
  readonly random: Random
  /** Directories of data are made in it. */
  readonly parent: string
  readonly clock: ManualClock
}

class ServiceRun {
  private readonly world: World
  private readonly random: Random
  private readonly parent: string
  private readonly clock: ManualClock
  private directory: string
  private node: OpenClient | undefined
  answers = 0
  restarts = 0
  notSynced = 0
  tips = new Set<string>()

  constructor({ clock, parent, random, world }: RunParts) {
    this.clock = clock
    this.world = world
    this.random = random
    this.parent = parent
    this.directory = mkdtempSync(join(parent, "node-"))
  }

  private readonly opened: Effect.Effect<OpenClient> = Effect.suspend(() => {
    if (this.node !== undefined) return Effect.succeed(this.node)
    return Effect.gen(this, function*() {
      const scope = yield* Scope.make()
      const { params } = this.world
      const context = yield* Layer.buildWithScope(
        Layer.provideMerge(
          Layer.provide(LightClient.namesLayer(undefined), noPeers),
          lightLayer(this.directory, { params })
        ),
        scope
      )
      const [light, client] = yield* Effect.provide(Effect.all([Light, NameClient]), context)
      const { announce, connect } = yield* Scope.extend(following(light), scope)
      this.node = { scope, light, client, announce, connect, peers: [] }
      return this.node
    }).pipe(Effect.orDie)
  })

  /** Stops the node. `kill`: with what its file has at this moment, as after SIGKILL. */
  readonly stop = (kill: boolean): Effect.Effect<void> =>
    Effect.suspend(() => {
      const { node } = this
      if (node === undefined) return Effect.void
      this.node = undefined
      this.restarts++
      const [used, next] = [this.directory, kill ? mkdtempSync(join(this.parent, "node-")) : this.directory]
      if (kill) cpSync(used, next, { recursive: true })
      this.directory = next
      return Effect.zipRight(
        Scope.close(node.scope, Exit.void),
        Effect.sync(() => kill ? rmSync(used, { recursive: true, force: true }) : undefined)
      )
    })

  /** A block with other content than its header says. */
  private altered(block: Block): Block {
    const { transactions } = block
    return makeBlock(
      block,
      this.random.chance(0.5) ? transactions.slice(0, -1) : [...transactions, ...transactions.slice(-1)]
    )
  }

  /** What a peer has: a chain of the world, up to its end or some blocks before it. */
  private chainOfPeer(): ReadonlyArray<Block> {
    const { random, world: { forks, main } } = this
    const { blocks } = random.pick([main, main, ...forks])
    return random.chance(0.4) ? blocks.slice(0, -(1 + random.below(60))) : blocks
  }

  private optionsOfPeer(): FakePeerOptions {
    const { random } = this
    const [withheld, changed] = [random.chance(0.3) ? 0.3 : 0, random.chance(0.2) ? 0.2 : 0]
    return {
      type: random.chance(0.5) ? "outbound-full-relay" : "manual",
      headers: !random.chance(0.1),
      lacks: () => withheld > 0 && random.chance(withheld / 4),
      serve: (block) => random.chance(withheld) ? undefined : random.chance(changed) ? this.altered(block) : block,
      ...(random.chance(0.3) ? { latency: random.below(8_000) } : {})
    }
  }

  /** A peer goes over to another chain, and announces its last blocks. */
  private readonly moved = ({ announce, peers }: OpenClient): Effect.Effect<void> => {
    const { random } = this
    const open = peers.filter(({ closed }) => !closed)
    if (open.length === 0) return Effect.void
    const peer = random.pick(open)
    const blocks = this.chainOfPeer()
    peer.served.extend(blocks.slice(1))
    return announce(peer, blocks.slice(-1 - random.below(8)))
  }

  /** A header with work, or none, whose block no peer has, from a peer. */
  private readonly spoiled = ({ announce, peers }: OpenClient): Effect.Effect<void> => {
    const { random, world: { main } } = this
    const open = peers.filter(({ closed }) => !closed)
    const parent = main.blocks.at(-1 - random.below(3))
    if (open.length === 0 || parent === undefined) return Effect.void
    const { bits, time, version } = parent.header
    const header = worked({
      version,
      prevHash: random.chance(0.1) ? random.bytes(32) : parent.hash,
      merkleRoot: random.bytes(32),
      time: time + 600,
      bits
    })
    return announce(random.pick(open), [makeBlock({ header, auxpow: undefined }, parent.transactions)])
  }

  private readonly step: Effect.Effect<void> = Effect.suspend(() => {
    const { random } = this
    const dice = random.below(100)
    if (dice < 8) return this.stop(random.chance(0.7))
    return Effect.flatMap(this.opened, (node) => {
      const { connect, peers } = node
      if (dice < 30) {
        return Effect.map(connect(new ServedBlocks(this.chainOfPeer()), this.optionsOfPeer()), (peer) => {
          peers.push(peer)
        })
      }
      if (dice < 40) return this.moved(node)
      if (dice < 45) return this.spoiled(node)
      if (dice < 52) {
        return Effect.sync(() => {
          const open = peers.filter(({ closed }) => !closed)
          if (open.length > 0) random.pick(open).disconnect({ reason: "the run ends it", misbehaving: false })
        })
      }
      return this.clock.pass(random.chance(0.2) ? random.below(60_000) : 250 * (1 + random.below(12)))
    })
  })

  /** Asks for all names. */
  readonly compare: Effect.Effect<void> = Effect.suspend(() => {
    const { node } = this
    if (node === undefined) return Effect.void
    const { client, light } = node
    const { tree } = light.chain
    return Effect.gen(this, function*() {
      for (const name of this.world.names) {
        const text = encodeText(name, "utf8") ?? ""
        const before = tree.tip()
        const found = yield* Effect.either(client.resolveName(text))
        const after = tree.tip()
        this.tips.add(toHex(tree.hash(after)))
        const truths = [before, after].map((tip) => this.world.truth(tree.hash(tip)).get(toHex(name)))
        if (Either.isLeft(found)) {
          // A name that is missing and means another one, such as d/UPPER, is an InvalidRequest.
          const _tag = found.left._tag === "InvalidRequest" ? "NameNotFound" : found.left._tag
          if (_tag === "NotSynced") this.notSynced++
          else if (_tag === "NameNotFound" || _tag === "NameExpired") {
            this.answers++
            if (!truths.includes(undefined)) throw this.wrong(text, _tag, truths)
            // What is in memory of an expired name is answered with a sync state that is up to 50 real milliseconds old.
            if (_tag === "NameNotFound" && this.missing(light) > MOST_MISSING) {
              throw this.wrong(text, `${_tag} from an old window`, truths)
            }
          } else throw this.wrong(text, `${_tag}: ${found.left.message}`, truths)
        } else {
          this.answers++
          const record = found.right
          if (!truths.some((truth) => isTrue(record, truth))) throw this.wrong(text, JSON.stringify(record), truths)
          if (this.missing(light) > MOST_BEHIND) throw this.wrong(text, "an answer of an old window", truths)
        }
      }
    })
  })

  /** Blocks with more work than those of the window that it lacks. */
  private missing({ chain: { tree } }: LightService): number {
    const [best, tip] = [tree.best(), tree.tip()]
    return tree.compareWork(best, tip) <= 0 ? 0 : tree.height(best) - tree.height(tree.forkPoint(best, tip))
  }

  private wrong(name: string, answer: string, truths: ReadonlyArray<Truth | undefined>): WrongClientAnswer {
    const expected = truths.map((truth) =>
      truth === undefined ? "no such name" : `${truth.value} of ${truth.height}, signed ${truth.signed}`
    )
    return new WrongClientAnswer(`${name}: ${answer}; true: ${expected.join(" or ")}`)
  }

  readonly hostile: Effect.Effect<void> = Effect.gen(this, function*() {
    for (let i = 0; i < STEPS; i++) {
      yield* this.step
      if (this.random.chance(0.6)) yield* this.compare
    }
  })

  /** An honest peer comes, and time passes, until all answers are there. */
  readonly honest: Effect.Effect<void> = Effect.gen(this, function*() {
    const { random, world: { main } } = this
    const node = yield* this.opened
    if (random.chance(0.5)) {
      for (const peer of node.peers) peer.disconnect({ reason: "the run ends it", misbehaving: false })
    }
    yield* node.connect(new ServedBlocks(main.blocks))
    for (let passed = 0; passed < PATIENCE; passed++) {
      yield* this.clock.pass(1_000)
      if (passed % 5 === 0) {
        yield* this.compare
        if (yield* this.isDone(node)) return
      }
    }
    const { light } = node
    const { blocks, names, of, phase, tip, unchecked } = yield* light.progress
    const state = { blocks, of, names, phase, height: tip.height, unchecked, missing: this.missing(light) }
    throw new WrongClientAnswer(`not all answers are there in the end: ${JSON.stringify(state)}`)
  })

  private isDone({ client, light }: OpenClient): Effect.Effect<boolean> {
    const { main, names, params, shrinks } = this.world
    const tip = main.blocks.at(-1)
    return Effect.gen(this, function*() {
      const { chain: { tree } } = light
      const { unchecked } = yield* light.progress
      if (tip === undefined || toHex(tree.hash(tree.tip())) !== toHex(tip.hash) || unchecked > 0) return false
      const truth = this.world.truth(tip.hash)
      // A header whose block is withheld, and an anchor near the tip, leave it open which names do not exist.
      const isCertain = this.missing(light) === 0 && (yield* light.complete)
      const [anchor] = params.anchors
      const isShort = tree.height(tree.tip()) - (anchor?.height ?? 0) < 130
      if (!isCertain && !isShort && this.missing(light) === 0) return false
      for (const name of names) {
        const found = yield* Effect.either(client.resolveName(encodeText(name, "utf8") ?? ""))
        const wanted = truth.get(toHex(name))
        const isWindowed = wanted !== undefined && wanted.height > (anchor?.height ?? 0)
        const isUnsigned = Either.isRight(found) && found.right.asOf.proof === "work"
        // A window that is longer than it has to be, after the chain became shorter, takes less on trust.
        if (isUnsigned && wanted?.signed === true && !shrinks) return false
        if (Either.isLeft(found) && isWindowed) return false
        if (isCertain && Either.isLeft(found) && found.left._tag === "NotSynced") return false
      }
      if (!isCertain) return true
      const listed = yield* Effect.orDie(client.listNames())
      return listed.length === truth.size
    })
  }
}

const isTrue = ({ asOf: { proof }, height, value }: NameRecord, truth: Truth | undefined): boolean =>
  truth !== undefined && truth.height === height && truth.value === toHex(new TextEncoder().encode(value)) &&
  (proof === "work" || truth.signed)

export interface ServiceFigures {
  readonly answers: number
  readonly restarts: number
  readonly notSynced: number
  /** Different tips at which answers were asked for. */
  readonly tips: number
}

/** Runs the run of a seed in a world. It dies with `WrongClientAnswer`. */
export const serviceRun = (world: World, seed: number, parent = tmpdir()): Effect.Effect<ServiceFigures> =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(parent, "svcd-light-"))),
    (directory) =>
      Effect.gen(function*() {
        const end = world.main.blocks.at(-1)?.header.time ?? 0
        const clock = new ManualClock(1_000 * (end + 600))
        const run = new ServiceRun({ world, random: Random.of(seed, 3), parent: directory, clock })
        yield* Effect.zipRight(run.hostile, run.honest).pipe(Effect.ensuring(run.stop(false)), Effect.withClock(clock))
        const { answers, notSynced, restarts, tips } = run
        return { answers, notSynced, restarts, tips: tips.size }
      }),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )
