import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Schedule } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { type Block, decodeBlock, makeBlock } from "../../../src/protocol/block.ts"
import { concat, displayHash, fromHex } from "../../../src/protocol/bytes.ts"
import { HEADER_SIZE } from "../../../src/protocol/header.ts"
import { merkleRoot } from "../../../src/protocol/merkle.ts"
import { mainnet, regtest } from "../../../src/protocol/networks.ts"
import { blocksOf, coinState, temporaryDirectory, type TestChain, withChain } from "../../support/chain.ts"
import { fixtureJson, ownFixture } from "../../support/fixtures.ts"
import { numbers, shuffled } from "../../support/numbers.ts"
import { ANYONE, BLOCK_VERSION, makeCoinbase, solve } from "../../support/regtest.ts"

type Service = TestChain

interface Expected {
  readonly checkpoints: ReadonlyArray<{
    readonly height: number
    readonly hash: string
    readonly utxo: { readonly hash_serialized_3: string }
  }>
}

interface Invalid {
  readonly id: string
  readonly kind: string
  readonly height: number
  readonly blockHex: string
  readonly coreResult: unknown
}

const FILE = ownFixture("regtest-names/blocks.dat")
const { checkpoints } = fixtureJson<Expected>("regtest-names/expected.json")
const blocks = blocksOf("regtest-names/blocks.dat")
const invalid = fixtureJson<ReadonlyArray<Invalid>>("invalid-blocks/invalid-blocks.json")

const MAGIC = regtest.magic

const blockAt = (height: number): Block => {
  const block = blocks[height]
  if (block === undefined) throw new RangeError(`no block ${height}`)
  return block
}

const upTo = (height: number): ReadonlyArray<Uint8Array> => blocks.slice(0, height + 1).map(({ bytes }) => bytes)

const record = (bytes: Uint8Array, magic: Uint8Array = MAGIC, claimed = bytes.length): Buffer => {
  const frame = Buffer.alloc(8 + bytes.length)
  frame.set(magic)
  frame.writeUInt32LE(claimed, 4)
  frame.set(bytes, 8)
  return frame
}

const fileOf = (records: ReadonlyArray<Uint8Array>): Buffer => Buffer.concat(records.map((bytes) => record(bytes)))

/** Imports and collects the log. */
const importing = (chain: Service, ...paths: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    const said: Array<string> = []
    const logger = Logger.make(({ message }) => void said.push(String(message)))
    return chain.sink.importFrom(paths).pipe(
      Effect.map((report) => ({ report, said: said.join("\n") })),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
  })

/** Checks that the tip is a block of the fixture. Compares the coins too if the reference node's are known there. */
const standsAt = (chain: Service, height: number) =>
  Effect.gen(function*() {
    const tip = yield* chain.tip
    assert.deepStrictEqual([tip.height, displayHash(tip.hash)], [height, displayHash(blockAt(height).hash)])
    const checkpoint = checkpoints.find((one) => one.height === height)
    if (checkpoint !== undefined) {
      assert.strictEqual((yield* coinState(chain)).hash_serialized_3, checkpoint.utxo.hash_serialized_3)
    }
  })

/** A directory, a writer of files in it, and a chain. */
const setting = Effect.map(temporaryDirectory, (directory) => ({
  directory,
  write: (name: string, bytes: Uint8Array): string => {
    const path = join(directory, name)
    writeFileSync(path, bytes)
    return path
  }
}))

/** An empty block on top of any block. */
const childOf = (parent: Block, height: number): Block => {
  const coinbase = makeCoinbase(height, [{ value: 0, script: ANYONE }])
  const header = solve({
    version: BLOCK_VERSION,
    prevHash: parent.hash,
    merkleRoot: merkleRoot([coinbase.txid]).root,
    time: parent.header.time + 600,
    bits: parent.header.bits
  })
  return makeBlock({ header, auxpow: undefined }, [coinbase])
}

