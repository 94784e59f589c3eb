import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect, Exit, Fiber } from "effect"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { regtestParams, withOverrides } from "../../../src/consensus/params.ts"
import { blocksOf, temporaryDirectory, withChain } from "../../support/chain.ts"
import { fillChain } from "../../support/filledChain.ts"

const blocks = blocksOf("regtest-names/blocks.dat")

/** Enough blocks for names of all kinds. */
const HEIGHT = 300

const WHOLE = { damaged: 0, contradiction: undefined }

/** A directory with the first blocks of a chain with names of all kinds. */
const filled = (upTo: number) => Effect.tap(temporaryDirectory, (directory) => fillChain(directory, upTo))

const flipIn = (directory: string, name: string, at: (bytes: Buffer) => number): void => {
  const file = join(directory, "blocks", name)
  const bytes = readFileSync(file)
  bytes.writeUInt8(bytes.readUInt8(at(bytes)) ^ 1, at(bytes))
  writeFileSync(file, bytes)
}

describe("undo data that a reorganisation needs", () => {
  it.scopedLive("after lost undo data the next start rebuilds the chain state and ends on the other branch", () =>
    Effect.gen(function*() {
      const directory = yield* filled(120)
      flipIn(directory, "undo00000.dat", (bytes) => bytes.length - 3)
      const tip = blocks[120]?.hash ?? new Uint8Array(32)
      const failure = yield* Effect.flip(withChain(directory, (chain) => chain.control.invalidate(tip)))
      assert.match(failure.message, /has to be disconnected, and its undo data are lost\. Start the node again/)
      assert.strictEqual(yield* withChain(directory, (chain) => Effect.map(chain.tip, ({ height }) => height)), 119)
    }))
})

describe("verifyChain", () => {
  it.scopedLive(
    "verifyChain accepts an intact chain at every level, down to the first block",
    () =>
      Effect.gen(function*() {
        const directory = yield* filled(HEIGHT)
        yield* withChain(directory, (chain) =>
          Effect.gen(function*() {
            assert.deepStrictEqual(yield* chain.control.verify({ level: 4, blocks: 0 }), { checked: HEIGHT, ...WHOLE })
            for (const level of [0, 1, 2, 3, 4]) {
              assert.deepStrictEqual(yield* chain.control.verify({ level, blocks: 7 }), { checked: 7, ...WHOLE })
            }
            assert.strictEqual((yield* chain.control.verify({ level: 0, blocks: 0, deadline: 0 })).checked, 0)
          }))
      }),
    120_000
  )

  it.scopedLive("blocks with witnesses are intact also if segwit is to be active later", () =>
    Effect.gen(function*() {
      const params = withOverrides(regtestParams, { activation: { segwit: 100_000 } })
      const directory = yield* filled(HEIGHT)
      const report = yield* withChain(directory, (chain) => chain.control.verify({ level: 3, blocks: 0 }), params)
      assert.deepStrictEqual(report, { checked: HEIGHT, ...WHOLE })
    }))

  it.scopedLive("an interrupted verifyChain ends between two blocks, and the chain continues", () =>
    Effect.gen(function*() {
      const directory = yield* filled(HEIGHT)
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const check = yield* Effect.fork(chain.control.verify({ level: 4, blocks: 0 }))
          yield* turnOfEventLoop
          let turns = 0
          const counting = Effect.forever(Effect.tap(turnOfEventLoop, () => Effect.sync(() => void turns++)))
          assert.isTrue(Exit.isInterrupted(yield* Effect.raceFirst(Fiber.interrupt(check), counting)))
          // It yields to other fibers after each block.
          assert.isBelow(turns, 100)
          yield* chain.sink.deliver(blocks.slice(HEIGHT + 1, HEIGHT + 2), false)
          assert.strictEqual((yield* chain.tip).height, HEIGHT + 1)
        }))
    }))

  it.scopedLive("verifyChain finds a damaged block and damaged undo data, and continues below them", () =>
    Effect.gen(function*() {
      const directory = yield* filled(120)
      const block = blocks[118]
      assert.isDefined(block)
      flipIn(directory, "blk00000.dat", (bytes) => bytes.indexOf(block.bytes) + block.size - 5)
      flipIn(directory, "undo00000.dat", (bytes) => bytes.length - 3)
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          // The start has checked the last six blocks.
          assert.strictEqual(chain.tree.losses.count, 1)
          const failure = yield* Effect.flip(chain.undo((yield* chain.tip).hash))
          assert.match(failure.message, /the undo data of block [0-9a-f]{64} are missing/)
          assert.deepInclude(yield* chain.control.verify({ level: 3, blocks: 20 }), { checked: 20, damaged: 2 })
          assert.deepInclude(yield* chain.control.verify({ level: 1, blocks: 20 }), { checked: 20, damaged: 1 })
          yield* chain.sink.deliver([block], false)
          assert.deepInclude(yield* chain.control.verify({ level: 1, blocks: 20 }), { checked: 20, damaged: 0 })
        }))
    }))

  for (
    const [what, sql] of [
      ["coins are gone", "DELETE FROM coins"],
      [
        "coins have another amount",
        "UPDATE coins SET coin = CAST(substr(coin, 1, 2) || x'01' || substr(coin, 4) AS BLOB)"
      ],
      ["claims are of another height", "UPDATE claims SET height = height - 1"],
      // No rule detects these: only the comparison with the results of the blocks does.
      ["the last claims are on other outputs", `UPDATE claims SET outpoint = zeroblob(36) WHERE height > ${HEIGHT - 6}`]
    ] as const
  ) {
    it.scopedLive(
      `the start finds a state in which ${what}, and the next start rebuilds it`,
      () =>
        Effect.gen(function*() {
          const directory = yield* filled(HEIGHT)
          const database = new SQLite(join(directory, "chainstate", "chainstate.db"))
          assert.isAbove(database.prepare(sql).run().changes, 0)
          database.close()
          // Without sums, the changed pages count as intact.
          rmSync(join(directory, "chainstate", "chainstate.db.sums"))
          const failure = yield* Effect.flip(withChain(directory, (chain) => chain.tip))
          assert.strictEqual(failure._tag, "StorageCorrupted")
          assert.match(
            failure.message,
            /chainstate\.db is corrupted: block [0-9a-f]{64} at height \d+ does not match/
          )
          yield* withChain(directory, (chain) =>
            Effect.gen(function*() {
              assert.strictEqual((yield* chain.tip).height, HEIGHT)
              assert.deepStrictEqual(yield* chain.control.verify({ level: 3, blocks: 0 }), {
                checked: HEIGHT,
                ...WHOLE
              })
            }))
        }),
      60_000
    )
  }
})
