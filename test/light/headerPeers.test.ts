import { assert, describe } from "@effect/vitest"
import { Effect, Schedule, type Scope } from "effect"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import { Services } from "../../src/network/wire/messages/version.ts"
import { type Block, decodeBlock } from "../../src/protocol/block.ts"
import { type FakePeer, ServedBlocks } from "../network/sync/fakePeers.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { following, grown, type LightService, onLight, passUntil } from "../support/lightNode.ts"
import { pass, simulated } from "../support/simulated.ts"

const ANCHOR = 100

const GENESIS = decodeBlock(regtestParams.network.genesisBlock)

/** More than one message of headers. */
const BLOCKS = grown([GENESIS], 4_500)

/** The chain up to the anchor, and another one from there, whose work is less than the least. */
const POOR = grown(BLOCKS.slice(0, ANCHOR + 1), 2_100, 1)

const blockAt = (height: number): Block => BLOCKS[height] ?? GENESIS

/** The work of a chain of regtest: two hashes a block. */
const workAt = (height: number): bigint => 2n * BigInt(height + 1)

const anchors = [{ height: ANCHOR, hash: blockAt(ANCHOR).hash, chainwork: workAt(ANCHOR) }]

const ANCHORED: ConsensusParams = { ...regtestParams, anchors }

/** The last block is older than a day: then not all peers are asked. */
const NOW = 1_000 * (blockAt(4_500).header.time + 200_000)

const headersOf = (light: LightService): number => Effect.runSync(light.progress).headers

/** Bytes arrive from a peer each second. */
const delivers = (peer: FakePeer, bytes: number) =>
  Effect.forkScoped(Effect.repeat(Effect.sync(() => void (peer.bytes += bytes)), Schedule.spaced("1 second")))

const test = (
  name: string,
  use: (light: LightService) => Effect.Effect<void, never, Scope.Scope>,
  { now = NOW, params = ANCHORED }: { readonly params?: ConsensusParams; readonly now?: number } = {}
) =>
  simulated(
    name,
    () => Effect.flatMap(temporaryDirectory, (directory) => onLight(directory, use, { params })),
    { now }
  )

describe("header peers of a light node", () => {
  test(
    "answers nothing while the headers of a second peer are on their way, for three seconds",
    (light) =>
      Effect.gen(function*() {
        const { connect } = yield* following(light)
        yield* connect(new ServedBlocks(BLOCKS.slice(0, 4_000)))
        yield* connect(new ServedBlocks(BLOCKS), { headers: false })
        const phase = Effect.map(light.progress, (progress) => progress.phase)
        yield* passUntil("the window of the first peer is filled", () => {
          const { blocks, of } = Effect.runSync(light.progress)
          return of > 0 && blocks === of
        })
        assert.strictEqual(yield* phase, "window")
        assert.isFalse(yield* light.complete)
        yield* pass(4_000)
        assert.strictEqual(yield* phase, "ready")
      }),
    { params: regtestParams, now: 1_000 * (blockAt(4_500).header.time + 600) }
  )

  test("asks a second peer when the first one is silent", (light) =>
    Effect.gen(function*() {
      const { connect } = yield* following(light)
      const first = yield* connect(new ServedBlocks(BLOCKS), { headers: false })
      yield* passUntil("the first peer is asked", () => first.got("getheaders").length === 1)
      const second = yield* connect(new ServedBlocks(BLOCKS))
      yield* pass(4_000)
      assert.lengthOf(second.got("getheaders"), 0)
      const waited = yield* passUntil("all headers", () => headersOf(light) === 4_500)
      assert.isAtMost(waited, 4_000)
    }))

  test("asks a second peer when the first one crawls, and keeps the faster one", (light) =>
    Effect.gen(function*() {
      const { connect } = yield* following(light)
      // The answer of 2,000 headers takes half a minute; a part of it arrives all the time.
      const first = yield* connect(new ServedBlocks(BLOCKS), { latency: 30_000 })
      yield* passUntil("the first peer is asked", () => first.got("getheaders").length === 1)
      const second = yield* connect(new ServedBlocks(BLOCKS), { latency: 1_000 })
      yield* delivers(first, 5_000)
      const waited = yield* passUntil("all headers", () => headersOf(light) === 4_500)
      assert.isAtMost(waited, 12_000)
      const asked = second.got("getheaders").length
      yield* pass(30_000)
      // Its answer had nothing new: it was not asked for more.
      assert.lengthOf(first.got("getheaders"), 1)
      assert.isAtLeast(asked, 3)
    }))

  test("asks no second peer while the first one is fast", (light) =>
    Effect.gen(function*() {
      const { connect } = yield* following(light)
      const first = yield* connect(new ServedBlocks(BLOCKS), { latency: 7_000 })
      const second = yield* connect(new ServedBlocks(BLOCKS))
      yield* delivers(first, 200_000)
      yield* passUntil("some headers", () => headersOf(light) >= 2_000)
      assert.lengthOf(second.got("getheaders"), 0)
    }))
})

describe("presync of a light node", () => {
  const minimum: ConsensusParams = { ...ANCHORED, minimumChainWork: workAt(3_000) }

  test("stores no header of a chain from the anchor that has too little work", (light) =>
    Effect.gen(function*() {
      const { connect } = yield* following(light)
      const { tree } = light.chain
      const poor = yield* connect(new ServedBlocks(POOR), { type: "outbound-full-relay" })
      yield* passUntil("the peer sent all", () => poor.got("getheaders").length >= 2)
      yield* pass(2_000)
      assert.strictEqual(tree.count(), 1)
      // It is not a reason to refuse the chain of another peer, which is walked twice from the anchor on.
      const rich = yield* connect(new ServedBlocks(BLOCKS))
      yield* passUntil("the headers of the other peer", () => headersOf(light) === 4_500)
      const starts = rich.got("getheaders").filter(({ locator: [first] }) =>
        first !== undefined && Buffer.from(first).equals(blockAt(ANCHOR).hash)
      )
      assert.isAtLeast(starts.length, 2)
      assert.strictEqual(tree.count(), 4_500 - ANCHOR + 1)
    }), { params: minimum })

  test(
    "walks headers between two anchors once: the hash of the last one fixes them",
    (light) =>
      Effect.gen(function*() {
        const { connect } = yield* following(light)
        const peer = yield* connect(new ServedBlocks(BLOCKS), { services: Services.network | Services.witness })
        yield* passUntil("all headers", () => headersOf(light) === 4_500)
        const asked = peer.got("getheaders").map(({ locator: [first] }) => Buffer.from(first ?? []).toString("hex"))
        assert.lengthOf(new Set(asked), asked.length)
      }),
    {
      params: {
        ...minimum,
        anchors: [...anchors, { height: 3_000, hash: blockAt(3_000).hash, chainwork: workAt(3_000) }]
      }
    }
  )

  test("starts at genesis without an anchor", (light) =>
    Effect.gen(function*() {
      const { connect } = yield* following(light)
      const poor = yield* connect(new ServedBlocks(POOR))
      yield* passUntil("the peer sent all", () => poor.got("getheaders").length >= 2)
      yield* pass(1_000)
      assert.strictEqual(light.chain.tree.count(), 1)
      yield* connect(new ServedBlocks(BLOCKS))
      yield* passUntil("all headers", () => headersOf(light) === 4_500)
    }), { params: { ...regtestParams, minimumChainWork: workAt(3_000) } })
})
