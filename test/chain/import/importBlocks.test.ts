import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { blocksOf, withChain } from "../../support/chain.ts"
import { numbers, shuffled } from "../../support/numbers.ts"
import { BLOCK_VERSION, solve } from "../../support/regtest.ts"
import { blockAt, blocks, FILE, fileOf, importing, MAGIC, record, setting, standsAt, upTo } from "./importing.ts"

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
          for (const i of [0, 1, 2]) assert.include(said, `blk0000${i}.dat: it has no blocks of this network`)
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
