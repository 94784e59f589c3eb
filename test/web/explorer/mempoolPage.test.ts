import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Layer, TestClock } from "effect"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import { NameAnswers } from "../../../src/light/NameAnswers.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { rateOf } from "../../../src/mempool/policy/feeRate.ts"
import type { PoolEntry } from "../../../src/mempool/PoolEntry.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import type { NameOperation } from "../../../src/protocol/nameOperation.ts"
import type { Deeds } from "../../../src/web/deeds.ts"
import { byFeeRate, makeMempoolPage, placesOf } from "../../../src/web/explorer/mempoolPage.ts"
import type { PoolList } from "../../../src/web/routes.ts"
import { nameTx, pay, reward } from "../../support/mempool.ts"
import { entryOf, FakePool, poolWith } from "../../support/pool.ts"

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

const PAYMENT = pay([reward(1)])

/** A name transaction as the pool holds it. */
const waiting = (operation: NameOperation, overrides: Partial<PoolEntry> = {}): PoolEntry =>
  entryOf(nameTx(operation, [reward(2)]), overrides)

const update = (name: string): NameOperation => ({ op: "name_update", name: text(name), value: text("{}") })

/** Words that no record decides. */
const DEEDS: Pick<Deeds, "waiting"> = {
  waiting: ({ name }) => Effect.succeed(name && { operation: name.script.operation, word: "renewal" })
}

const INFO = { maxUsage: 300_000_000, minFeeRate: 12_000 }

interface NodeState {
  readonly entries?: ReadonlyArray<PoolEntry>
  readonly light?: boolean
  readonly loaded?: boolean
  readonly missing?: boolean
  readonly blocksOnly?: boolean
}

const FIRST: PoolList = { order: "newest", names: false, page: 1 }

/** The page of a list on a node; `undefined` behind the last one. */
const pageOn = (
  { blocksOnly = false, entries = [], light = false, loaded = true, missing = false }: NodeState,
  list: Partial<PoolList> = {}
) =>
  Effect.gen(function*() {
    const pool = poolWith(yield* Effect.provide(Mempool, new FakePool().layer), entries)
    const info = { ...pool.info(), ...INFO, loaded, usage: 1_500 * entries.length }
    const page = yield* makeMempoolPage(DEEDS, { blocksOnly }).pipe(
      Effect.provideService(Mempool, { ...pool, info: () => info }),
      Effect.provide([
        Layer.mock(NameAnswers, {
          fromWindow: () => light,
          proofOfAbsence: () => "full",
          atOnce: () => undefined
        }),
        Layer.mock(SyncStatus, { initialDownload: Effect.succeed(missing) })
      ])
    )
    return (yield* page({ list: { ...FIRST, ...list } }))?.main.text
  })

const rowsOf = (page: string | undefined): ReadonlyArray<string> =>
  page?.match(/<th scope="row"><a class="hash".*?<\/tr>/gs) ?? []

describe("byFeeRate", () => {
  const entry = (fee: number, vsize: number): PoolEntry => entryOf(PAYMENT, { fee, vsize })

  const ordered = (entries: ReadonlyArray<PoolEntry>): ReadonlyArray<PoolEntry | undefined> =>
    Array.from(byFeeRate(entries, placesOf(entries, { names: false })), (place) => entries[place])

  it.prop("gives the order of a stable sort", {
    given: FastCheck.array(
      FastCheck.tuple(FastCheck.integer({ min: 0, max: 5_000 }), FastCheck.constantFrom(200, 250))
    )
  }, ({ given }) => {
    const entries = given.map(([fee, vsize]) => entry(fee, vsize))
    const sorted = entries.toSorted((a, b) => rateOf(b) - rateOf(a))
    const found = ordered(entries)
    assert.lengthOf(found, sorted.length)
    assert.isTrue(found.every((each, at) => each === sorted[at]))
  })

  it("takes the highest rates as equal, and keeps the order of arrival", () => {
    const [free, high, highest] = [entry(0, 100), entry(2e15, 1), entry(2.1e15, 1)]
    assert.deepStrictEqual(ordered([free, high, highest]), [high, highest, free])
  })
})

describe("makeMempoolPage", () => {
  it.effect("orders the transactions once while they are the same, and again when one changes", () =>
    Effect.gen(function*() {
      let looked = 0
      let changes = 0
      const entries = [100, 300, 200].map((fee): PoolEntry => ({
        ...entryOf(PAYMENT, { fee }),
        get vsize() {
          looked++
          return 100
        }
      }))
      const pool = poolWith(yield* Effect.provide(Mempool, new FakePool().layer), entries)
      const fixed = pool.info()
      const pageOf = yield* makeMempoolPage(DEEDS, { blocksOnly: false }).pipe(
        Effect.provideService(Mempool, { ...pool, info: () => ({ ...fixed, changes }) }),
        Effect.provide([
          Layer.mock(NameAnswers, { fromWindow: () => false, proofOfAbsence: () => "full", atOnce: () => undefined }),
          Layer.mock(SyncStatus, { initialDownload: Effect.succeed(false) })
        ])
      )
      const page = pageOf({ list: { ...FIRST, order: "rate" } })
      const fees = Effect.map(
        page,
        (found) =>
          [
            ...found?.main.text.matchAll(
              /<\/td>\n<td class="number wide">([0-9.]*)<\/td>\n<td class="number wide">[0-9.]*<\/td>/g
            ) ?? []
          ].map(([, fee]) => 1e8 * Number(fee))
      )
      assert.deepStrictEqual(yield* fees, [300, 200, 100])
      const once = looked
      assert.isAbove(once, 0)
      assert.deepStrictEqual(yield* fees, [300, 200, 100])
      assert.strictEqual(looked, once)
      const [, best] = entries
      if (best !== undefined) entries.push({ ...best, fee: 400 })
      changes++
      assert.deepStrictEqual(yield* fees, [400, 300, 200, 100])
      const same = yield* page
      assert.strictEqual(yield* page, same)
      yield* TestClock.adjust("1 second")
      assert.notStrictEqual(yield* page, same)
    }))
})

