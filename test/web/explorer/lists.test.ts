import { assert } from "@effect/vitest"
import { Effect, Fiber, Option, TestClock } from "effect"
import { Indexes } from "../../../src/chain/indexes/Indexes.ts"
import { TxIndex } from "../../../src/chain/TxIndex.ts"
import { isExpired } from "../../../src/consensus/expiry.ts"
import { paramsOf } from "../../../src/consensus/params.ts"
import { NameDb } from "../../../src/names/NameDb.ts"
import { transactionPlaces } from "../../../src/names/transactionPlaces.ts"
import { addressOf } from "../../../src/protocol/address.ts"
import { shortAmount } from "../../../src/protocol/amount.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { addressScript } from "../../../src/protocol/nameOperation.ts"
import { mainnet } from "../../../src/protocol/networks.ts"
import { namesPage } from "../../../src/web/explorer/namesPage.ts"
import { servicesOf } from "../../support/chain.ts"
import { asleepFor, eventually } from "../../support/eventually.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"
import { scanScripts, shownHashOf } from "../../support/scriptScan.ts"
import { assertFine } from "../assertPage.ts"
import { get, type Page, pagesOf, text } from "../pages.ts"

/** The lists of the explorer: names, blocks, what an address has, what a search finds, and the activity. */

layer(methodNode())("on a chain full of names", (it) => {
  it("the list of names shows the term of today's names while the first blocks are read", () => {
    const list = { order: "name", prefix: "", expired: false } as const
    const moment = { now: 0, tipHeight: 5, params: paramsOf(mainnet), list, found: undefined }
    assert.include(namesPage({ ...moment, syncing: true }).text, "expires 36,000 blocks after")
    assert.include(namesPage({ ...moment, syncing: false }).text, "expires 12,000 blocks after")
  })

  it.effect("lists of names and blocks go from page to page, each row once", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf()
      const walk = (first: string) =>
        Effect.gen(function*() {
          const rows: Array<string> = []
          for (let target: string | undefined = first; target !== undefined;) {
            const page: Page = yield* get(handler, target)
            assertFine(page)
            rows.push(...[...page.body.matchAll(/<th scope="row"><a href="([^"]*)"/g)].map(([, link = ""]) => link))
            const [, next] = /<a rel="next" href="\.([^"]*)"/.exec(page.body) ?? []
            target = next?.replaceAll("&amp;", "&")
          }
          assert.strictEqual(new Set(rows).size, rows.length)
          return rows
        })
      assert.lengthOf(yield* walk("/blocks"), 601)
      const all = yield* walk("/names?expired=1")
      assert.lengthOf(all, 391)
      assert.deepStrictEqual((yield* walk("/names?order=changed&expired=1")).toSorted(), all.toSorted())
      const active = yield* walk("/names")
      assert.lengthOf(active, 67)
      const expiring = yield* walk("/names?order=expiring")
      assert.deepStrictEqual(expiring.toSorted(), active.toSorted())
      assert.deepStrictEqual((yield* walk("/names?order=changed"))[0]?.startsWith("?name="), true)
      const domains = yield* walk("/names?prefix=d%2F")
      assert.isTrue(domains.every((link) => link.startsWith("?name=d%2F") || link.startsWith("?hex=642f")))
      assert.include((yield* get(handler, "/names?prefix=%3Cb%3E%E2%80%AE")).body, "value=\"&lt;b&gt;\u202e\"")
    }))

  it.effect("a node with the last blocks alone says what it cannot list yet", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf({ light: true })
      const { chain, names } = yield* MethodNode
      const { address } = yield* names.resolve(text("d/embermapleb831"))
      const owner = addressOf(chain.params.network, address) ?? assert.fail()
      for (const target of ["/names", "/names?order=expiring", `/address/${owner}`, `/tx/${"ab".repeat(32)}`]) {
        const page = yield* get(handler, target)
        assertFine(page)
        assert.include(page.body, "The node has only recent blocks so far", target)
      }
      const activity = yield* get(handler, "/activity")
      assertFine(activity)
      assert.lengthOf(activity.body.match(/This chart appears once it has the whole chain/g) ?? [], 3)
      assertFine(yield* get(handler, "/blocks"))
      const mempool = yield* get(handler, "/mempool")
      assertFine(mempool)
      assert.include(mempool.body, "The node has only recent blocks so far")
      assertFine(yield* get(handler, "/?q=589"), 303)
    }))

  it.effect("lists and addresses say while the node is syncing, as what they lack may follow", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf({ syncing: true })
      const { chain, names } = yield* MethodNode
      const { address } = yield* names.resolve(text("d/embermapleb831"))
      const owner = addressOf(chain.params.network, address) ?? assert.fail()
      for (const target of ["/names", `/address/${owner}`]) {
        const page = yield* get(handler, target)
        assertFine(page)
        assert.include(page.body, "The node is still syncing. This page is as of block", target)
      }
    }))

  it.effect("an address shows the names that it owns, those that expired on request, and how to search for its coins", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf()
      const { chain, names } = yield* MethodNode
      const record = yield* names.resolve(text("d/embermapleb831"))
      const address = addressOf(chain.params.network, record.address) ?? assert.fail()
      const listed = ({ body }: { readonly body: string }) =>
        [...body.matchAll(/<th scope="row"><a href="\?([^"]*)">/g)].map(([, name]) => name)
      const page = yield* get(handler, `/address/${address}`)
      assertFine(page)
      assert.deepStrictEqual(listed(page), ["name=d%2Fembermapleb831"])
      assert.include(page.body, `scantxoutset start &#39;[&quot;addr(${address})&quot;]&#39;`)
      assert.include(page.body, "<code>-blockfilterindex</code>")
      const expired = yield* get(handler, `/address/${address}?expired=1`)
      assertFine(expired)
      assert.deepStrictEqual(listed(expired), ["name=)"])
    }))

  it.effect("histories that take long leave other pages alone, and end with a word", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf({ scripts: { book: { find: () => Effect.never, listen: () => Effect.void } } })
      const { chain, names } = yield* MethodNode
      const { address } = yield* names.resolve(text("d/embermapleb831"))
      const owner = addressOf(chain.params.network, address) ?? assert.fail()
      const nine = Array.from({ length: 9 }, () => get(handler, `/address/${owner}`))
      const slow = yield* Effect.fork(Effect.all(nine, { concurrency: "unbounded" }))
      yield* asleepFor("20 seconds", 8)
      for (const target of ["/names", "/blocks", "/mempool"]) assertFine(yield* get(handler, target))
      assert.isTrue(Option.isNone(yield* Fiber.poll(slow)))
      yield* TestClock.adjust("20 seconds")
      for (const page of yield* Fiber.join(slow)) {
        assertFine(page)
        assert.include(page.body, "The node is busy: it could not read the blocks of the address within 20 seconds")
      }
    }))

  it.effect("a search finds blocks, transactions, addresses and names, and lists what a text can mean", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf()
      const { chain, names } = yield* MethodNode
      const record = yield* names.resolve(text("d/embermapleb831"))
      const info = (yield* chain.headerAt(record.height)) ?? assert.fail()
      const address = addressOf(chain.params.network, record.address) ?? assert.fail()
      const cases: Readonly<Record<string, string>> = {
        "589": "./block/589",
        "#1": "./block/1",
        [displayHash(info.hash)]: "./block/589",
        [displayHash(record.txid)]: `./tx/${displayHash(record.txid)}`,
        [address]: `./address/${address}`,
        "embermapleb831.bit": "?name=d%2Fembermapleb831",
        "www.embermapleb831.bit/x": "?name=d%2Fembermapleb831"
      }
      for (const [typed, link] of Object.entries(cases)) {
        const found = yield* get(handler, `/?q=${encodeURIComponent(typed)}`)
        assert.deepStrictEqual([found.status, found.headers["Location"]], [303, link], typed)
      }
      yield* eventually(
        "the search index is built",
        Effect.zipRight(
          TestClock.adjust("15 seconds"),
          Effect.map(get(handler, "/?q=onion"), ({ body }) => !body.includes("is being built"))
        )
      )
      const part = yield* get(handler, "/?q=onion")
      assert.include(part.body, "Names and values with this text")
      assert.include(part.body, "<table class=\"brief names\">")
      const owner = yield* get(handler, `/?q=${encodeURIComponent(`owner:${address}`)}`)
      assert.include(owner.body, "d/embermapleb831")
      const none = yield* get(handler, "/?q=no-such-thing")
      assert.strictEqual(none.status, 404)
      assert.match(none.body, /Read as the domain no-such-thing\.bit: <a href="\?name=d%2Fno-such-thing">/)
    }))

  it.effect("the activity is drawn, with its figures behind", () =>
    Effect.gen(function*() {
      const page = yield* get(yield* pagesOf(), "/activity")
      assertFine(page)
      assert.lengthOf(page.body.match(/<svg [^>]*role="img" aria-labelledby="(\w+)-title \1-description"/g) ?? [], 2)
      const days = [...page.body.matchAll(/<tr><th scope="row">\d+ Nov 2023<\/th><td class="number">(\d+)<\/td>/g)]
        .map(([, value]) => Number(value))
      const [blocks, operations] = [days.slice(0, 5), days.slice(5, 10)]
      const { names } = yield* MethodNode
      // All blocks but genesis, which is of another year.
      assert.strictEqual(blocks.reduce((sum, each) => sum + each, 0), 600)
      const { operations: all } = yield* names.stats({ tipHeight: 600, params: (yield* MethodNode).chain.params })
      assert.strictEqual(operations.reduce((sum, each) => sum + each, 0), all)
    }))
})

