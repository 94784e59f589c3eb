import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { layer } from "../support/layer.ts"
import { MethodNode, methodNode } from "../support/methodNode.ts"
import { entryOf, poolWith } from "../support/pool.ts"
import { assertHarmless } from "./assertPage.ts"
import { get, pagesOf, peer, statusPageOf } from "./pages.ts"

/** Bytes of the overview, with style and script. */
const MOST_BYTES = 60_000

layer(methodNode())("the overview", (it) => {
  it.effect("begins with the search, then the state in one line, the blocks and the fees", () =>
    Effect.gen(function*() {
      const { body } = yield* get(yield* statusPageOf([peer(1)]), "/")
      const order = [
        "id=\"q\"",
        "class=\"state good\"",
        "class=\"strip\"",
        "id=\"fees\"",
        "id=\"operations\"",
        "id=\"facts\""
      ]
      const places = order.map((part) => body.indexOf(part))
      assert.deepStrictEqual(places, [...places].sort((a, b) => a - b))
      assert.notInclude(places, -1)
      // One search field a page: that of the head is on the others.
      for (const target of ["/", "/blocks"]) {
        assert.lengthOf((yield* get(yield* statusPageOf(), target)).body.match(/id="q"/g) ?? [], 1, target)
      }
    }))

  it.effect("shows the state loudly if something is wrong", () =>
    Effect.gen(function*() {
      const { body } = yield* get(yield* statusPageOf(), "/")
      assert.match(body, /<section id="status" class="status attention"/)
      assert.notInclude(body, "class=\"state")
    }))

  it.effect("has no traffic while there was none", () =>
    Effect.gen(function*() {
      assert.notInclude((yield* get(yield* statusPageOf([peer(1)]), "/")).body, "0 B received")
    }))

  it.effect("is small with many peers, a full mempool and its style", () =>
    Effect.gen(function*() {
      const { chain, pool } = yield* MethodNode
      const tip = yield* chain.tip
      const { transactions } = yield* chain.block(tip.hash)
      const waiting = Array.from({ length: 300 }, (_, at) => entryOf(transactions[1 + at % 14] ?? assert.fail()))
      const peers = Array.from({ length: 125 }, (_, id) => peer(id, { userAgent: `/${"x".repeat(100)}/` }))
      const page = yield* get(yield* statusPageOf(peers, { pool: poolWith(pool, waiting) }), "/")
      assertHarmless(page)
      const bytes = Buffer.byteLength(page.body)
      console.log(`overview: ${bytes} bytes, at most ${MOST_BYTES}`)
      assert.isBelow(bytes, MOST_BYTES)
    }))

  it.effect("reads each block once, and makes the next one again only if the mempool has changed", () =>
    Effect.gen(function*() {
      const { chain, pool } = yield* MethodNode
      let blocks = 0
      let made = 0
      const handler = yield* pagesOf({
        chain: { ...chain, block: (hash) => Effect.suspend(() => (blocks++, chain.block(hash))) },
        pool: { ...pool, chunks: () => (made++, pool.chunks()) }
      })
      const first = yield* get(handler, "/")
      assert.deepStrictEqual([blocks, made], [8, 1])
      assert.include(first.body, "<b>Next</b>")
      assert.include(first.body, "under 1 % full")
      yield* get(handler, "/")
      assert.deepStrictEqual([blocks, made], [8, 1])
    }))
})
