import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Block, decodeBlock } from "../../../src/protocol/block.ts"
import { concat, displayHash, fromHex } from "../../../src/protocol/bytes.ts"
import { HEADER_SIZE } from "../../../src/protocol/header.ts"
import { mainnet } from "../../../src/protocol/networks.ts"
import { withChain } from "../../support/chain.ts"
import { numbers } from "../../support/numbers.ts"
import { emptyChild } from "../../support/regtest.ts"
import { blockAt, blocks, fileOf, importing, invalid, MAGIC, record, setting, standsAt, upTo } from "./importing.ts"

describe("import of a damaged file", () => {
  const HEIGHT = 125
  const VICTIM = 115

  /** The position of the content of a record in the file of the first blocks. */
  const offsetOf = (height: number): number => fileOf(upTo(height)).length - blockAt(height).bytes.length

  /** A damaged file yields the blocks before the damage and a message. An intact file completes them. */
  const survives = (bytes: Uint8Array, height: number, message: (path: string) => string | RegExp) =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      const path = write("damaged.dat", bytes)
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const { said } = yield* importing(chain, path)
          const expected = message(path)
          if (typeof expected === "string") assert.include(said, expected)
          else assert.match(said, expected)
          yield* standsAt(chain, height)
        }))
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          yield* chain.sink.importFrom([write("good.dat", fileOf(upTo(HEIGHT)))])
          yield* standsAt(chain, HEIGHT)
        }))
    })

  const truncations = [["frame", 4], ["header", 40], ["transactions", 150]] as const

  for (const [what, cut] of truncations) {
    it.scopedLive(`an import keeps the blocks before a file end in a ${what}`, () => {
      const start = offsetOf(VICTIM) - 8
      const size = blockAt(VICTIM).bytes.length
      return survives(fileOf(upTo(HEIGHT)).subarray(0, start + cut), VICTIM - 1, (path) =>
        cut < 8
          // Four bytes are not yet a record.
          ? /^$/
          : `${path}: at offset ${start} there is a record of ${size} bytes that extends beyond the end of the file`)
    })
  }

  for (const claimed of [0x7fffffff, 4_000_001, 79, 0]) {
    it.scopedLive(`an import skips a record that claims ${claimed} bytes`, () => {
      const bytes = fileOf(upTo(HEIGHT))
      bytes.writeUInt32LE(claimed, offsetOf(VICTIM) - 4)
      return survives(
        bytes,
        VICTIM - 1,
        (path) => `${path}: at offset ${offsetOf(VICTIM) - 8} there is a record that claims ${claimed} bytes`
      )
    })
  }

  it.scopedLive("an import reports a record that covers others, and stores its block", () => {
    const bytes = fileOf(upTo(HEIGHT))
    const over = bytes.length - offsetOf(VICTIM + 1) + 8
    bytes.writeUInt32LE(blockAt(VICTIM).bytes.length + over, offsetOf(VICTIM) - 4)
    return survives(
      bytes,
      VICTIM,
      (path) => `${path}: the record at offset ${offsetOf(VICTIM)} has ${over} bytes after its block`
    )
  })

  it.scopedLive("an import treats a record with too small a size as corrupted", () => {
    const bytes = fileOf(upTo(HEIGHT))
    bytes.writeUInt32LE(blockAt(VICTIM).bytes.length - 1, offsetOf(VICTIM) - 4)
    return survives(bytes, VICTIM - 1, (path) => `${path}: the block at offset ${offsetOf(VICTIM)} does not decode`)
  })

  const findHeight = (from: number, is: (block: Block) => boolean): number =>
    blocks.findIndex((block, height) => height >= from && height < HEIGHT && is(block))
  const merged = findHeight(101, ({ auxpow }) => auxpow !== undefined)
  const plain = findHeight(
    101,
    ({ auxpow, transactions }) =>
      auxpow === undefined && transactions.length > 1 && transactions.at(-1)?.hasWitness === false
  )
  const witness = findHeight(
    101,
    ({ transactions }) => transactions.length > 1 && transactions.at(-1)?.hasWitness === true
  )

  const HASH = /high-hash|an ancestor is neither here/
  const flips = [
    { what: "the parent's hash", height: plain, at: () => 10, reason: HASH },
    { what: "the target", height: plain, at: () => 74, reason: /high-hash|bad-diffbits/ },
    { what: "the merkle root under a proof", height: merged, at: () => 40, reason: /high-hash/ },
    { what: "the coinbase of a proof", height: merged, at: () => HEADER_SIZE + 50, reason: /high-hash|is not a block/ },
    {
      what: "a transaction",
      height: plain,
      at: (size: number) => size - 12,
      reason: /bad-txnmrklroot|does not decode/
    },
    { what: "a witness", height: witness, at: (size: number) => size - 10, reason: /bad-witness-merkle-match/ }
  ]

  for (const { at, height, reason, what } of flips) {
    it.scopedLive(`an import reports file, offset and reason if a bit of ${what} is wrong`, () => {
      const bytes = fileOf(upTo(HEIGHT))
      const place = offsetOf(height) + at(blockAt(height).bytes.length)
      bytes[place] = (bytes[place] ?? 0) ^ 1
      return survives(
        bytes,
        height - 1,
        (path) => new RegExp(`${path}: .*offset ${offsetOf(height)}[ ,].*(${reason.source})`)
      )
    })
  }

  it.scopedLive("an import with any flipped bit loses nothing or reports the position", () =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      const next = numbers(3)
      const good = fileOf(upTo(HEIGHT))
      for (let run = 0; run < 12; run++) {
        const height = run % 2 === 0 ? merged : plain
        const bytes = Buffer.from(good)
        const place = offsetOf(height) - 8 + next(blockAt(height).bytes.length + 8)
        bytes[place] = (bytes[place] ?? 0) ^ (1 << next(8))
        const path = write(`flip-${run}.dat`, bytes)
        yield* withChain(join(directory, `run-${run}`), (chain) =>
          Effect.gen(function*() {
            const { said } = yield* importing(chain, path)
            const tip = yield* chain.tip
            assert.include([height - 1, HEIGHT], tip.height, `bit at ${place}`)
            if (tip.height < HEIGHT) assert.match(said, new RegExp(`${path}: .*offset \\d+`), `bit at ${place}`)
          }))
      }
    }))

  it.scopedLive("an import uses an intact copy of a block after a corrupted one", () =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      const broken = Uint8Array.from(blockAt(witness).bytes)
      broken[broken.length - 10] = (broken[broken.length - 10] ?? 0) ^ 1
      const path = write("twice.dat", fileOf([...upTo(witness - 1), broken, ...upTo(HEIGHT).slice(witness)]))
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const { report, said } = yield* importing(chain, path)
          assert.deepInclude(report, { stored: HEIGHT, refused: 1 })
          assert.include(said, "bad-witness-merkle-match")
          yield* standsAt(chain, HEIGHT)
        }))
    }))

  it.scopedLive("an import reports ten problems of a file, and then that there are more", () =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      const lies = Buffer.concat(Array.from({ length: 50 }, () => record(new Uint8Array(80), MAGIC, 1)))
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const { said } = yield* importing(chain, write("lies.dat", lies))
          assert.strictEqual(said.split("\n").length, 11)
          assert.include(said, "further problems of this kind are only counted")
        }))
    }))

  it.scopedLive("an import refuses another network by its magic or by its blocks", () =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      const foreign = write("foreign.dat", Buffer.concat(upTo(50).map((bytes) => record(bytes, mainnet.magic))))
      const disguised = write("disguised.dat", record(mainnet.genesisBlock))
      const empty = write("empty.dat", Buffer.alloc(0))
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const size = yield* chain.control.sizeOnDisk
          const { report, said } = yield* importing(chain, foreign, disguised, empty)
          assert.deepInclude(report, { files: 3, stored: 0, refused: 0, orphans: 1, height: 0 })
          assert.include(said, `${foreign}: it has no blocks of this network`)
          assert.include(said, `${disguised}: the block at offset 8 cannot be used`)
          assert.include(said, `${empty}: it has no blocks of this network`)
          assert.strictEqual(yield* chain.control.sizeOnDisk, size)
        }))
    }))
})

