import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { type Replica, take } from "../../../examples/replica.ts"
import type { ConnectedBlock } from "../../../src/chain/write/Follower.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { BEGINNING, readCursorText } from "../../../src/names/events/EventCursor.ts"
import { EMPTY, toHex } from "../../../src/protocol/bytes.ts"
import { hash256 } from "../../../src/protocol/hash.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { nameEventText } from "../../../src/rpc/shapes/nameEvent.ts"
import { applyAll, batches, blockAt, type Operation, text, withNewDb } from "../blocks.ts"
import { Branches, readAll } from "./world.ts"

/**
 * Depths of reorganizations, up to the longest that a light node follows too. `EVERY_DEPTH` in the environment takes all of
 * them.
 */
const DEPTHS = process.env["EVERY_DEPTH"] === undefined
  ? [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 288]
  : Array.from({ length: 288 }, (_, i) => i + 1)

const CONTEXT = { network: regtest, nameEncoding: "hex", valueEncoding: "hex", params: regtestParams } as const

/** Two operations of a block on some names: registrations where the names can have expired, else updates. */
const operationsAt = (height: number, branch: number): ReadonlyArray<Operation> =>
  [0, 1].map((i) => {
    const number = height * 7 + branch * 3 + i
    const rand = number % 3 === 0 ? { rand: Uint8Array.of(branch % 256) } : {}
    return {
      name: text(`d/${number % 40}`),
      value: text(`${branch}.${height}`),
      owner: text(`o${number % 5}`),
      ...rand
    }
  })

const blocksOf = (branch: number, from: number, count: number): ReadonlyArray<ConnectedBlock> =>
  Array.from({ length: count }, (_, i) => ({
    ...blockAt(from + i, operationsAt(from + i, branch)),
    hash: hash256(text(`${branch} ${from + i}`))
  }))

describe("examples/replica.ts", () => {
  it.effect("equals names.db after reorganizations of any depth", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const branches = new Branches()
        let chain = blocksOf(0, 0, 300)
        branches.add(chain)
        branches.tip = chain.at(-1)
        yield* applyAll(db, batches(chain, 100))
        const events = branches.events(db)
        const replica: Replica = { names: new Map(), cursor: "0" }
        const catchUp = Effect.gen(function*() {
          const from = readCursorText(replica.cursor) ?? BEGINNING
          for (const page of yield* readAll(events, from)) {
            for (const event of page.events) take(replica, nameEventText(CONTEXT, event))
          }
          const stored = yield* Stream.runCollect(db.scanByPrefix({ prefix: EMPTY }))
          const records = [...stored].map(({ height, name, txid, value }) =>
            [toHex(name), toHex(value), toHex(txid.slice().reverse()), height].join(" ")
          )
          const copied = [...replica.names].map(([name, record]) => {
            const { height, txid, value } = { height: undefined, ...record }
            return [name, value, txid, height].join(" ")
          })
          return [copied.sort(), records.sort()] as const
        })
        const [first, stored] = yield* catchUp
        assert.deepStrictEqual(first, stored)
        for (const [i, depth] of DEPTHS.entries()) {
          const kept = chain.slice(0, chain.length - depth)
          const fork = kept.at(-1)
          if (fork === undefined) return assert.fail("the chain is long enough")
          const fresh = blocksOf(i + 1, kept.length, depth + 1)
          branches.add(fresh, fork)
          branches.tip = fresh.at(-1)
          yield* db.follower.rewind(fork)
          yield* applyAll(db, batches(fresh, 100))
          chain = [...kept, ...fresh]
          const [copied, records] = yield* catchUp
          assert.deepStrictEqual(copied, records, `${depth} blocks`)
        }
      })
    ), 120_000)
})
