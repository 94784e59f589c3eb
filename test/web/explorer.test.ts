import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, TestClock } from "effect"
import { BlockUnavailable } from "../../src/chain/errors.ts"
import { Indexes } from "../../src/chain/indexes/Indexes.ts"
import { TxIndex } from "../../src/chain/TxIndex.ts"
import { isExpired } from "../../src/consensus/expiry.ts"
import { paramsOf } from "../../src/consensus/params.ts"
import { NameDb } from "../../src/names/NameDb.ts"
import { transactionPlaces } from "../../src/names/transactionPlaces.ts"
import { addressOf } from "../../src/protocol/address.ts"
import { shortAmount } from "../../src/protocol/amount.ts"
import { Block } from "../../src/protocol/block.ts"
import { displayHash, equal } from "../../src/protocol/bytes.ts"
import { addressScript, nameCommitment } from "../../src/protocol/nameOperation.ts"
import { mainnet } from "../../src/protocol/networks.ts"
import { makeTransaction } from "../../src/protocol/transaction.ts"
import { namesPage } from "../../src/web/explorer/namesPage.ts"
import { nameView } from "../../src/web/namePage.ts"
import { servicesOf } from "../support/chain.ts"
import { asleepFor, eventually } from "../support/eventually.ts"
import { layer } from "../support/layer.ts"
import { nameTx, output, reward } from "../support/mempool.ts"
import { MethodNode, methodNode } from "../support/methodNode.ts"
import { scanScripts, shownHashOf } from "../support/scriptScan.ts"
import { mine, spendableNode } from "../support/spendableNode.ts"
import { assertGuarded, assertHarmless, assertTables } from "./assertPage.ts"
import { get, type Page, pagesOf } from "./pages.ts"

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

const assertFine = (page: Page, status = 200): void => {
  assert.strictEqual(page.status, status)
  assertGuarded(page)
  assertHarmless(page)
  assertTables(page)
}

