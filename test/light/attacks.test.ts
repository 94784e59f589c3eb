import { assert, describe } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import { type Block, makeBlock } from "../../src/protocol/block.ts"
import { eventually } from "../support/eventually.ts"
import {
  type LightNodeOptions,
  type LightService,
  names,
  namesOf,
  nextBlock,
  passUntil,
  registered,
  until,
  updated
} from "../support/lightNode.ts"
import { pass, simulated } from "../support/simulated.ts"
import { ANCHORED, attack, extended, GENESIS, MAIN, type Stage, staged, STOLEN } from "./lightStage.ts"

/**
 * The attacks of the table in docs/light.md, one by one, with peers that follow a script. Each ends in true answers, or in
 * none with a reason. Kills, full disks and damaged files are in `windowFaults.test.ts`, slow and silent peers for headers
 * in `headerPeers.test.ts`, and all of them at random in `hostileRuns.test.ts`.
 */

const TIP = MAIN.length - 1

/** A branch with more names and less work. */
const POORER = extended(MAIN.slice(0, 221), TIP - 1, { branch: 1, at: { 222: [registered("d/false", "of the fork")] } })

/** A branch that leaves the chain below the last anchor, and has more work. */
const WITHOUT_ANCHOR = extended(MAIN.slice(0, 71), TIP + 20, {
  branch: 1,
  at: { 240: [registered("d/false", "of the fork")] }
})

const TRUTH = namesOf(MAIN)

const timeOf = (blocks: ReadonlyArray<Block>): number => blocks.at(-1)?.header.time ?? 0

/** An attack whose time begins five minutes after the last block. */
const slowAttack = (
  name: string,
  use: (stage: Stage) => Effect.Effect<void, unknown, Scope.Scope>,
  { now = timeOf(MAIN) + 300, ...options }: LightNodeOptions & { readonly now?: number } = {}
) => simulated(name, () => staged(use, { params: ANCHORED, ...options }), { now: 1_000 * now })

const DAY = 86_400

/** A network that makes blocks all the time, and a chain of it: it ends before the first retarget. */
const MINING: ConsensusParams = { ...regtestParams, noRetargeting: false }
const MINED = MAIN.slice(0, 141)

const isFilled = (light: LightService): boolean => Effect.runSync(light.progress).phase === "ready"

/** All answers are true, and there are all of them. */
const isTrue = ({ client, light }: Stage, truth = TRUTH) =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* names(light), truth)
    assert.isTrue((yield* client.freshness).synced)
    const missing = yield* Effect.flip(client.resolveName("d/false"))
    assert.strictEqual(missing._tag, "NameNotFound")
  })

/** Nothing is said of a name that may exist. */
const saysNothing = ({ client }: Stage, name: string) =>
  Effect.gen(function*() {
    const failure = yield* Effect.flip(client.resolveName(name))
    assert.strictEqual(failure._tag, "NotSynced")
    return failure
  })

