import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Bytes, displayHash } from "../../src/protocol/bytes.ts"
import { nameCommitment } from "../../src/protocol/nameOperation.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import { layer } from "../support/layer.ts"
import { nameTx, output, reward } from "../support/mempool.ts"
import { MethodNode, methodNode } from "../support/methodNode.ts"
import { mine, spendableNode } from "../support/spendableNode.ts"
import { assertFine, assertHarmless } from "./assertPage.ts"
import { get, linkTo, type Page, pagesOf, statusPageOf, text } from "./pages.ts"

/** Values that try to break out of their markup. */
const NASTY = [
  "\"><script>alert(1)</script>",
  "</pre></details><img src=x onerror=alert(1)>",
  "{\"a\":\"</script><script>alert(1)</script>\"}",
  "a\u202eb\u0000c",
  "&lt;b&gt;",
  // Longer than a line of a list.
  `${"z".repeat(70)}<script>alert(2)</script>\u202e`,
  "x".repeat(520)
]

/** A value that is JSON, and tries to get out as well. */
const NASTY_JSON = "{\"<img src=x>\":\"</pre><script>alert(3)</script>\u2067\"}"

/** A chain of updates of one name: the first spends the output of a registration. */
const updates = (name: Bytes, from: Transaction, values: ReadonlyArray<Uint8Array>): ReadonlyArray<Transaction> => {
  const made: Array<Transaction> = []
  let last = from
  for (const value of values) {
    last = nameTx({ op: "name_update", name, value }, [output(last, 0), output(last, 1)])
    made.push(last)
  }
  return made
}

/** Announces a name, and makes its registration of twelve blocks later, which may be mined now. */
const announce = (name: Bytes, coin: number, value = text("{}")) =>
  Effect.gen(function*() {
    const rand = new Uint8Array(20).fill(coin)
    const commitment = nameTx({ op: "name_new", commitment: nameCommitment(rand, name) }, [reward(coin)])
    yield* mine(commitment)
    for (let i = 0; i < 11; i++) yield* mine()
    const registration = nameTx({ op: "name_firstupdate", name, rand, value }, [
      output(commitment, 0),
      output(commitment, 1)
    ])
    return { commitment, registration }
  })

const register = (name: Bytes, coin: number) =>
  Effect.gen(function*() {
    const { registration } = yield* announce(name, coin)
    yield* mine(registration)
    return registration
  })

