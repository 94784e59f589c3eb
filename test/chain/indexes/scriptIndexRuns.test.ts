import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, FastCheck, Fiber, Scope } from "effect"
import { cpSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { hasNoHistory, scriptHashOf } from "../../../src/chain/indexes/hashRows.ts"
import { openScriptIndex, type ScriptIndex } from "../../../src/chain/indexes/ScriptIndex.ts"
import type { ConnectedBlock } from "../../../src/chain/write/Follower.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { binaryString, fromBinaryString } from "../../../src/protocol/bytes.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { blocksOf, temporaryDirectory } from "../../support/chain.ts"

const blocks = blocksOf("regtest-names/blocks.dat")

/** Small, so that blocks fill several parts, and a store takes many turns. */
const SIZES = { partRows: 90, rowsATurn: 8 }

/** An index asks for no valid chain: any block may stand at any height. */
const placed = (at: number, height: number): ConnectedBlock => {
  const block: Block = blocks[at % blocks.length] ?? assert.fail("no block")
  return { block, height, hash: block.hash, effects: [] }
}

const hashesOf = ({ block: { transactions } }: ConnectedBlock): ReadonlySet<string> =>
  new Set(transactions.flatMap(({ outputs, txid }) => [
    binaryString(txid),
    ...outputs.flatMap(({ script }) => hasNoHistory(script) ? [] : [binaryString(scriptHashOf(script))])
  ]))

const size = FastCheck.integer({ min: 1, max: 12 })
const share = FastCheck.double({ min: 0, max: 1, noNaN: true })

const stepArbitrary = FastCheck.oneof(
  { weight: 6, arbitrary: FastCheck.record({ type: FastCheck.constant("hold" as const), size }) },
  { weight: 2, arbitrary: FastCheck.record({ type: FastCheck.constant("apply" as const), size }) },
  { weight: 1, arbitrary: FastCheck.record({ type: FastCheck.constant("settle" as const) }) },
  { weight: 2, arbitrary: FastCheck.record({ type: FastCheck.constant("rewind" as const), share }) },
  { weight: 1, arbitrary: FastCheck.record({ type: FastCheck.constant("repair" as const) }) },
  // As many turns of the event loop after a store began.
  {
    weight: 3,
    arbitrary: FastCheck.record({ type: FastCheck.constant("kill" as const), turns: FastCheck.nat(14) })
  }
)

type Step = typeof stepArbitrary extends FastCheck.Arbitrary<infer Each> ? Each : never

/** An index whose process is killed at times, and the chain that it was told. */
class Run {
  readonly #places: { readonly next: () => string }
  #scope: Scope.CloseableScope | undefined
  #directory: string
  #index: ScriptIndex | undefined
  /** From genesis; the index may have only the first ones stored. */
  chain: Array<ConnectedBlock> = []
  /** The heights of a hash in any chain that the index was told. */
  readonly #ever = new Map<string, Set<number>>()
  #taken = 0

  constructor(places: { readonly next: () => string }) {
    this.#places = places
    this.#directory = places.next()
  }

  get index(): ScriptIndex {
    return this.#index ?? assert.fail("the index is closed")
  }

  open(): Effect.Effect<void, unknown> {
    return Effect.gen(this, function*() {
      const scope = yield* Scope.make()
      this.#scope = scope
      const opened = openScriptIndex({ directory: this.#directory, pageSize: 4096 }, SIZES)
      this.#index = yield* opened.pipe(Effect.provide(DataHealth.layer), Scope.extend(scope))
    })
  }

  close(): Effect.Effect<void> {
    return this.#scope === undefined ? Effect.void : Scope.close(this.#scope, Exit.void)
  }

  #more(count: number): ReadonlyArray<ConnectedBlock> {
    const list = Array.from({ length: count }, (_, i) => placed(this.#taken + i, this.chain.length + i))
    this.#taken += count
    for (const block of list) {
      this.chain.push(block)
      for (const hash of hashesOf(block)) {
        this.#ever.set(hash, (this.#ever.get(hash) ?? new Set()).add(block.height))
      }
    }
    return list
  }

  take(step: Step): Effect.Effect<void, unknown> {
    return Effect.gen(this, function*() {
      const { bulk, repair } = this.index.follower
      if (bulk === undefined || repair === undefined) return assert.fail("the index lacks calls")
      switch (step.type) {
        case "hold":
          return yield* bulk.hold(this.#more(step.size))
        case "apply":
          return yield* this.index.follower.apply(this.#more(step.size))
        case "settle":
          return yield* bulk.settle
        case "repair": {
          yield* repair.begin
          this.chain = []
          return
        }
        case "rewind": {
          const to = this.chain[Math.floor(step.share * (this.chain.length - 1))]
          if (to === undefined) return
          yield* this.index.follower.rewind(to)
          this.chain.length = to.height + 1
          return
        }
        case "kill":
          return yield* this.#kill(step.turns)
      }
    })
  }

  /** Continues on a copy of the files that is made while the index stores what it holds. */
  #kill(turns: number): Effect.Effect<void, unknown> {
    return Effect.gen(this, function*() {
      const storing = yield* Effect.fork(this.index.follower.bulk?.settle ?? Effect.void)
      for (let turn = 0; turn < turns; turn++) yield* turnOfEventLoop
      const copy = this.#places.next()
      cpSync(this.#directory, copy, { recursive: true })
      yield* Fiber.join(storing)
      yield* this.close()
      this.#directory = copy
      yield* this.open()
      const stored = yield* this.index.at
      this.chain.length = stored === undefined ? 0 : stored.height + 1
    })
  }

  /** Up to its cursor, the index has each place of the chain, and others only of blocks that left the chain. */
  check(): Effect.Effect<number, unknown> {
    return Effect.gen(this, function*() {
      const at = yield* this.index.at
      const stored = this.chain.slice(0, (at?.height ?? -1) + 1)
      assert.deepStrictEqual(stored.at(-1)?.hash, at === undefined ? undefined : Uint8Array.from(at.hash))
      const wanted = new Map<string, Array<number>>()
      for (const block of stored) {
        for (const hash of hashesOf(block)) wanted.set(hash, [...wanted.get(hash) ?? [], block.height])
      }
      for (const [hash, ever] of this.#ever) {
        const { heights } = yield* this.index.heights({ hash: fromBinaryString(hash), limit: 10_000 })
        assert.deepStrictEqual(heights, [...new Set(heights)].toSorted((a, b) => a - b))
        assert.deepStrictEqual((wanted.get(hash) ?? []).filter((height) => !heights.includes(height)), [])
        assert.deepStrictEqual(heights.filter((height) => !ever.has(height) || height > (at?.height ?? -1)), [])
      }
      return stored.length
    })
  }
}

describe("the index of scripts", () => {
  it.scopedLive("has all rows up to its cursor after any sequence of calls, kills between two slices among them", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      let [made, looked] = [0, 0]
      const next = (): string => {
        const place = join(directory, String(made++))
        mkdirSync(place)
        return place
      }
      yield* Effect.promise(() =>
        FastCheck.assert(
          FastCheck.asyncProperty(FastCheck.array(stepArbitrary, { minLength: 10, maxLength: 40 }), async (steps) => {
            const run = new Run({ next })
            const all = Effect.gen(function*() {
              yield* run.open()
              for (const step of steps) {
                yield* run.take(step)
                looked += yield* run.check()
              }
            })
            await Effect.runPromise(Effect.ensuring(all, Effect.suspend(() => run.close())))
          }),
          { numRuns: 15 }
        )
      )
      assert.isAbove(looked, 500)
    }))
})