describe("import of an invalid block", () => {
  const BELOW = 169

  const refusals = [
    { reason: "bad-cb-amount", when: "connecting" },
    { reason: "block-script-verify-flag-failed", when: "checking scripts" },
    { reason: "tx-nameupdate-invalid-prev", when: "applying the name rules" },
    { reason: "bad-cb-height", when: "storing" },
    { reason: "time-too-old", when: "reading headers" }
  ]

  for (const { reason, when } of refusals) {
    it.scopedLive(`an import stops below an invalid block (${when}: ${reason}) and takes the valid branch`, () =>
      Effect.gen(function*() {
        const { directory, write } = yield* setting
        const entry = invalid.find(({ coreResult, height }) =>
          height === BELOW + 1 && String(coreResult).startsWith(reason)
        )
        assert.isDefined(entry)
        const bad = decodeBlock(fromHex(entry.blockHex) ?? new Uint8Array(0))
        const child = emptyChild(bad, BELOW + 2)
        const grandchild = emptyChild(child, BELOW + 3)
        const before = fileOf(upTo(BELOW))
        const path = write("bad.dat", concat(before, fileOf([bad.bytes, child.bytes, grandchild.bytes])))
        yield* withChain(directory, (chain) =>
          Effect.gen(function*() {
            const { report, said } = yield* importing(chain, path)
            yield* standsAt(chain, BELOW)
            // Without worker threads.
            const words = reason.replace("block-script", "mempool-script")
            assert.include(
              said,
              `${path}: block ${displayHash(bad.hash)} at offset ${before.length + 8} is refused: ${words}`
            )
            assert.isAtLeast(report.refused, 1)
            // One block is invalid. The block on top of it is at most one more error.
            assert.isAtMost(said.split("\n").length, 2)
            const again = yield* importing(chain, path)
            yield* standsAt(chain, BELOW)
            assert.strictEqual(again.report.stored, 0)
            yield* chain.sink.importFrom([write("good.dat", fileOf(upTo(175)))])
            yield* standsAt(chain, 175)
          }))
      }))
  }
})

describe("a stored block that is damaged", () => {
  it.scopedLive("a damaged stored block is restored from a file, as its message promises", () =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      const file = write("blocks.dat", fileOf(upTo(100)))
      const victim = blockAt(50)
      yield* withChain(directory, (chain) => chain.sink.importFrom([file]))
      const path = join(directory, "blocks", "blk00000.dat")
      const bytes = readFileSync(path)
      bytes.fill(0xff, bytes.indexOf(victim.bytes) + 90, bytes.indexOf(victim.bytes) + 100)
      writeFileSync(path, bytes)
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          assert.include((yield* Effect.flip(chain.block(victim.hash))).message, "start with -loadblock")
        }))
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          assert.deepInclude(yield* chain.sink.importFrom([file]), { stored: 1, known: 100 })
          assert.deepStrictEqual((yield* chain.block(victim.hash)).bytes, victim.bytes)
          yield* standsAt(chain, 100)
        }))
    }))
})