describe("attacks on a light node", () => {
  attack("a fork after the anchor with less work", (stage) =>
    Effect.gen(function*() {
      const { connect, light } = stage
      yield* connect(POORER)
      yield* until(light, TIP - 1)
      assert.deepStrictEqual(yield* names(light), namesOf(POORER))
      yield* connect(MAIN)
      yield* until(light, TIP)
      yield* isTrue(stage)
      yield* connect(POORER)
      yield* connect(MAIN)
      yield* until(light, TIP)
      yield* isTrue(stage)
    }))

  attack(
    "a header chain that leaves the chain below the last anchor, with more work",
    (stage) =>
      Effect.gen(function*() {
        const { connect, light } = stage
        const liar = yield* connect(WITHOUT_ANCHOR)
        yield* eventually("the liar is disconnected", () => liar.disconnection?.misbehaving === true)
        yield* saysNothing(stage, "d/false")
        yield* connect(MAIN)
        yield* until(light, TIP)
        yield* isTrue(stage)
      })
  )

  attack("a chain that lacks the first anchor", (stage) =>
    Effect.gen(function*() {
      const { connect, light } = stage
      const stranger = yield* connect(extended([GENESIS], TIP + 20, { branch: 1 }))
      yield* eventually("the stranger is disconnected", () => stranger.closed)
      assert.include(stranger.disconnection?.reason, "lacks the anchor")
      yield* saysNothing(stage, "d/open")
      yield* connect(MAIN)
      yield* until(light, TIP)
      yield* isTrue(stage)
    }))

  attack("a peer that has the window and not the anchor", (stage) =>
    Effect.gen(function*() {
      const { announce, connect, light } = stage
      const late = yield* connect(MAIN, { headers: false })
      yield* eventually("the peer is asked", () => late.got("getheaders").length > 0)
      yield* announce(late, MAIN.slice(-20))
      assert.strictEqual(light.chain.tree.count(), 1)
      yield* saysNothing(stage, "d/open")
      yield* connect(MAIN, { headers: true })
      late.disconnect({ reason: "the test ends it", misbehaving: false })
      yield* until(light, TIP)
      yield* isTrue(stage)
    }))

  const altered: ReadonlyArray<readonly [string, (block: Block) => Block]> = [
    [
      "a block with another transaction than its merkle root says",
      (block) => makeBlock(block, [...block.transactions.slice(0, -1), registered("d/false", "of a liar")])
    ],
    ["a block from which a transaction is left out", (block) => makeBlock(block, block.transactions.slice(0, -1))]
  ]
  for (const [name, alter] of altered) {
    attack(name, (stage) =>
      Effect.gen(function*() {
        const { connect, light } = stage
        const liar = yield* connect(MAIN, {
          serve: (block) => block.transactions.length > 1 ? alter(block) : block
        })
        yield* eventually("the liar is disconnected", () => liar.disconnection?.misbehaving === true)
        yield* saysNothing(stage, "d/open")
        yield* connect(MAIN)
        yield* until(light, TIP)
        yield* isTrue(stage)
      }))
  }

  slowAttack("a block withheld for ever", (stage) =>
    Effect.gen(function*() {
      const { client, connect, light } = stage
      yield* connect(MAIN, { serve: (block, height) => height === 215 ? undefined : block })
      yield* passUntil("the blocks above it", () => Effect.runSync(light.progress).blocks === TIP - 215)
      yield* pass(20_000)
      // Names above it are known, and none that may be below it is denied.
      assert.strictEqual((yield* client.resolveName("d/late")).value, "new")
      assert.deepInclude({ ...yield* saysNothing(stage, "d/other") }, { phase: "window" })
      yield* saysNothing(stage, "d/never")
      yield* connect(MAIN)
      yield* passUntil("the window", () => isFilled(light))
      yield* isTrue(stage)
    }))

  slowAttack("a header with the most work whose block is withheld", (stage) =>
    Effect.gen(function*() {
      const { client, connect, light } = stage
      const ahead = [...MAIN, nextBlock(MAIN, { branch: 1, time: timeOf(MAIN) + 1 })]
      yield* connect(ahead, { serve: (block, height) => height > TIP ? undefined : block })
      yield* connect(MAIN)
      const waited = yield* passUntil("the window below it", () => isFilled(light), 1_000)
      assert.isAtMost(waited, 60_000)
      yield* isTrue(stage)
      // A block that does not come for long may have any name.
      yield* pass(115_000)
      assert.strictEqual((yield* client.resolveName("d/open")).value, "second")
      yield* saysNothing(stage, "d/never")
    }), { now: timeOf(MAIN) + 490 })

  slowAttack(
    "a peer with the most work that gives no block, before an honest one comes",
    (stage) =>
      Effect.gen(function*() {
        const { connect, light } = stage
        const ahead = extended(MAIN, TIP + 3, { branch: 1 })
        yield* connect(ahead, { serve: () => undefined })
        yield* passUntil("its headers", () => Effect.runSync(light.progress).headers === TIP + 3)
        // It has no header above its tip to show where its chain ends.
        yield* connect(MAIN)
        const waited = yield* passUntil("the window", () => isFilled(light), 1_000)
        assert.isAtMost(waited, 60_000)
        assert.deepStrictEqual(yield* names(light), TRUTH)
      })
  )

  slowAttack("a branch of two headers with the most work whose blocks are withheld", (stage) =>
    Effect.gen(function*() {
      const { announce, connect, light } = stage
      const ahead = extended(MAIN.slice(0, TIP), TIP + 1, { branch: 1 })
      yield* connect(ahead, { serve: (block, height) => height >= TIP ? undefined : block })
      const honest = yield* connect(MAIN)
      yield* passUntil("the window of the other", () => isFilled(light), 1_000)
      assert.deepStrictEqual(yield* names(light), TRUTH)
      const grown = extended(MAIN, TIP + 2, { at: { [TIP + 2]: [registered("d/newer", "of the honest chain")] } })
      honest.served.extend(grown.slice(TIP + 1))
      yield* announce(honest, grown.slice(TIP + 1))
      yield* passUntil("the tip", () => Effect.runSync(light.progress).tip.height === TIP + 2)
      yield* isTrue(stage, namesOf(grown))
    }))

  slowAttack("a slow peer", (stage) =>
    Effect.gen(function*() {
      const { connect, light } = stage
      yield* connect(MAIN, { latency: 60_000 })
      yield* connect(MAIN, { latency: 100 })
      const waited = yield* passUntil("the window", () => isFilled(light))
      assert.isAtMost(waited, 30_000)
      yield* isTrue(stage)
    }))

  attack("an update in the window that the owner did not sign", (stage) =>
    Effect.gen(function*() {
      const { client, connect, light } = stage
      const stolen = extended(MAIN, TIP + 1, { at: { [TIP + 1]: [updated("d/stolen", "of a thief", STOLEN)] } })
      yield* connect(stolen)
      yield* until(light, TIP + 1)
      const { asOf, value } = yield* client.resolveName("d/stolen")
      assert.deepStrictEqual([value, asOf.proof], ["of a thief", "work"])
      assert.strictEqual((yield* client.resolveName("d/open")).asOf.proof, "signatures")
      assert.deepInclude(yield* client.resolveDomain("open.bit"), {
        status: "no-data",
        asOf: { ...asOf, proof: "signatures" }
      })
      const refused = yield* Effect.flip(client.resolveName("d/stolen", { requireProof: "signatures" }))
      assert.strictEqual(refused._tag, "NotSynced")
    }))

  slowAttack("peers that withhold new blocks, on a network that mines", (stage) =>
    Effect.gen(function*() {
      const { announce, client, connect, light } = stage
      const peer = yield* connect(MINED)
      yield* passUntil("the window", () => isFilled(light))
      assert.isTrue((yield* client.freshness).synced)
      yield* pass(20_000)
      assert.isFalse((yield* client.freshness).synced)
      yield* saysNothing(stage, "d/never")
      const next = nextBlock(MINED, { time: timeOf(MINED) + 300 })
      peer.served.extend([next])
      yield* announce(peer, [next])
      yield* passUntil("the new block", () => Effect.runSync(light.progress).tip.height === MINED.length)
      assert.isTrue((yield* client.freshness).synced)
    }), { now: timeOf(MINED) + 300, params: MINING, maxTipAge: 310 })

  slowAttack("a clock that is a day slow", (stage) =>
    Effect.gen(function*() {
      const { client, connect, light } = stage
      yield* connect(MAIN)
      yield* passUntil("the window", () => isFilled(light))
      // Headers of the last day count as too far in the future: the answers are old, and say of when.
      const { height } = yield* client.freshness
      assert.isBelow(height, TIP - 100)
      assert.isAbove(height, TIP - 200)
      assert.deepStrictEqual(yield* names(light), namesOf(MAIN.slice(0, height + 1)))
    }), { now: timeOf(MAIN) - DAY })

  slowAttack("a clock that is a day fast, on a network that mines", (stage) =>
    Effect.gen(function*() {
      const { connect, light } = stage
      yield* connect(MINED)
      yield* passUntil("the window", () => isFilled(light))
      yield* saysNothing(stage, "d/never")
    }), { now: timeOf(MINED) + DAY + 300, params: MINING })
})