describe("import of a reference node's block folder", () => {
  const KEY = Buffer.from("a1b2c3d4e5f60718", "hex")
  const masked = (bytes: Uint8Array): Uint8Array => bytes.map((byte, i) => byte ^ (KEY[i % 8] ?? 0))

  /** Three files as the reference node writes them: masked, with masked zeros in the space reserved at the end. */
  const coreFolder = (directory: string): string => {
    const folder = join(directory, "node", "blocks")
    mkdirSync(folder, { recursive: true })
    const all = blocks.slice(0, 101).map(({ bytes }) => bytes)
    const parts = [all.slice(0, 40), all.slice(40, 90), all.slice(90)]
    for (const [i, part] of parts.entries()) {
      writeFileSync(join(folder, `blk0000${i}.dat`), masked(Buffer.concat([fileOf(part), Buffer.alloc(10_000 + i)])))
    }
    writeFileSync(join(folder, "rev00000.dat"), Buffer.alloc(100, 7))
    writeFileSync(join(folder, "xor.dat"), KEY)
    return folder
  }

  for (const given of ["blocks", "the data directory"]) {
    it.scopedLive(`reads masked files with padding, ${given} named`, () =>
      Effect.gen(function*() {
        const { directory } = yield* setting
        const folder = coreFolder(directory)
        yield* withChain(directory, (chain) =>
          Effect.gen(function*() {
            const { report, said } = yield* importing(chain, given === "blocks" ? folder : join(folder, ".."))
            assert.deepInclude(report, { files: 3, stored: 100, known: 1, refused: 0, orphans: 0, height: 100 })
            assert.strictEqual(said, "")
            yield* standsAt(chain, 100)
          }))
      }))
  }

  it.scopedLive("an import with a wrong key finds nothing, and reports each file", () =>
    Effect.gen(function*() {
      const { directory } = yield* setting
      const folder = coreFolder(directory)
      writeFileSync(join(folder, "xor.dat"), Buffer.alloc(8, 1))
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const { report, said } = yield* importing(chain, folder)
          assert.deepInclude(report, { stored: 0, height: 0 })
          for (const i of [0, 1, 2]) assert.include(said, `blk0000${i}.dat: it holds no block of this network`)
        }))
    }))

  it.scopedLive("an import fails without block files, with a wrong key size, and for a folder as block file", () =>
    Effect.gen(function*() {
      const { directory } = yield* setting
      const folder = coreFolder(directory)
      const empty = join(directory, "empty")
      mkdirSync(empty)
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const none = yield* Effect.flip(chain.sink.importFrom([empty]))
          assert.strictEqual(none.message, `cannot import ${empty}: the folder has no blkNNNNN.dat`)
          mkdirSync(join(folder, "blk00003.dat"))
          const odd = yield* Effect.flip(chain.sink.importFrom([folder]))
          assert.include(odd.message, join(folder, "blk00003.dat"))
          assert.include(odd.message, "EISDIR")
          writeFileSync(join(folder, "xor.dat"), "short")
          const key = yield* Effect.flip(chain.sink.importFrom([folder]))
          assert.strictEqual(key.message, `cannot import ${folder}: xor.dat has 5 bytes instead of 8`)
        }))
    }))
})