layer(Layer.fresh(spendableNode))("on a chain that grows", (it) => {
  it.effect("long histories are paged, and hostile values stay escaped", () =>
    Effect.gen(function*() {
      const handler = yield* statusPageOf()
      const name = text("x/<b>\u202e")
      const registration = yield* register(name, 1)
      const plain = Array.from({ length: 34 }, (_, at) => text(`value ${at}`))
      const many = updates(name, registration, [
        ...plain,
        ...NASTY.map(text),
        Uint8Array.of(0xff, 0xfe),
        text(NASTY_JSON)
      ])
      yield* mine(...many)
      const first = yield* get(handler, linkTo(name))
      const second = yield* get(handler, `${linkTo(name)}&page=2`)
      const third = yield* get(handler, `${linkTo(name)}&page=3`)
      for (const page of [first, second, third]) {
        assertFine(page)
        assert.include(page.body, "Page ")
      }
      const rows = ({ body }: Page) => body.match(/class="when"/g)?.length
      assert.deepStrictEqual([rows(first), rows(second), rows(third)], [20, 20, 4])
      assert.strictEqual((yield* get(handler, `${linkTo(name)}&page=4`)).status, 404)
      assert.notInclude(first.body, "Newer")
      assert.notInclude(third.body, "Older")
      assert.include(third.body, "value 0<")
      assert.include(third.body, "registered")
      // The oldest entry of a page is compared with the first of the next one.
      assert.notInclude(second.body, "renewed")
      assert.include(first.body, "0xfffe")
      assert.include(
        first.body,
        "\n  &quot;&lt;img src=x&gt;&quot;: &quot;&lt;/pre&gt;&lt;script&gt;alert(3)&lt;/script&gt;"
      )
      assert.include(first.body, "zzz&lt;script&gt;alert(2)&lt;/script&gt;<span class=\"mark\">U+202E</span></pre>")
      assert.include(first.body, "a<span class=\"mark\">U+202E</span>b<span class=\"mark\">U+0000</span>c")
      assert.include(first.body, "&amp;lt;b&amp;gt;")
      const overview = yield* get(handler, "/")
      assertHarmless(overview)
      assert.include(overview.body, "x/&lt;b&gt;<span class=\"mark\">U+202E</span>")
    }))

  it.effect("a name that is renewed, or whose renewal waits for a block, is not among those that expire soon", () =>
    Effect.gen(function*() {
      const { pool, watch } = yield* MethodNode
      const handler = yield* statusPageOf()
      const name = text("d/renewed")
      const registration = yield* register(name, 7)
      yield* watch.add([name])
      const expiring = Effect.map(
        get(handler, "/", { seesWallets: true }),
        ({ body }) => /<b>([^<]*)<\/b> of the watch list/.exec(body)?.[1]
      )
      assert.isUndefined(yield* expiring)
      for (let i = 0; i < 22; i++) yield* mine()
      assert.strictEqual(yield* expiring, "1 name")
      const [update = assert.fail()] = updates(name, registration, [text("{}")])
      yield* pool.accept(update)
      assert.isUndefined(yield* expiring)
      yield* mine(update)
      assert.isUndefined(yield* expiring)
      yield* watch.remove([name])
    }))

  it.effect("unconfirmed operations are shown with the name and on the overview", () =>
    Effect.gen(function*() {
      const { pool } = yield* MethodNode
      const handler = yield* statusPageOf()
      const name = text("d/waits")
      const registration = yield* register(name, 2)
      const before = yield* get(handler, linkTo(name))
      assert.notInclude(before.body, "Pending")
      const [update, renewal] = updates(name, registration, [text("<b>soon</b>"), text("<b>soon</b>")])
      yield* pool.accept(update ?? assert.fail())
      const page = yield* get(handler, linkTo(name))
      assertHarmless(page)
      assert.include(page.body, "Pending")
      assert.include(page.body, "&lt;b&gt;soon&lt;/b&gt;")
      const overview = yield* get(handler, "/")
      assert.match(overview.body, /pending<\/span> value change<\/span>/)
      assert.match(overview.body, /<dt>Mempool<\/dt><dd><a href="[^"]*">1 transaction<\/a>, /)
      // Compared with the operation that waits before it.
      yield* pool.accept(renewal ?? assert.fail())
      assert.match((yield* get(handler, "/")).body, /pending<\/span> renewal<\/span>/)
      assert.match((yield* get(handler, linkTo(name))).body, /value change, seen.*renewal, seen/s)
      assert.include((yield* get(handler, "/mempool")).body, "<span class=\"badge good\">renewal</span>")
      yield* mine(update ?? assert.fail(), renewal ?? assert.fail())
      assert.match(
        (yield* get(handler, "/")).body,
        /d\/waits<\/bdi><\/a><span class="what">renewed<\/span>.*d\/waits<\/bdi><\/a><span class="what">value changed<\/span>/s
      )
    }))

  it.effect("hostile names and values stay escaped on every page, and waiting transactions have pages", () =>
    Effect.gen(function*() {
      const { chain, pool } = yield* MethodNode
      const handler = yield* pagesOf()
      const name = text("x/<script>alert(1)</script>\u202e\u0000")
      const value = text("\"><img src=x onerror=alert(1)>\u2067\r\n")
      const { commitment, registration } = yield* announce(name, 4, value)
      yield* pool.accept(registration)
      const waiting = yield* get(handler, `/tx/${displayHash(registration.txid)}`)
      assertFine(waiting)
      assert.include(waiting.body, "waits in the mempool")
      const activity = yield* get(handler, "/activity")
      assertFine(activity)
      assert.match(activity.body, /<dd>1 transaction of \d+ B, at fee rates from /)
      const mempool = yield* get(handler, "/mempool?names=1")
      assertFine(mempool)
      assert.include(mempool.body, `href="./tx/${displayHash(registration.txid)}"`)
      assert.notInclude(mempool.body, "<script>alert")
      assert.include(
        (yield* get(handler, "/blocks")).body,
        "<a href=\"./mempool\">1 transaction</a> waits for a block."
      )
      assert.include((yield* get(handler, "/")).body, "<dt>Mempool</dt><dd><a href=\"./mempool\">1 transaction</a>")
      assertFine(yield* get(handler, "/mempool?page=2"), 404)
      yield* mine(registration)
      const { height } = yield* chain.tip
      for (
        const target of [
          `/block/${height}`,
          `/tx/${displayHash(registration.txid)}`,
          "/names",
          "/names?order=changed",
          "/?q=alert",
          "/blocks"
        ]
      ) {
        const page = yield* get(handler, target)
        assertFine(page)
        assert.notInclude(page.body, "<script>alert")
        assert.notInclude(page.body, "<img")
      }
      const spent = yield* get(handler, `/tx/${displayHash(commitment.txid)}?block=${height - 12}`)
      assert.include(spent.body, "<span class=\"muted\">spent</span>")
      assert.include(spent.body, "-txospenderindex")
    }))

  it.effect("a number that is a block and a name is listed as both", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf()
      yield* register(text("d/12"), 5)
      const page = yield* get(handler, "/?q=12")
      assertFine(page)
      assert.include(page.body, "Possible matches")
      assert.include(page.body, "href=\"./block/12\"")
      assert.include(page.body, "href=\"?name=d%2F12\"")
    }))

  it.effect("a registration is shown before it is confirmed", () =>
    Effect.gen(function*() {
      const { pool } = yield* MethodNode
      const handler = yield* statusPageOf()
      const name = text("d/new")
      yield* pool.accept((yield* announce(name, 3, text("1"))).registration)
      const page = yield* get(handler, linkTo(name))
      assert.strictEqual(page.status, 404)
      assert.match(page.body, /pending<\/span> registration, seen/)
    }))

  it.effect("an empty chain has a page as well", () =>
    Effect.gen(function*() {
      const page = yield* get(yield* statusPageOf(), "/")
      assert.strictEqual(page.status, 200)
      assert.include(page.body, "No names were registered or updated in recent blocks.")
      assertHarmless(page)
    }).pipe(Effect.provide(methodNode({ blocks: false }))))
})
