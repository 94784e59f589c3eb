import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { displayHash } from "../../src/protocol/bytes.ts"
import { layer } from "../support/layer.ts"
import { MethodNode, methodNode } from "../support/methodNode.ts"
import { entryOf, poolWith } from "../support/pool.ts"
import { get, statusPageOf } from "./pages.ts"

/** Bytes of a page, with style and script. */
const MOST_BYTES = 60_000

layer(methodNode())("on a chain full of names", (it) => {
  it.effect("every page is smaller than 60 kB, with style and script", () =>
    Effect.gen(function*() {
      const { chain, pool } = yield* MethodNode
      const blockAt = (height: number) =>
        Effect.flatMap(chain.headerAt(height), (info) => chain.block(info?.hash ?? assert.fail()))
      const waiting = (yield* Effect.forEach([589, 590, 592, 594, 599, 600], blockAt))
        .flatMap(({ transactions }) => transactions.slice(1))
        .map((transaction, at) => entryOf(transaction, { fee: 70_000 * (at + 1), time: 1_700_300_000 + at }))
      const handler = yield* statusPageOf([], { pool: poolWith(pool, waiting) })
      const { transactions } = yield* blockAt(552)
      const [large] = transactions.toSorted((a, b) => b.outputs.length - a.outputs.length)
      const targets = [
        "/",
        "/?name=d%2Fembermapleb831",
        "/?name=d%2Fsierra-indigo88338bc2",
        "/?name=d%2Fnothing",
        "/?q=d%2F",
        "/blocks",
        "/block/600",
        `/tx/${displayHash(large?.txid ?? assert.fail())}?block=552`,
        "/names?expired=1",
        "/names?order=changed&expired=1",
        "/mempool",
        "/activity"
      ]
      const sizes = yield* Effect.forEach(targets, (target) =>
        Effect.map(get(handler, target), ({ body }) => ({ target, bytes: Buffer.byteLength(body) })))
      console.log(
        sizes.map(({ bytes, target }) =>
          `${String(bytes).padStart(7)} ${target}`
        ).join("\n")
      )
      assert.deepStrictEqual(sizes.filter(({ bytes }) => bytes >= MOST_BYTES), [])
    }))
})
