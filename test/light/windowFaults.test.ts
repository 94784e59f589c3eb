import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { closeSync, cpSync, openSync, rmSync, statSync, writeSync } from "node:fs"
import { join } from "node:path"
import { BlockIndex } from "../../src/chain/index/BlockIndex.ts"
import { isExpired } from "../../src/consensus/expiry.ts"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import { LightChain } from "../../src/light/LightChain.ts"
import { LightHeaders } from "../../src/light/LightHeaders.ts"
import { WindowFile } from "../../src/light/WindowFile.ts"
import { type Block, decodeBlock } from "../../src/protocol/block.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { ServedBlocks } from "../network/sync/fakePeers.ts"
import { blocksOf, temporaryDirectory } from "../support/chain.ts"
import {
  following,
  grown,
  type LightNodeOptions,
  names,
  namesOf,
  onLight,
  until,
  windowFile
} from "../support/lightNode.ts"
import { canMount, smallDisk } from "../support/smallDisk.ts"
import { withDirectory } from "../support/temporary.ts"

/** Kills, full disks and damaged files: a light node goes on where it was, or begins again. */

const BLOCKS = blocksOf("regtest-names/blocks.dat")

const TRUTH = namesOf(BLOCKS)

/** Follows a peer that has the whole chain until all names are known. */
const complete = (directory: string, log?: LightNodeOptions) =>
  onLight(directory, (light) =>
    Effect.gen(function*() {
      const { connect } = yield* following(light)
      yield* connect(new ServedBlocks(BLOCKS))
      yield* until(light, BLOCKS.length - 1)
      assert.deepStrictEqual(yield* names(light), TRUTH)
    }), log)

/** Collects the first words of log entries. */
const collected = () => {
  const lines: Array<string> = []
  const log = Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ message }) => void lines.push(String(Array.isArray(message) ? message[0] : message)))
  )
  return { lines, log }
}

const open = (directory: string, params: ConsensusParams = regtestParams) => {
  const file = new WindowFile(windowFile(directory), 4096)
  const index = new BlockIndex()
  const stored = file.state()
  if (stored !== undefined) index.load(file.pages(), stored.headerCount)
  return { file, chain: new LightChain(file, new LightHeaders(index, params, () => 1_900_000_000)) }
}

/** Gives a chain all headers, and the blocks that it lacks, the newest first. `each` runs after each block. */
const feed = ({ chain }: ReturnType<typeof open>, each: (count: number) => void = () => {}): void => {
  for (const block of BLOCKS.slice(1)) chain.headers.accept(block)
  chain.review()
  chain.begin()
  let count = 0
  for (const block of BLOCKS.slice(chain.first).toReversed()) {
    if (chain.hasBlock(chain.index.find(block.hash))) continue
    chain.take(block)
    chain.settle()
    each(++count)
  }
}

describe("the window of a light node", () => {
  it("is completed from what a kill leaves, after any block", () =>
    withDirectory((directory) =>
      withDirectory((copies) => {
        const killed = open(directory)
        feed(killed, (count) => {
          if (count % 13 !== 1) return
          const copy = join(copies, String(count))
          // What the system has of the files of a process that dies now.
          cpSync(directory, copy, { recursive: true })
          const again = open(copy)
          assert.isAtLeast(again.chain.filled.blocks, count - 1)
          feed(again)
          assert.isTrue(again.chain.isComplete)
          const known = new Map<string, string>()
          for (const { name } of again.file.operationsFrom(0)) {
            const record = again.file.newest(name)
            const lives = record !== undefined && !isExpired(record, again.chain.height, regtestParams)
            if (lives) known.set(toHex(name), toHex(record.value))
          }
          assert.deepStrictEqual(new Map([...known].sort()), new Map([...TRUTH].sort()))
          again.file.close()
          rmSync(copy, { recursive: true })
        })
        assert.isTrue(killed.chain.isComplete)
        killed.file.close()
      })
    ))

  it.scopedLive("is filled again if its file is damaged, and the log says it once", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* complete(directory)
      const size = statSync(windowFile(directory)).size
      const descriptor = openSync(windowFile(directory), "r+")
      for (let at = 5_000; at < size; at += 20_000) writeSync(descriptor, Buffer.alloc(64, 0xa5), 0, 64, at)
      closeSync(descriptor)
      const { lines, log } = collected()
      yield* complete(directory, { log })
      const told = lines.filter((line) => line.includes("names-window.db"))
      assert.lengthOf(told, 1)
      assert.include(told[0], "the window is filled again from peers")
      const quiet = collected()
      yield* complete(directory, { log: quiet.log })
      assert.deepStrictEqual(quiet.lines.filter((line) => line.includes("names-window.db")), [])
    }), 60_000)

  it.scopedLive.skipIf(!canMount)(
    "ends the node on a full disk, and goes on once there is room",
    () =>
      Effect.gen(function*() {
        const disk = yield* smallDisk("1m")
        const failure = yield* Effect.flip(onLight(disk.path, (light) =>
          Effect.gen(function*() {
            const { connect } = yield* following(light)
            // Some blocks are stored before the disk is full.
            yield* connect(new ServedBlocks(BLOCKS), {
              serve: (block, height) => {
                if (height === 560) disk.fill()
                return block
              }
            })
            return yield* light.failure
          })))
        assert.strictEqual(failure._tag, "StorageUnavailable")
        assert.match(failure.message, /names-window\.db/)
        disk.remount("size=64m")
        yield* complete(disk.path)
      }),
    60_000
  )
})

describe("a reorganization within a complete window", () => {
  const long: ConsensusParams = { ...regtestParams, expiry: "growing" }
  const GENESIS = decodeBlock(regtestParams.network.genesisBlock)
  const MAIN = grown([GENESIS], 400)

  const filled = (directory: string) => {
    const opened = open(directory, long)
    for (const block of MAIN.slice(1)) opened.chain.headers.accept(block)
    opened.chain.begin()
    for (const block of MAIN.slice(1).toReversed()) opened.chain.take(block)
    opened.chain.settle()
    assert.isTrue(opened.chain.isComplete)
    return opened
  }

  const branch = (depth: number): ReadonlyArray<Block> => grown(MAIN.slice(0, MAIN.length - depth), depth + 1, 1)

  it.each([[1, false], [288, false], [289, true], [399, true]] as const)(
    "of %i blocks begins the window again: %s",
    (depth, again) =>
      withDirectory((directory) => {
        const { chain, file } = filled(directory)
        const other = branch(depth)
        for (const block of other.slice(1)) chain.headers.accept(block)
        assert.strictEqual(chain.review(), again)
        assert.strictEqual(chain.isComplete, !again)
        for (const block of other.slice(chain.isComplete ? -depth - 1 : 1).toReversed()) chain.take(block)
        chain.settle()
        assert.strictEqual(chain.height, MAIN.length)
        assert.isTrue(chain.isComplete)
        file.close()
      })
  )
})