layer(methodNode({ indexes: true }))("the pages of addresses with an index of them", (it) => {
  it.effect("have the balance, all payments and all coins, page by page", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf()
      const { chain } = yield* MethodNode
      const blocks = yield* Effect.forEach(
        Array.from({ length: (yield* chain.tip).height + 1 }, (_, height) => height),
        (height) => Effect.flatMap(chain.headerAt(height), (info) => chain.block(info?.hash ?? assert.fail()))
      )
      const scanned = scanScripts(blocks)
      const addresses = new Map(blocks.flatMap(({ transactions }) =>
        transactions.flatMap(({ outputs }) =>
          outputs.flatMap(({ script }) => {
            const address = addressOf(chain.params.network, addressScript(script))
            return address === undefined ? [] : [[shownHashOf(script), address] as const]
          })
        )
      ))
      const [hash = "", found] = [...scanned].filter(([each]) =>
        addresses.has(each)
      )
        .toSorted(([, a], [, b]) => b.history.length - a.history.length)[0] ?? assert.fail()
      const address = addresses.get(hash) ?? assert.fail()
      assert.isAbove(found.history.length, 25)
      /** The transactions of all pages of a list. */
      const listed = (query: string) =>
        Effect.gen(function*() {
          const shown: Array<string> = []
          for (let page = 1;; page++) {
            const answer = yield* get(handler, `/address/${address}?${query}page=${page}`)
            assertFine(answer)
            shown.push(
              ...[...answer.body.matchAll(/<th scope="row"><a class="hash" href="[^"]*" title="([0-9a-f]{64})"/g)]
                .map(([, txid = ""]) => txid)
            )
            if (!answer.body.includes(">Older</a>")) return shown
          }
        })
      assert.deepStrictEqual(yield* listed(""), found.history.map(({ tx_hash }) => tx_hash).toReversed())
      const living = [...found.coins.values()].filter(({ height, isName }) =>
        !(isName && isExpired({ height }, blocks.length, chain.params))
      )
      assert.deepStrictEqual(yield* listed("show=coins&"), living.map(({ tx_hash }) => tx_hash).toReversed())
      const { body } = yield* get(handler, `/address/${address}`)
      const balance = living.reduce((sum, { value }) => sum + value, 0)
      assert.include(body, `<b>${shortAmount(balance)} NMC</b>`)
      assert.include(body, `as of block ${blocks.length - 1}`)
      assert.notInclude(body, "scantxoutset")
      assert.include((yield* get(handler, `/address/${address}?page=999`)).body, "No payments on this page.")
      assertFine(yield* get(handler, `/address/${address}?page=0`), 400)
    }))

  it.effect("say nothing of a txid that the index finds in a block without it", () =>
    Effect.gen(function*() {
      const { chain, indexes, names, txIndex } = yield* MethodNode
      const { scripts } = indexes
      if (scripts === undefined) return assert.fail("no index")
      // As of a block that left the chain.
      const stale = { ...scripts, heights: () => Effect.succeed({ heights: [7], at: undefined }) }
      const places = yield* transactionPlaces.pipe(
        Effect.provideService(Indexes, { ...indexes, scripts: stale }),
        Effect.provideService(NameDb, names),
        Effect.provideService(TxIndex, txIndex),
        Effect.provide(servicesOf(chain))
      )
      assert.isUndefined(yield* places.heightOf(new Uint8Array(32).fill(0xab)))
    }))
})
