import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { GENESIS, NONE, Status } from "../../../src/chain/index/BlockIndex.ts"
import { checkStored } from "../../../src/chain/repair/checkStored.ts"
import type { ChainState } from "../../../src/chain/state/ChainState.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { type Block, encodeBlockHeader } from "../../../src/protocol/block.ts"
import { type Bytes, equal, toHex } from "../../../src/protocol/bytes.ts"
import { type HeaderId, headerId } from "../../../src/protocol/keys.ts"
import { StorageCorrupted } from "../../../src/storage/errors.ts"
import { NO_CHECKSUM } from "../../../src/storage/recordChecksum.ts"
import { blocksOf, temporaryDirectory, withChain } from "../../support/chain.ts"
import { closeState, connectAll, flipBit, openState } from "../../support/chainState.ts"
import { withDirectory } from "../../support/temporary.ts"

const blocks = blocksOf("regtest-names/blocks.dat").slice(0, 301)
const NO_LIMITS = { milliseconds: Infinity, bytes: Infinity }

const fill = (directory: string, upTo = blocks.length - 1): void => {
  const state = openState(directory)
  for (const block of blocks.slice(1, upTo + 1)) state.acceptBlock(block)
  connectAll(state)
  assert.strictEqual(state.active.height, upTo)
  closeState(state)
}

/** The result of a read, or that it finds the damage. */
const orLost = (read: () => Bytes): Bytes | "lost" => {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof StorageCorrupted) return "lost"
    throw cause
  }
}

const blockAt = (height: number): Block => blocks[height] ?? assert.fail(`no block ${height}`)

/** For the block at a position of the file: the result of each way to read it. */
const serves = (state: ChainState): number => {
  let lost = 0
  for (let height = 1; height < blocks.length; height++) {
    const id = state.index.find(blockAt(height).hash)
    const header = orLost(() => {
      const [header] = state.fullHeaders([id])
      if (header === undefined) return assert.fail("no header")
      return encodeBlockHeader(header)
    })
    if (header !== "lost") assert.isTrue(equal(header, encodeBlockHeader(blockAt(height))), `header ${height}`)
    for (const read of [() => state.stored.bytes(id), () => state.stored.block(id).bytes]) {
      const bytes = orLost(read)
      if (bytes === "lost") lost++
      else assert.isTrue(equal(bytes, blockAt(height).bytes), `block ${height}`)
    }
  }
  return lost
}

