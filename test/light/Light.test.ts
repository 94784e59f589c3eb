import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import { join } from "node:path"
import { isExpired } from "../../src/consensus/expiry.ts"
import { isSigned, type LinkCheck } from "../../src/consensus/nameLink.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { makeLightReport } from "../../src/light/lightReport.ts"
import { checkOf } from "../../src/light/signatures.ts"
import { WindowFile } from "../../src/light/WindowFile.ts"
import { Services } from "../../src/network/wire/messages/version.ts"
import { type Block, makeBlock } from "../../src/protocol/block.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { decodeTransaction } from "../../src/protocol/transaction.ts"
import { ServedBlocks } from "../network/sync/fakePeers.ts"
import { blocksOf, temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { GENESIS_BLOCK } from "../support/lightChain.ts"
import {
  following,
  grown,
  type LightService,
  names,
  namesOf,
  nextBlock,
  onLight,
  registered,
  until,
  updated
} from "../support/lightNode.ts"
import { makeWorld } from "../support/lightWorld.ts"
import { simulated } from "../support/simulated.ts"

const BLOCKS = blocksOf("regtest-names/blocks.dat")

const namesAt = (tip: number): ReadonlyMap<string, string> => namesOf(BLOCKS.slice(0, tip + 1))

const test = (
  name: string,
  use: (directory: string) => Effect.Effect<void, unknown, never>
) => simulated(name, () => Effect.flatMap(temporaryDirectory, use))

const run = (
  directory: string,
  use: (light: LightService) => Effect.Effect<void, unknown, never>,
  params = regtestParams
) => onLight(directory, use, { params })

describe("Light", () => {
  test("answers from the last blocks of a chain, and follows it", (directory) =>
    run(directory, (light) =>
      Effect.scoped(Effect.gen(function*() {
        const report = makeLightReport(light)
        const { announce, connect } = yield* following(light)
        const served = new ServedBlocks(BLOCKS.slice(0, 401))
        assert.deepInclude(yield* report, { phase: "headers", proof: "work", height: 0, synced: false, percent: 0 })
        const peer = yield* connect(served)
        yield* until(light, 400)
        const { window, ...rest } = yield* report
        assert.deepStrictEqual(rest, {
          phase: "ready",
          proof: "signatures",
          height: 400,
          headers: 400,
          synced: true,
          percent: 100,
          secondsLeft: 0
        })
        assert.deepInclude(window, { blocks: 130, of: 130, unchecked: 0 })
        assert.deepStrictEqual(yield* names(light), namesAt(400))
        assert.isTrue(yield* light.complete)
        // Only the window was requested.
        assert.isAtMost(peer.askedBlocks.length, 131)
        served.extend(BLOCKS.slice(401, 421))
        yield* announce(peer, BLOCKS.slice(401, 421))
        yield* until(light, 420)
        assert.deepStrictEqual(yield* names(light), namesAt(420))
      }))))

  test("starts at an anchor", (directory) => {
    const anchors = [{ height: 150, hash: BLOCKS[150]?.hash ?? new Uint8Array(32), chainwork: 302n }]
    return run(directory, (light) =>
      Effect.scoped(Effect.gen(function*() {
        const { connect } = yield* following(light)
        yield* connect(new ServedBlocks(BLOCKS))
        yield* until(light, 600)
        assert.deepStrictEqual(yield* names(light), namesAt(600))
      })), { ...regtestParams, anchors })
  })

  test("takes no block with other transactions than its header says", (directory) =>
    run(directory, (light) =>
      Effect.scoped(Effect.gen(function*() {
        const { connect } = yield* following(light)
        const lessOf = (block: Block): Block => makeBlock(block, block.transactions.slice(0, -1))
        const liar = yield* connect(new ServedBlocks(BLOCKS), {
          serve: (block) => block.transactions.length > 1 ? lessOf(block) : block
        })
        yield* eventually("the liar is disconnected", () => liar.closed)
        yield* connect(new ServedBlocks(BLOCKS))
        yield* until(light, 600)
        assert.deepStrictEqual(yield* names(light), namesAt(600))
      }))))

  test("goes on where it was after a restart, and needs no peer for what it has", (directory) =>
    Effect.gen(function*() {
      let served = 0
      yield* run(directory, (light) =>
        Effect.scoped(Effect.gen(function*() {
          const { connect } = yield* following(light)
          // The peer stops in the middle of the window.
          yield* connect(new ServedBlocks(BLOCKS), { serve: (block, height) => height > 550 ? block : undefined })
          yield* eventually("half of the window", () => Effect.runSync(light.progress).blocks >= 50)
        })))
      yield* run(directory, (light) =>
        Effect.scoped(Effect.gen(function*() {
          assert.isAtLeast((yield* light.progress).blocks, 50)
          const { connect } = yield* following(light)
          yield* connect(new ServedBlocks(BLOCKS), {
            services: Services.network | Services.witness,
            serve: (block) => {
              served++
              return block
            }
          })
          yield* until(light, 600)
          assert.deepStrictEqual(yield* names(light), namesAt(600))
        })))
      assert.isAtMost(served, 80)
    }))

  test("tells signed operations from others", (directory) => {
    const owned = registered("d/owned", "first")
    const stolen = registered("d/stolen", "first")
    const blocks = [...grown([GENESIS_BLOCK], 100)]
    blocks.push(nextBlock(blocks, { transactions: [owned, stolen] }))
    // The second update spends another coin than that of its name.
    const transactions = [updated("d/owned", "second", owned), updated("d/stolen", "of a thief", owned)]
    blocks.push(nextBlock(blocks, { transactions }))
    return run(directory, (light) =>
      Effect.scoped(Effect.gen(function*() {
        const { connect } = yield* following(light)
        yield* connect(new ServedBlocks(blocks))
        yield* until(light, 102)
        const all = Chunk.toReadonlyArray(yield* Stream.runCollect(light.scan(new Uint8Array(0))))
        const proofs = new Map(all.map(({ proof, record }) => [Buffer.from(record.name).toString(), proof]))
        assert.deepStrictEqual(proofs, new Map([["d/owned", "signatures"], ["d/stolen", "work"]]))
      })))
  })

  test("keeps no answer in memory that a block has changed, connected or undone", (directory) => {
    const world = makeWorld(3)
    const [fork = assert.fail("no fork")] = world.forks
    const { main } = world
    return run(directory, (light) =>
      Effect.scoped(Effect.gen(function*() {
        const { announce, connect } = yield* following(light)
        const compared = (blocks: ReadonlyArray<Block>) =>
          Effect.gen(function*() {
            const tip = blocks.at(-1) ?? assert.fail("no block")
            yield* until(light, blocks.length - 1)
            const truth = world.truth(tip.hash)
            for (const name of world.names) {
              yield* light.resolve(name)
              const record = light.recent(name)?.record
              const lives = record !== undefined && !isExpired(record, light.height(), light.params)
              const { height, value } = truth.get(toHex(name)) ?? {}
              assert.deepStrictEqual(
                lives ? { height: record.height, value: toHex(record.value) } : { height: undefined, value: undefined },
                { height, value }
              )
            }
          })
        const before = new ServedBlocks(fork.blocks.slice(0, -2))
        const first = yield* connect(before)
        yield* compared(fork.blocks.slice(0, -2))
        before.extend(fork.blocks.slice(-2))
        yield* announce(first, fork.blocks.slice(-2))
        yield* compared(fork.blocks)
        yield* connect(new ServedBlocks(main.blocks))
        yield* compared(main.blocks)
      })), world.params)
  })

  it("verifies the input that spends a name, and no other signature in its place", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const file = new WindowFile(join(directory, "window.db"), 4096)
      const { LightChain } = yield* Effect.promise(() => import("../../src/light/LightChain.ts"))
      const { LightHeaders } = yield* Effect.promise(() => import("../../src/light/LightHeaders.ts"))
      const { BlockIndex } = yield* Effect.promise(() => import("../../src/chain/index/BlockIndex.ts"))
      const chain = new LightChain(file, new LightHeaders(new BlockIndex(), regtestParams, () => 1_900_000_000))
      for (const block of BLOCKS.slice(1)) chain.headers.accept(block)
      chain.begin()
      for (const block of BLOCKS.slice(450).toReversed()) chain.take(block)
      chain.settle()
      const checks = file.nextLinks(10_000).map((link) => checkOf(link, { params: regtestParams, low: 450 }))
        .filter((check): check is LinkCheck => typeof check !== "boolean")
      assert.isAbove(checks.length, 10)
      for (const check of checks) {
        const { before, tx } = check
        const script = decodeTransaction(before.tx).outputs[before.vout]?.script ?? new Uint8Array(0)
        const isTaproot = script.at(-33) === 32 && script.at(-34) === 0x51
        // A signature of taproot covers coins that the window lacks.
        if (!isTaproot) assert.isTrue(isSigned(check), toHex(script))
        const changed = Uint8Array.from(tx)
        changed.set([1], changed.length - 1)
        assert.isFalse(isSigned({ ...check, tx: changed }), "another lock time than the signed one")
        assert.isFalse(isSigned({ ...check, before: { tx, vout: 0 } }), "another coin")
      }
      file.close()
    }))))
})