describe("import in whatever order", () => {
  it.scopedLive("an import accepts blocks in any order, with garbage between them", () =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      const next = numbers(7)
      const parts = shuffled(upTo(200), next).flatMap((bytes, i) => [
        record(bytes),
        // The garbage contains bytes that look like the start of a record.
        ...i % 20 === 0 ? [Buffer.from(MAGIC), Buffer.from(Array.from({ length: 33 }, () => next(256))), MAGIC] : [],
        ...i % 50 === 7 ? [Buffer.alloc(500)] : []
      ])
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const { report } = yield* importing(chain, write("shuffled.dat", Buffer.concat(parts)))
          assert.deepInclude(report, { stored: 200, refused: 0, orphans: 0 })
          yield* standsAt(chain, 200)
        }))
    }))

  it.scopedLive("an import accepts a long chain whose last block comes first", () =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      // Headers alone are enough to be put in order.
      const headers = [blockAt(0).header]
      for (let parent = blockAt(0).header; headers.length <= 8_000; headers.push(parent)) {
        parent = solve({
          version: BLOCK_VERSION,
          prevHash: parent.hash,
          merkleRoot: parent.hash,
          time: parent.time + 600,
          bits: parent.bits
        })
      }
      const backwards = headers.slice(1).reverse().map(({ bytes }) => bytes)
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const { report } = yield* importing(chain, write("backwards.dat", fileOf(backwards)))
          assert.deepInclude(report, { stored: 0, refused: 8_000, orphans: 0 })
          assert.strictEqual((yield* chain.headerTip).height, 8_000)
        }))
    }))

  it.scopedLive("an import keeps blocks whose parents come with a second file or import", () =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      const [low, high] = [write("low.dat", fileOf(upTo(60))), write("high.dat", fileOf(upTo(100).slice(61)))]
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const alone = yield* importing(chain, high)
          assert.deepInclude(alone.report, { stored: 0, orphans: 40, height: 0 })
          assert.include(
            alone.said,
            `${high}: the block at offset 8, and 39 more, cannot be used: an ancestor is neither here nor in the files`
          )
          const both = yield* importing(chain, high, low)
          assert.deepInclude(both.report, { files: 2, stored: 100, known: 1, orphans: 0, refused: 0 })
          assert.strictEqual(both.said, "")
          yield* standsAt(chain, 100)
        }))
      yield* withChain(join(directory, "other"), (chain) =>
        Effect.gen(function*() {
          yield* chain.sink.importFrom([low])
          yield* standsAt(chain, 60)
          assert.deepInclude(yield* chain.sink.importFrom([high]), { stored: 40, orphans: 0 })
          yield* standsAt(chain, 100)
        }))
    }))

  it.scopedLive("a repeated import stores nothing", () =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      const file = write("blocks.dat", fileOf(upTo(100)))
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          yield* chain.sink.importFrom([file])
          const size = yield* chain.control.sizeOnDisk
          const again = yield* importing(chain, file, file)
          assert.deepInclude(again.report, { stored: 0, known: 202, refused: 0, orphans: 0, height: 100 })
          assert.strictEqual(again.said, "")
          assert.strictEqual(yield* chain.control.sizeOnDisk, size)
        }))
    }))

  it.scopedLive("an import stores stale branches, and ends on the chain with the most work", () =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      const stale = blocksOf("regtest-names/stale.dat").map(({ bytes }) => bytes)
      const next = numbers(11)
      const mixed = write("mixed.dat", fileOf(shuffled([...upTo(600), ...stale], next)))
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const { report } = yield* importing(chain, mixed)
          assert.deepInclude(report, { stored: 600 + stale.length, refused: 0, orphans: 0 })
          yield* standsAt(chain, 600)
          assert.strictEqual((yield* chain.branches).length, 9)
        }))
    }))
})

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
    { what: "the coinbase of a proof", height: merged, at: () => HEADER_SIZE + 50, reason: /high-hash|is no block/ },
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
          assert.include(said, "more of this kind; the rest is only counted")
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
          assert.include(said, `${foreign}: it holds no block of this network`)
          assert.include(said, `${disguised}: the block at offset 8 cannot be used`)
          assert.include(said, `${empty}: it holds no block of this network`)
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
        const child = childOf(bad, BELOW + 2)
        const grandchild = childOf(child, BELOW + 3)
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

describe("import of a packed file", () => {
  const leftovers = (directory: string) => readdirSync(directory).filter((name) => name.startsWith("unpacked-"))

  it.scopedLive("an import of a file that does not unpack fails with its name, and leaves no files behind", () =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      const packed = gzipSync(fileOf(upTo(50)))
      const damaged = Buffer.from(packed)
      damaged.writeUInt32LE(0, damaged.length - 8)
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          for (const bytes of [packed.subarray(0, packed.length - 1000), damaged, Buffer.from("1f8b00", "hex")]) {
            const path = write("blocks.dat.gz", bytes)
            const failure = yield* Effect.flip(chain.sink.importFrom([path]))
            assert.strictEqual(failure._tag, "ImportFailed")
            assert.include(failure.message, `cannot import ${path}: it does not unpack (`)
            assert.deepStrictEqual(leftovers(directory), [])
          }
          yield* standsAt(chain, 0)
          yield* chain.sink.importFrom([write("blocks.dat.gz", packed)])
          yield* standsAt(chain, 50)
          assert.deepStrictEqual(leftovers(directory), [])
        }))
    }))

  it.scopedLive("an import reports the folder without space for unpacking", () =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      const path = write("blocks.dat.gz", gzipSync(fileOf(upTo(5))))
      // A dangling link in place of the file fails like a full disk, and is easier to produce.
      const target = join(directory, "unpacked-0-blocks.dat.gz.dat")
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          symlinkSync(join(directory, "nowhere", "file"), target)
          const failure = yield* Effect.flip(chain.sink.importFrom([path]))
          assert.strictEqual(failure._tag, "StorageUnavailable")
          assert.include(failure.message, `writing ${target} failed: ENOENT`)
        }))
    }))

  it.scopedLive("an import removes only the files that a killed run unpacked", () =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      for (const name of ["unpacked-0-blocks.dat.gz.dat", "unpacked-12-x.dat", "unpacked-notes.txt"]) write(name, MAGIC)
      yield* withChain(directory, () => Effect.void)
      assert.deepStrictEqual(leftovers(directory), ["unpacked-notes.txt"])
    }))

  it.scopedLive("an import can be interrupted while it unpacks", () =>
    Effect.gen(function*() {
      const { directory, write } = yield* setting
      // Zeros pack well: a small file takes long to unpack.
      const path = write("large.dat.gz", gzipSync(Buffer.alloc(300_000_000), { level: 1 }))
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(chain.sink.importFrom([path]))
          yield* until(() => leftovers(directory).length > 0)
          yield* Fiber.interrupt(fiber)
          assert.deepStrictEqual(leftovers(directory), [])
        }))
    }))
})