describe("a stored block", () => {
  it("a stored block with a flipped bit is never returned, and is stored again when it arrives", () => {
    withDirectory((directory) => {
      fill(directory)
      const file = join(directory, "blocks", "blk00000.dat")
      const whole = readFileSync(file)
      FastCheck.assert(
        FastCheck.property(FastCheck.integer({ min: 0, max: 8 * whole.length - 1 }), (bit) => {
          writeFileSync(file, whole)
          flipBit(file, bit)
          const state = openState(directory)
          try {
            serves(state)
            const lost = [...state.losses.ids()]
            assert.isAtMost(lost.length, 1)
            assert.strictEqual(state.losses.takeUntold().length, lost.length)
            for (const id of lost) {
              const block = blocks.find(({ hash }) => equal(hash, state.index.hash(id)))
              assert.strictEqual(state.acceptBlock(block ?? assert.fail()).type, "new")
            }
            assert.isFalse(state.losses.any)
            assert.strictEqual(serves(state), 0)
          } finally {
            state.close()
          }
        }),
        { numRuns: 40, seed: 11 }
      )
      writeFileSync(file, whole)
    })
  }, 120_000)

  it("the check finds a stored block with a flipped bit in proof, witness or body, and reports no other damage", () => {
    withDirectory((directory) => {
      fill(directory)
      const file = join(directory, "blocks", "blk00000.dat")
      const whole = readFileSync(file)
      const withWitness = blocks.findIndex(({ transactions }) => transactions.some((one, i) => i > 0 && one.hasWitness))
      const merged = blocks.findIndex(({ auxpow }) => auxpow !== undefined)
      for (const [height, back] of [[merged, -100], [withWitness, 6], [77, 5]] as const) {
        const { bytes } = blockAt(height)
        const start = whole.indexOf(bytes)
        writeFileSync(file, whole)
        flipBit(file, 8 * (back < 0 ? start - back : start + bytes.length - back))
        const state = openState(directory)
        assert.isUndefined(checkStored(state, GENESIS, NO_LIMITS))
        assert.deepStrictEqual([...state.losses.ids()].map((id) => state.index.height(id)), [height])
        const [loss] = state.losses.takeUntold()
        assert.include(loss?.reason, `the record at offset ${start}`)
        assert.isTrue(state.losses.any)
        state.close()
      }
      writeFileSync(file, whole)
      const state = openState(directory)
      assert.isUndefined(checkStored(state, GENESIS, NO_LIMITS))
      assert.isFalse(state.losses.any)
      state.close()
    })
  })

  it("a block from a version without checksums is checked by the rules once, and gets a checksum", () => {
    withDirectory((directory) => {
      fill(directory)
      const before = openState(directory)
      for (let id = 0; id < before.index.count; id++) before.index.setChecksum(headerId(id), NO_CHECKSUM)
      closeState(before)
      const file = join(directory, "blocks", "blk00000.dat")
      const whole = readFileSync(file)
      const { bytes } = blocks.find(({ auxpow }) => auxpow !== undefined) ?? assert.fail()
      // A bit in the merged-mining proof, which neither hash nor merkle root cover.
      flipBit(file, 8 * (whole.indexOf(bytes) + 130))
      const state = openState(directory)
      assert.isUndefined(checkStored(state, GENESIS, NO_LIMITS))
      assert.strictEqual(state.losses.count, 1)
      for (let id = 1; id < state.index.count; id++) {
        assert.strictEqual(
          state.index.checksum(headerId(id)) !== NO_CHECKSUM,
          state.index.has(headerId(id), Status.HAVE_DATA)
        )
      }
      state.close()
    })
  })

  it("the check reads stored blocks in steps of bounded size", () => {
    withDirectory((directory) => {
      fill(directory)
      const state = openState(directory)
      let steps = 0
      for (let at: HeaderId | undefined = GENESIS; at !== undefined;) {
        at = checkStored(state, at, { milliseconds: Infinity, bytes: 20_000 })
        steps++
      }
      assert.isAbove(steps, 10)
      assert.isDefined(checkStored(state, GENESIS, { milliseconds: 0, bytes: Infinity }))
      state.close()
    })
  })
})

describe("undo data", () => {
  it("undo data with a flipped bit are reported as lost, and no others", () => {
    withDirectory((directory) => {
      fill(directory)
      const file = join(directory, "blocks", "undo00000.dat")
      const whole = readFileSync(file)
      FastCheck.assert(
        FastCheck.property(FastCheck.integer({ min: 0, max: 8 * whole.length - 1 }), (bit) => {
          writeFileSync(file, whole)
          flipBit(file, bit)
          const state = openState(directory)
          checkStored(state, GENESIS, NO_LIMITS)
          const lost = state.losses.takeUntold()
          assert.isAtMost(lost.length, 1)
          for (const { family, id } of lost) {
            assert.strictEqual(family, "undo")
            assert.isFalse(state.index.has(id, Status.HAVE_UNDO))
            assert.isTrue(state.losses.recentUndo)
          }
          // A bit in a frame, whose content the index also has.
          if (lost.length === 0) {
            const within = blocks.slice(1).some((block) => {
              const { offset, size } = state.index.undoPlace(state.index.find(block.hash))
              return bit >> 3 >= offset && bit >> 3 < offset + size
            })
            assert.isFalse(within, `bit ${bit} of ${toHex(whole.subarray((bit >> 3) - 8, (bit >> 3) + 8))}`)
          }
          state.close()
        }),
        { numRuns: 30, seed: 12 }
      )
      writeFileSync(file, whole)
    })
  }, 120_000)

  it("lost undo data that a reorg needs are reported as beyond repair, before the first step", () => {
    withDirectory((directory) => {
      fill(directory, 100)
      const state = openState(directory)
      state.index.clearStatus(state.active.at(99), Status.HAVE_UNDO)
      state.forks.invalidate(state.active.at(98))
      assert.throws(() => state.forks.nextStep(), /block [0-9a-f]{64} at height 99 has to be disconnected/)
      assert.strictEqual(state.active.height, 100)
      state.close()
    })
  })
})