/** The links of a page to other pages, as targets. */
const linksOf = ({ body }: Page): ReadonlyArray<string> =>
  [...body.matchAll(/ href="\.(\/(?:block|tx|address)\/[^"#]*)"/g)].map(([, link = ""]) =>
    link.replaceAll("&amp;", "&")
  )

/** Of an update, by what it keeps. */
const wordOf = (
  kept: { readonly value: boolean; readonly address: boolean },
  { value }: { readonly value: Uint8Array }
): string => {
  if (!kept.address) return kept.value ? "transferred" : "transferred, value changed"
  return kept.value ? "renewed" : value.length === 0 ? "value removed" : "value changed"
}

layer(methodNode())("on a chain full of names", (it) => {
  it.effect("blocks, their transactions and their addresses have pages, and every link leads to one", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf()
      const seen = new Set<string>()
      for (const target of ["/block/0", "/block/600", "/block/589", "/block/433"]) {
        const block = yield* get(handler, target)
        assertFine(block)
        for (const link of linksOf(block)) seen.add(link)
      }
      for (const link of [...seen].filter((each) => each.startsWith("/tx/"))) {
        const page = yield* get(handler, link)
        assertFine(page)
        assert.include(page.body, "confirmed")
        for (const found of linksOf(page)) if (!found.startsWith("/tx/")) seen.add(found)
      }
      for (const link of [...seen].filter((each) => !each.startsWith("/tx/"))) assertFine(yield* get(handler, link))
      assert.isAbove(seen.size, 40)
    }))

  it("a history tells scripts without an address apart", () => {
    const operation = (address: string, height: number) => ({
      name: text("d/x"),
      value: text("{}"),
      op: "name_update" as const,
      address: text(address),
      height,
      txid: text("t".repeat(32)),
      vout: 0,
      amount: 1_000_000,
      rand: undefined
    })
    const deeds = ["one", "other", "other"].map((script, at) => {
      const [entry, before] = [operation(script, 5), operation(["one", "one", "other"][at] ?? "", 4)]
      const { text: page } = nameView({
        ...{ now: 0, tipHeight: 5, params: paramsOf(mainnet), syncing: false, pending: [] },
        ...{ record: entry, history: [{ entry, time: 0, before }], total: 2, page: 1, pages: 1 }
      }, { full: true, desk: false })
      return /class="deed"><a [^>]*>([^<]*)</.exec(page)?.[1]
    })
    assert.deepStrictEqual(deeds, ["renewed", "transferred", "renewed"])
  })

  it("the list of names shows the term of today's names while the first blocks are read", () => {
    const list = { order: "name", prefix: "", expired: false } as const
    const moment = { now: 0, tipHeight: 5, params: paramsOf(mainnet), list, found: undefined }
    assert.include(namesPage({ ...moment, syncing: true }).text, "expires 36,000 blocks after")
    assert.include(namesPage({ ...moment, syncing: false }).text, "expires 12,000 blocks after")
  })

  it.effect("a block shows its transactions, their operations and their fees", () =>
    Effect.gen(function*() {
      const page = yield* get(yield* pagesOf(), "/block/589")
      assert.match(page.body, /<dt>Transactions<\/dt><dd><b>7<\/b>/)
      assert.match(
        page.body,
        /(renewed|value changed|value removed|transferred|registered)[a-z, ]*<\/span> <a href="\?name=d%2Fembermapleb831">/
      )
      assert.include(page.body, "commits to a name")
      assert.include(page.body, ">0.00001406</td>")
      assert.match(
        page.body,
        /<dt>Time<\/dt><dd><b><time [^>]*>[^<]*<\/time><\/b><span>2023-11-\d\d \d\d:\d\d UTC</
      )
      assert.include(page.body, "<base href=\"../\">")
      assert.include(page.body, "href=\"./block/589#main\"")
      const { chain } = yield* MethodNode
      const info = (yield* chain.headerAt(589)) ?? assert.fail()
      assert.include((yield* get(yield* pagesOf(), `/block/${displayHash(info.hash)}`)).body, "12 confirmations")
    }))

  it.effect("a block and a transaction say of an operation what the history of the name says", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf()
      const { names } = yield* MethodNode
      const seen = new Set<string>()
      for (let height = 560; height <= 600; height++) {
        const { body } = yield* get(handler, `/block/${height}`)
        const rows = body.matchAll(
          /href="\.\/(tx\/[0-9a-f]+\?block=\d+)"(?:(?!<\/tr>).)*?badge good">([^<]*)<\/span> <a href="\?name=([^"]*)">/gs
        )
        for (const [, link = "", word = "", name = ""] of rows) {
          const bytes = text(decodeURIComponent(name))
          const history = yield* names.history(bytes)
          const at = history.findIndex((entry) => entry.height === height && link.includes(displayHash(entry.txid)))
          const entry = history[at] ?? assert.fail(`${name} in block ${height}`)
          const before = history[at - 1]
          const expected = before === undefined
            ? "registered"
            : entry.op === "name_firstupdate"
            ? "registered again"
            : wordOf({ value: equal(entry.value, before.value), address: equal(entry.address, before.address) }, entry)
          assert.strictEqual(word, expected, `${name} in block ${height}`)
          if (!seen.has(word)) {
            assert.include(
              (yield* get(handler, `/${link}`)).body,
              `<span class="badge good">${word}</span> <a href="?name=${name}">`
            )
          }
          seen.add(word)
        }
      }
      assert.includeMembers([...seen], ["registered", "transferred, value changed"])
    }))

  it.effect("a transaction shows what it spends, and what became of its outputs", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf()
      const { names } = yield* MethodNode
      const { txid } = yield* names.resolve(text("d/embermapleb831"))
      // Without the height: its name leads to its block.
      const page = yield* get(handler, `/tx/${displayHash(txid)}`)
      assert.match(page.body, /<dt>Fee<\/dt><dd><b>0\.00001406 NMC<\/b><span>0\.00004394 NMC per kvB/)
      assert.match(page.body, /cbca3251430a….{0,10}:0/)
      assert.include(page.body, "<span class=\"badge good\">unspent</span>")
      const coinbase = linksOf(yield* get(handler, "/block/1")).find((link) => link.startsWith("/tx/"))
      assert.include((yield* get(handler, coinbase ?? assert.fail())).body, "New coins and the fees of the block")
    }))

  it.effect("what the node does not have is a sentence", () =>
    Effect.gen(function*() {
      const { chain } = yield* MethodNode
      const without = (pruned: boolean) =>
        pagesOf({
          chain: {
            ...chain,
            block: (hash) => Effect.fail(new BlockUnavailable({ hash: displayHash(hash), height: 589, pruned }))
          }
        })
      const pruned = yield* get(yield* without(true), "/block/589")
      assertFine(pruned)
      assert.include(pruned.body, "The node pruned this block")
      assert.include(pruned.body, "Merkle root")
      assert.include((yield* get(yield* without(false), "/block/589")).body, "started from a snapshot")
      const spending = `/tx/${"ab".repeat(32)}?block=589`
      const transaction = yield* get(yield* without(true), spending)
      assertFine(transaction)
      assert.include(
        transaction.body,
        "The transaction is in <a href=\"./block/589\">block 589</a>, which the node has pruned."
      )

      const withoutUndo = yield* pagesOf({ chain: { ...chain, undo: () => Effect.succeed(undefined) } })
      const block = yield* get(withoutUndo, "/block/589")
      assertFine(block)
      assert.include(block.body, "Fees are not known")
      const first = linksOf(block).find((link) => link.includes("?block=589") && link !== spending) ?? assert.fail()
      assertFine(yield* get(withoutUndo, first))

      const handler = yield* pagesOf()
      const unknown = yield* get(handler, `/tx/${"ab".repeat(32)}`)
      assertFine(unknown, 404)
      assert.include(unknown.body, "-txindex")
      assertFine(yield* get(handler, "/block/601"), 404)
      assertFine(yield* get(handler, `/block/${"ab".repeat(32)}`), 404)
      assertFine(yield* get(handler, "/block/589?page=2"), 404)
      assertFine(yield* get(handler, "/address/nothing"), 404)
      assertFine(yield* get(handler, "/address/%3Cscript%3E"), 404)
      assertFine(yield* get(handler, "/block/x"), 400)
      assertFine(yield* get(handler, "/names?after=x"), 400)
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

  it.effect("the largest blocks and transactions are paged", () =>
    Effect.gen(function*() {
      const { chain } = yield* MethodNode
      const info = (yield* chain.headerAt(589)) ?? assert.fail()
      const { transactions } = yield* chain.block(info.hash)
      const small = transactions[1] ?? assert.fail()
      const wide = makeTransaction({
        version: 1,
        inputs: small.inputs,
        outputs: Array.from({ length: 10_000 }, () => small.outputs[0] ?? assert.fail()),
        lockTime: 0
      })
      const big = new Block({
        header: info.header,
        auxpow: undefined,
        bytes: new Uint8Array(4_000_000),
        transactions: [...Array.from({ length: 16_000 }, () => small), wide]
      })
      const handler = yield* pagesOf({ chain: { ...chain, block: () => Effect.succeed(big) } })
      const last = yield* get(handler, "/block/589?page=321")
      assertFine(last)
      assert.include(last.body, "Page 321 of 321")
      assert.include(last.body, displayHash(wide.txid))
      assertFine(yield* get(handler, "/block/589?page=322"), 404)
      const outputs = yield* get(handler, `/tx/${displayHash(wide.txid)}?block=589&page=250`)
      assertFine(outputs)
      assert.include(outputs.body, "<th scope=\"row\">9999</th>")
      assert.include(outputs.body, "No more inputs on page 250.")
      for (const { body } of [last, outputs, yield* get(handler, "/block/589?page=2")]) {
        assert.isBelow(body.length, 60_000)
      }
    }))

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

layer(Layer.fresh(spendableNode))("on a chain that grows", (it) => {
  it.effect("hostile names and values stay escaped on every page, and waiting transactions have pages", () =>
    Effect.gen(function*() {
      const { chain, pool } = yield* MethodNode
      const handler = yield* pagesOf()
      const name = text("x/<script>alert(1)</script>\u202e\u0000")
      const value = text("\"><img src=x onerror=alert(1)>\u2067\r\n")
      const rand = new Uint8Array(20)
      const first = nameTx({ op: "name_new", commitment: nameCommitment(rand, name) }, [reward(1)])
      yield* mine(first)
      for (let i = 0; i < 11; i++) yield* mine()
      const registration = nameTx({ op: "name_firstupdate", name, rand, value }, [output(first, 0), output(first, 1)])
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
      // The searched typed as a height is a name too.
      const spent = yield* get(handler, `/tx/${displayHash(first.txid)}?block=${height - 12}`)
      assert.include(spent.body, "<span class=\"muted\">spent</span>")
      assert.include(spent.body, "-txospenderindex")
    }))

  it.effect("a number that is a block and a name is listed as both", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf()
      const name = text("d/12")
      const rand = new Uint8Array(20).fill(7)
      const first = nameTx({ op: "name_new", commitment: nameCommitment(rand, name) }, [reward(2)])
      yield* mine(first)
      for (let i = 0; i < 11; i++) yield* mine()
      yield* mine(
        nameTx({ op: "name_firstupdate", name, rand, value: text("{}") }, [output(first, 0), output(first, 1)])
      )
      const page = yield* get(handler, "/?q=12")
      assertFine(page)
      assert.include(page.body, "Possible matches")
      assert.include(page.body, "href=\"./block/12\"")
      assert.include(page.body, "href=\"?name=d%2F12\"")
    }))
})

it.effect("the indexes tell where every transaction is, and which one spends an output", () =>
  Effect.gen(function*() {
    const handler = yield* pagesOf()
    const block = yield* get(handler, "/block/589")
    const spent = linksOf(block).find((link) => link.startsWith("/tx/")) ?? assert.fail()
    assertFine(yield* get(handler, spent.split("?")[0] ?? ""))
    const unknown = yield* get(handler, `/tx/${"ab".repeat(32)}`)
    assert.include(unknown.body, "No transaction of the best chain or of the mempool has this txid.")
    const old = linksOf(yield* get(handler, "/block/1")).find((link) => link.startsWith("/tx/")) ?? assert.fail()
    assert.match(
      (yield* get(handler, old)).body,
      /spent by<\/span> <a class="hash" href="\.\/tx\/[0-9a-f]{64}\?block=\d+"/
    )
  }).pipe(Effect.provide(methodNode({ txIndex: true, indexes: true }))))

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