/** Waits for something to become true. */
const until = (is: () => boolean) =>
  Effect.sync(is).pipe(
    Effect.filterOrFail((met) => met, () => "not yet"),
    Effect.retry(Schedule.spaced("1 millis"))
  )

describe("import that is interrupted", () => {
  it.scopedLive("an interrupted import can be completed by the next one, in the same or another process", () =>
    Effect.gen(function*() {
      const { directory } = yield* setting
      const part = (height: number) =>
        withChain(directory, (chain) =>
          Effect.gen(function*() {
            const fiber = yield* Effect.fork(chain.sink.importFrom([FILE]))
            yield* Effect.flatMap(chain.tip, (tip) => tip.height >= height ? Effect.void : Effect.fail("not yet")).pipe(
              Effect.retry(Schedule.spaced("1 millis"))
            )
            yield* Fiber.interrupt(fiber)
            const { tip } = yield* chain.progress
            assert.isUndefined((yield* chain.progress).importing)
            assert.isBelow(tip.height, 600, "the import was over before it was interrupted")
            return tip.height
          }))
      let last = 0
      for (const height of [0, 20, 150, 300]) {
        last = yield* part(height)
        // A start connects stored blocks, and disconnects none.
        assert.isAtLeast(yield* withChain(directory, (chain) => Effect.map(chain.tip, (tip) => tip.height)), last)
      }
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(chain.sink.importFrom([FILE]))
          yield* Effect.yieldNow()
          yield* Fiber.interrupt(fiber)
          yield* chain.sink.importFrom([FILE])
          yield* standsAt(chain, 600)
        }))
    }))
})

describe("a chain state that is rebuilt from the node's own blocks", () => {
  const blockFile = (directory: string): string => join(directory, "blocks", "blk00000.dat")
  const undoSize = (directory: string): number => {
    const path = join(directory, "blocks", "undo00000.dat")
    return existsSync(path) ? statSync(path).size : 0
  }

  it.scopedLive("an interrupted rebuild loses no block, and continues at the next start", () =>
    Effect.gen(function*() {
      const { directory } = yield* setting
      yield* withChain(directory, (chain) => chain.sink.importFrom([FILE]))
      const before = readFileSync(blockFile(directory))
      const undo = undoSize(directory)
      rmSync(join(directory, "chainstate"), { recursive: true })
      for (const share of [0, 0.2, 0.5]) {
        const fiber = yield* Effect.fork(withChain(directory, () => Effect.void))
        yield* until(() => existsSync(join(directory, "chainstate", "chainstate.db")))
        yield* until(() => share === 0 || (undoSize(directory) > share * undo && undoSize(directory) < undo))
        yield* Fiber.interrupt(fiber)
        assert.isTrue(readFileSync(blockFile(directory)).equals(before), `cut short after ${share}`)
      }
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          yield* standsAt(chain, 600)
          assert.isDefined(yield* chain.block(blockAt(0).hash))
        }))
      assert.isTrue(readFileSync(blockFile(directory)).equals(before))
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(chain.control.repairs, [])
          yield* standsAt(chain, 600)
        }))
    }))

  it.scopedLive("a rebuild ends even if the record of genesis is missing", () =>
    Effect.gen(function*() {
      const { directory } = yield* setting
      mkdirSync(join(directory, "blocks"), { recursive: true })
      writeFileSync(blockFile(directory), fileOf(upTo(50).slice(1)))
      for (const _ of [1, 2]) {
        yield* withChain(directory, (chain) =>
          Effect.gen(function*() {
            yield* standsAt(chain, 50)
            assert.deepStrictEqual((yield* chain.block(blockAt(0).hash)).hash, blockAt(0).hash)
          }))
      }
      assert.strictEqual(readFileSync(blockFile(directory)).length, fileOf(upTo(50)).length)
    }))
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
