import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Bytes, displayHash } from "../../../src/protocol/bytes.ts"
import { temporaryDirectory, type TestChain, withChain } from "../../support/chain.ts"
import { emptyChain } from "../../support/regtest.ts"

type Service = TestChain

const blocks = emptyChain(8)

const hashAt = (height: number): Bytes => blocks.blockAt(height).hash

const submitAll = (chain: Service) =>
  Effect.gen(function*() {
    for (let height = 1; height <= 6; height++) yield* chain.sink.submit(blocks.blockAt(height))
  })

const heightIn = (directory: string) => withChain(directory, (chain) => Effect.map(chain.tip, ({ height }) => height))

const chainstateOf = (directory: string): string => join(directory, "chainstate")

const fileIn = (directory: string): string => join(directory, "blocks", "decisions.json")

/**
 * Restores the database to the state before some work, as after a lost end of its log. The files beside the database
 * stay.
 */
const forgetting = <A, E, R>(directory: string, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const copy = `${directory}-before`
    cpSync(chainstateOf(directory), copy, { recursive: true })
    const result = yield* work
    for (const end of ["", "-wal", "-shm", ".sums"]) {
      const now = join(chainstateOf(directory), `chainstate.db${end}`)
      const before = join(copy, `chainstate.db${end}`)
      rmSync(now, { force: true })
      if (existsSync(before)) cpSync(before, now)
    }
    rmSync(copy, { recursive: true })
    return result
  })

describe("what the operator decides of a block", () => {
  it.scoped("a decision is kept when the chain state is rebuilt from the blocks", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const before = yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          yield* submitAll(chain)
          yield* chain.control.invalidate(hashAt(4))
          return yield* chain.branches
        }))
      rmSync(chainstateOf(directory), { recursive: true })
      const after = yield* withChain(directory, (chain) => chain.branches)
      assert.deepStrictEqual(
        after.map(({ length, status, tip }) => ({ length, status, tip: displayHash(tip.hash) })),
        before.map(({ length, status, tip }) => ({ length, status, tip: displayHash(tip.hash) }))
      )
      assert.strictEqual(after.find(({ status }) => status === "active")?.tip.height, 3)
    }))

  it.scoped("a decision leaves nothing to wait for", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          yield* submitAll(chain)
          yield* chain.control.invalidate(hashAt(4))
          assert.isFalse((yield* chain.progress).behind)
          assert.strictEqual((yield* chain.headerTip).height, 3)
        }))
    }))

  it.scoped("a decision is kept if its commit is lost", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withChain(directory, submitAll)
      yield* forgetting(directory, withChain(directory, (chain) => chain.control.invalidate(hashAt(4))))
      assert.strictEqual(yield* heightIn(directory), 3)
      yield* forgetting(directory, withChain(directory, (chain) => chain.control.reconsider(hashAt(4))))
      assert.strictEqual(yield* heightIn(directory), 6)
    }))

  it.scoped("a decision does not prevent descendants of a block from being read again", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withChain(directory, (chain) => Effect.zipRight(submitAll(chain), chain.control.invalidate(hashAt(4))))
      const goOn = withChain(directory, (chain) =>
        Effect.gen(function*() {
          yield* chain.control.reconsider(hashAt(4))
          for (const height of [7, 8]) yield* chain.sink.submit(blocks.blockAt(height))
        }))
      yield* forgetting(directory, goOn)
      assert.strictEqual(yield* heightIn(directory), 8)
    }))

  it.scoped("a later decision withdraws earlier ones for all blocks that it concerns", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          yield* submitAll(chain)
          yield* chain.control.invalidate(hashAt(5))
          yield* chain.control.invalidate(hashAt(3))
          yield* chain.control.reconsider(hashAt(3))
        }))
      rmSync(chainstateOf(directory), { recursive: true })
      assert.strictEqual(yield* heightIn(directory), 6)
    }))

  it.scoped("decisions are taken from the block index if their file is damaged", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withChain(directory, (chain) => Effect.zipRight(submitAll(chain), chain.control.invalidate(hashAt(4))))
      const file = fileIn(directory)
      const whole = readFileSync(file)
      for (const offset of [0, 20, whole.length - 60]) {
        const bytes = Buffer.from(whole)
        bytes.writeUInt8(bytes.readUInt8(offset) ^ 1, offset)
        writeFileSync(file, bytes)
        assert.strictEqual(yield* heightIn(directory), 3)
        assert.deepStrictEqual(readFileSync(file), whole)
      }
    }))
})