describe("a reorganisation over a missing block", () => {
  it("a reorg over a missing block waits with the state unchanged, and continues when the block arrives", () => {
    withDirectory((directory) => {
      fill(directory, 100)
      const file = join(directory, "blocks", "blk00000.dat")
      flipBit(file, 8 * (readFileSync(file).indexOf(blockAt(97).bytes) + 90))
      const state = openState(directory)
      state.forks.invalidate(state.active.at(95))
      const missing = state.index.find(blockAt(97).hash)
      assert.deepStrictEqual(state.forks.nextStep(), { type: "wait", missing })
      assert.strictEqual(state.losses.waitsFor, missing)
      assert.strictEqual(state.active.height, 100)
      assert.strictEqual(state.acceptBlock(blockAt(97)).type, "new")
      while (state.forks.nextStep().type === "disconnect") state.connector.disconnectTip()
      assert.deepStrictEqual([state.active.height, state.forks.nextStep().type, state.losses.waitsFor], [
        94,
        "none",
        undefined
      ])
      state.close()
    })
  })
})

describe("blocks behind the end of the index", () => {
  /** The block file has all blocks, the index only those up to a height. */
  const cutShort = (directory: string, known: number, tail: (records: Buffer) => Buffer) => {
    fill(directory, known)
    const file = join(directory, "blocks", "blk00000.dat")
    const records = Buffer.concat(
      blocks.slice(known + 1).flatMap(({ bytes }) => {
        const frame = Buffer.from("fabfb5da00000000", "hex")
        frame.writeUInt32LE(bytes.length, 4)
        return [frame, Buffer.from(bytes)]
      })
    )
    writeFileSync(file, Buffer.concat([readFileSync(file), tail(records)]))
  }

  for (
    const [what, tail, height] of [
      ["whole", (records: Buffer) => records, 300],
      ["torn in the last one", (records: Buffer) => records.subarray(0, records.length - 7), 299],
      ["followed by zeros", (records: Buffer) => Buffer.concat([records, Buffer.alloc(3_000)]), 300],
      ["behind zeros", (records: Buffer) => Buffer.concat([Buffer.alloc(512), records]), 300]
    ] as const
  ) {
    it.scopedLive(
      `blocks after the end of the index are read again with their headers if they are ${what}`,
      () =>
        Effect.gen(function*() {
          const directory = yield* temporaryDirectory
          cutShort(directory, 280, tail)
          const file = join(directory, "blocks", "blk00000.dat")
          yield* withChain(directory, (chain) =>
            Effect.gen(function*() {
              assert.strictEqual((yield* chain.tip).height, height)
              assert.match(chain.control.repairs.join(), new RegExp(`${height - 280} blocks .* were read again`))
              assert.strictEqual((yield* chain.block(blockAt(290).hash)).size, blockAt(290).size)
              assert.isFalse(chain.tree.losses.any)
            }))
          // Bytes that are not a block are removed, and the file can be appended to.
          const size = readFileSync(file).length
          yield* withChain(directory, (chain) =>
            Effect.gen(function*() {
              assert.deepStrictEqual(chain.control.repairs, [])
              assert.strictEqual((yield* chain.tip).height, height)
            }))
          assert.strictEqual(readFileSync(file).length, size)
          assert.strictEqual(readFileSync(file).subarray(-blockAt(height).size).equals(blockAt(height).bytes), true)
        }),
      60_000
    )
  }

  it.scopedLive("a block that a caller was told is connected is there when the database lost its last commit", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const database = join(directory, "chainstate", "chainstate.db")
      yield* withChain(directory, (chain) => Effect.forEach(blocks.slice(1, 11), chain.sink.submit))
      const durable = readFileSync(database)
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          assert.strictEqual((yield* chain.sink.submit(blockAt(11))).type, "connected")
        }))
      writeFileSync(database, durable)
      yield* withChain(directory, (chain) => Effect.map(chain.tip, ({ height }) => assert.strictEqual(height, 11)))
    }))
})

describe("the first block", () => {
  it("the first block needs no file", () => {
    withDirectory((directory) => {
      fill(directory, 3)
      const file = join(directory, "blocks", "blk00000.dat")
      flipBit(file, 8 * 30)
      const state = openState(directory)
      assert.isTrue(equal(state.stored.bytes(GENESIS), regtestParams.network.genesisBlock))
      assert.notStrictEqual(state.index.find(regtestParams.network.genesisHash), NONE)
      state.close()
    })
  })
})
