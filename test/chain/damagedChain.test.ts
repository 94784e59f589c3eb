import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect } from "effect"
import { closeSync, openSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { coinState, temporaryDirectory, withChain } from "../support/chain.ts"
import { atTip, blocks, FILE, filled, submitAll } from "./filled.ts"

describe("Chain", () => {
  describe("what damage does", () => {
    const blockFile = (directory: string): string => join(directory, "blocks", "blk00000.dat")

    it.scopedLive("a missing chain state is rebuilt from the stored blocks", () =>
      Effect.gen(function*() {
        const directory = yield* filled
        const size = statSync(blockFile(directory)).size
        rmSync(join(directory, "chainstate"), { recursive: true })
        atTip(yield* withChain(directory, coinState), "rebuilt")
        assert.strictEqual(statSync(blockFile(directory)).size, size)
      }), 60_000)

    for (const cut of [1, 100, 5_000]) {
      it.scopedLive(
        `says that ${cut} bytes at the end of a block file are missing, keeps the state, takes the blocks again`,
        () =>
          Effect.gen(function*() {
            const directory = yield* filled
            truncateSync(blockFile(directory), statSync(blockFile(directory)).size - cut)
            yield* withChain(directory, (chain) =>
              Effect.gen(function*() {
                assert.match(chain.control.repairs.join(), /repaired .*blk00000\.dat: its end is missing/)
                atTip(yield* coinState(chain), "after the cut")
                const tip = yield* chain.tip
                assert.strictEqual((yield* Effect.flip(chain.block(tip.hash)))._tag, "BlockUnavailable")
                yield* chain.sink.importFrom([FILE])
                assert.strictEqual((yield* chain.block(tip.hash)).size, blocks[600]?.size)
              }))
          }),
        60_000
      )
    }

    it.scopedLive("the chain removes blocks that were written after the last commit", () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        yield* withChain(directory, (chain) => submitAll(chain, 1, 10))
        const whole = readFileSync(blockFile(directory))
        writeFileSync(
          blockFile(directory),
          Buffer.concat([whole, Buffer.from("fabfb5da30000000", "hex"), Buffer.alloc(20)])
        )
        yield* withChain(directory, (chain) =>
          Effect.gen(function*() {
            assert.match(chain.control.repairs.join(), /cut off 28 bytes/)
            assert.deepStrictEqual(yield* submitAll(chain, 10, 20), [])
          }))
        assert.isAbove(statSync(blockFile(directory)).size, whole.length)
      }))

    it.scopedLive(
      "the chain reports file and offset of a damaged block, and serves all others",
      () =>
        Effect.gen(function*() {
          const directory = yield* filled
          const victim = blocks[321]
          assert.isDefined(victim)
          const offset = readFileSync(blockFile(directory)).indexOf(victim.bytes)
          const handle = openSync(blockFile(directory), "r+")
          writeSync(handle, Buffer.alloc(40, 0xff), 0, 40, offset + 30)
          closeSync(handle)
          yield* withChain(directory, (chain) =>
            Effect.gen(function*() {
              const failure = yield* Effect.flip(chain.block(victim.hash))
              assert.strictEqual(failure._tag, "StorageCorrupted")
              assert.include(failure.message, `offset ${offset}`)
              assert.include(failure.message, "blk00000.dat")
              assert.strictEqual(
                (yield* chain.block(blocks[322]?.hash ?? victim.hash)).transactions.length,
                blocks[322]?.transactions.length
              )
            }))
        }),
      60_000
    )

    it.scopedLive("a chain state that is not a database is rebuilt, and one of a newer format is refused", () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        yield* withChain(directory, (chain) => submitAll(chain, 1, 5))
        const file = join(directory, "chainstate", "chainstate.db")
        /** Damages the closed database, and expects that the chain state is rebuilt from the blocks. */
        const rebuilt = (damage: (content: Buffer) => Buffer) =>
          Effect.suspend(() => {
            writeFileSync(file, damage(readFileSync(file)))
            return withChain(directory, (chain) => Effect.map(chain.tip, ({ height }) => assert.strictEqual(height, 4)))
          })
        yield* rebuilt(() => Buffer.alloc(8192, 0x5a))
        // One flipped bit of the version number: no version writes such a file.
        yield* rebuilt((content) => {
          content.writeUInt32BE(content.readUInt32BE(60) ^ 64, 60)
          return content
        })
        const database = new SQLite(file)
        database.pragma("user_version = 999")
        database.close()
        const before = readFileSync(file)
        const failure = yield* Effect.flip(withChain(directory, (chain) => chain.tip))
        assert.strictEqual(failure._tag, "StorageCorrupted")
        assert.include(failure.message, `${file} is corrupted: its format is 999`)
        assert.isTrue(before.equals(readFileSync(file)))
      }))
  })
})