describe("the page of the mempool", () => {
  it.effect("shows a transaction with its size, fee, fee rate and age, and its name operation with a link", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_000)
      const changing = waiting(update("d/example"), { fee: 50_000, vsize: 250, time: 1_699_999_000 })
      const page = yield* pageOn({ entries: [changing, entryOf(PAYMENT, { time: 1_699_999_400 })] })
      const [newest = "", oldest = "", ...more] = rowsOf(page)
      assert.lengthOf(more, 0)
      assert.include(newest, "payment")
      assert.include(newest, "10 min. ago")
      assert.include(oldest, `href="./tx/${displayHash(changing.transaction.txid)}"`)
      assert.include(oldest, "renewal</span> <a href=\"?name=d%2Fexample\">")
      assert.include(oldest, ">0.0005</td>")
      assert.include(oldest, ">0.002</td>")
      assert.include(oldest, "250 vB")
      assert.include(oldest, "16 min. ago</time></td>")
    }))

  it.effect("has the totals: transactions, operations, memory, the minimum fee, and the chart", () =>
    Effect.gen(function*() {
      const entries = [
        entryOf(PAYMENT, { vsize: 1_000 }),
        waiting({ op: "name_new", commitment: new Uint8Array(20) }, { vsize: 500 }),
        waiting({ op: "name_firstupdate", name: text("d/a"), rand: new Uint8Array(20), value: text("{}") }),
        waiting(update("d/b")),
        waiting(update("d/c"))
      ]
      const page = (yield* pageOn({ entries })) ?? ""
      assert.include(page, "<dt>Transactions</dt><dd><b>5</b>")
      assert.include(page, "<b>4</b><span>1 to register, 2 to update or renew, 1 to commit</span>")
      assert.include(page, "<b>7.5 kB</b><span>of 300 MB</span>")
      assert.include(page, "<b>0.00012 NMC</b><span>per kvB, to be accepted now</span>")
      assert.include(page, "<b>0.005 NMC</b><span>of all transactions</span>")
      assert.include(page, "id=\"mempool\" class=\"card chart\"")
      assert.lengthOf(rowsOf(yield* pageOn({ entries }, { names: true })), 4)
    }))

  it.effect("goes from page to page in both orders, each transaction once", () =>
    Effect.gen(function*() {
      const entries = Array.from({ length: 120 }, (_, at) =>
        entryOf(PAYMENT, { fee: 1_000 * ((at * 7) % 120), vsize: 100 + at }))
      for (const order of ["newest", "rate"] as const) {
        const sizes: Array<string> = []
        for (const page of [1, 2, 3]) {
          const rows = rowsOf(yield* pageOn({ entries }, { order, page }))
          assert.lengthOf(rows, 40)
          sizes.push(...rows.map((row) =>
            / (\d+) vB|>(\d+) vB/.exec(row)?.[0] ?? ""
          ))
        }
        assert.strictEqual(new Set(sizes).size, 120, order)
        assert.isUndefined(yield* pageOn({ entries }, { order, page: 4 }))
      }
      const first = (yield* pageOn({ entries }, { order: "rate", names: false })) ?? ""
      assert.include(first, "href=\"./mempool?order=rate&amp;page=2\"")
      assert.include(first, "Page 1 of 3")
    }))

  it.effect("says why it is empty", () =>
    Effect.gen(function*() {
      assert.include(yield* pageOn({}), "There are no unconfirmed transactions.")
      const payments = [entryOf(PAYMENT)]
      assert.include(yield* pageOn({ entries: payments }, { names: true }), "There are no unconfirmed name operations.")
      assert.include(yield* pageOn({ missing: true }), "Blocks are missing.")
      assert.include(yield* pageOn({ loaded: false }), "is loading the transactions")
      assert.include(yield* pageOn({ blocksOnly: true, entries: payments }), "-blocksonly")
      const light = yield* pageOn({ light: true })
      assert.include(light, "The node has only recent blocks so far.")
      assert.notInclude(light, "<table")
    }))

  it.effect("escapes names, and stays small with the longest of them", () =>
    Effect.gen(function*() {
      const hostile = [
        update("<script>alert(1)</script>\u202e"),
        update("\u00fc".repeat(127)),
        { ...update(""), name: new Uint8Array(255).fill(0xff) }
      ]
      const entries = Array.from({ length: 60 }, (_, at) => waiting(hostile[at % 3] ?? update("d/x")))
      const page = (yield* pageOn({ entries })) ?? ""
      assert.notInclude(page, "<script>alert")
      assert.notInclude(page, "\u202e")
      assert.isBelow(page.length, 60_000)
    }))
})
