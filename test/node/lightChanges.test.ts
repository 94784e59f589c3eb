import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, FastCheck, PubSub, Stream } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { ConnectedBlock } from "../../src/chain/write/Follower.ts"
import { wantedChanges } from "../../src/client/changeFilter.ts"
import type { ChangeFilter } from "../../src/client/options.ts"
import type { NameChange } from "../../src/client/records.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import type { NameEntry } from "../../src/names/NameEntry.ts"
import * as LightChanges from "../../src/node/lightChanges.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { type Operation, text } from "../names/blocks.ts"
import { Branches } from "../names/events/world.ts"
import { eventually } from "../support/eventually.ts"
import { branch, rand } from "../web/events/served.ts"

const entryOf = (
  { address, height, name, operation, transaction, value: amount, vout }: ConnectedBlock["effects"][number]
): NameEntry => ({
  name,
  value: "value" in operation ? operation.value : new Uint8Array(0),
  height,
  txid: transaction.txid,
  vout,
  address,
  op: operation.op === "name_firstupdate" ? operation.op : "name_update",
  amount
})

/** A window whose blocks are put there by hand. It forgets the operations of blocks that leave the chain. */
const window = Effect.gen(function*() {
  const branches = new Branches()
  const tips = yield* PubSub.unbounded<unknown>()
  let chain: ReadonlyArray<ConnectedBlock> = []
  let looks = 0
  const entries = () => chain.flatMap(({ effects }) => effects.map(entryOf))
  const { tree } = branches
  const log = LightChanges.make({
    params: regtestParams,
    complete: Effect.succeed(true),
    span: {
      filled: () => {
        looks++
        return { low: 1, high: tree.tip() }
      }
    },
    chain: { tree, events: Stream.fromPubSub(tips) },
    operationsFrom: (from) => Effect.sync(() => entries().filter(({ height }) => height >= from)),
    resolve: (name) =>
      Effect.sync(() => {
        const record = entries().findLast((entry) => toHex(entry.name) === toHex(name))
        return record === undefined ? undefined : { record, proof: "work" as const }
      })
  })
  return {
    /** Waits until a subscriber looked so often. */
    looked: (count: number) => eventually(`look ${count}`, () => looks >= count),
    changes: (filter: ChangeFilter) => log(Either.getOrThrow(wantedChanges(filter, regtest))),
    /** Goes over to a chain. */
    go: (to: ReadonlyArray<ConnectedBlock>) =>
      Effect.suspend(() => {
        branches.add(to)
        branches.tip = to.at(-1)
        chain = to
        return PubSub.publish(tips, undefined)
      }),
    records: () =>
      new Map(entries().map(({ name, value }) => [Buffer.from(name).toString(), Buffer.from(value).toString()]))
  }
})

const set = (name: string, value: string): Operation => ({ name: text(name), rand, value: text(value) })

const BLOCKS = branch("a", 0, [[], [set("d/a", "1"), set("d/b", "1")], [set("d/a", "2")]])

/** A copy of all names that changes make. */
const replica = () => {
  const names = new Map<string, string>()
  return {
    names,
    take: ({ name, record }: NameChange) =>
      Effect.sync(() => void (record === undefined ? names.delete(name) : names.set(name, record.value)))
  }
}

describe("changes from a window", () => {
  it.live("begin when the window does, and follow it", () =>
    Effect.scoped(Effect.gen(function*() {
      const { changes, go, looked } = yield* window
      const seen: Array<NameChange> = []
      yield* Effect.forkScoped(Stream.runForEach(changes({}), (change) => Effect.sync(() => void seen.push(change))))
      yield* looked(1)
      yield* go(BLOCKS.slice(0, 2))
      // Twice to begin, and once to look.
      yield* looked(3)
      yield* go(BLOCKS)
      yield* eventually("the block", () => seen.length === 1)
      assert.deepInclude(seen[0], { type: "registered", name: "d/a", height: 2, before: undefined })
      assert.deepStrictEqual(seen[0]?.record?.asOf, { height: 2, synced: true, proof: "work" })
      const past = yield* Stream.runCollect(Stream.take(changes({ from: "a0000000.08388608.0000000000000000" }), 1))
        .pipe(
          Effect.flip
        )
      assert.deepInclude({ ...past }, { _tag: "CursorUnusable", why: "pruned" })
    })))

  it.live("go on behind a cursor of the last blocks, and say which others cannot be used", () =>
    Effect.scoped(Effect.gen(function*() {
      const { changes, go } = yield* window
      yield* go(BLOCKS)
      const why = (from: string) =>
        Effect.map(
          Effect.flip(Stream.runDrain(changes({ from }))),
          (failure) => failure._tag === "CursorUnusable" ? [failure.why, failure.oldest] : failure
        )
      const [, oldest = ""] = Chunk.toReadonlyArray(Chunk.make(yield* why("0"))).flat().map(String)
      assert.deepStrictEqual(yield* why("0"), ["early", oldest])
      assert.deepStrictEqual(yield* why("x"), ["damaged", oldest])
      assert.deepStrictEqual(yield* why("a0000009.08388608.0123456789abcdef"), ["future", oldest])
      const all = Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.take(changes({ from: oldest }), 3)))
      assert.deepStrictEqual(all.map(({ name, record }) => [name, record?.value]), [["d/a", "1"], ["d/b", "1"], [
        "d/a",
        "2"
      ]])
      for (const [i, { cursor }] of all.slice(0, 2).entries()) {
        const rest = yield* Stream.runCollect(Stream.take(changes({ from: cursor }), 2 - i))
        assert.deepStrictEqual(Chunk.toReadonlyArray(rest), all.slice(i + 1))
      }
    })))

  it.live("make a copy equal to the window across reorganizations", () =>
    Effect.scoped(Effect.gen(function*() {
      const operations = FastCheck.array(
        FastCheck.array(
          FastCheck.tuple(FastCheck.constantFrom("d/a", "d/b", "d/c"), FastCheck.constantFrom("1", "2")),
          {
            maxLength: 3
          }
        ),
        { minLength: 1, maxLength: 6 }
      )
      for (
        const [seed, lists] of FastCheck.sample(FastCheck.array(operations, { minLength: 2, maxLength: 8 }), {
          numRuns: 30,
          seed: 7
        }).entries()
      ) {
        const { changes, go, looked, records } = yield* window
        yield* go(BLOCKS.slice(0, 1))
        const copy = replica()
        const reading = yield* Effect.forkScoped(Stream.runForEach(changes({}), copy.take))
        yield* looked(3)
        let chain: ReadonlyArray<ConnectedBlock> = BLOCKS.slice(0, 1)
        for (const [round, list] of lists.entries()) {
          const kept = chain.slice(0, Math.max(1, chain.length - round % 4))
          chain = [
            ...kept,
            ...branch(
              `${seed}.${round}`,
              kept.length,
              list.map((each) => each.map(([name, value]) => set(name, value)))
            )
          ]
          yield* go(chain)
          yield* eventually(
            `round ${round}`,
            () => isDeepStrictEqual([...copy.names].sort(), [...records()].sort())
          )
        }
        yield* reading.interruptAsFork(reading.id())
      }
    })))
})
