import { assert, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import type { Page } from "puppeteer-core"
import type { PageHandler } from "../../src/http/Pages.ts"
import { addressOf } from "../../src/protocol/address.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import { eventually } from "../support/eventually.ts"
import { MethodNode, methodNode } from "../support/methodNode.ts"
import { entryOf, poolWith } from "../support/pool.ts"
import {
  assertAccessible,
  chromium,
  heading,
  mainText,
  numberOf,
  openBrowser,
  overflow,
  picture,
  violations,
  watched
} from "./browser.ts"
import { get, peer, serve, statusPageOf } from "./pages.ts"

/** Every page in a browser: light, dark and on a phone; the search, the keyboard, and events. Skipped without Chromium. */

/** How a page is looked at. */
const LOOKS = [
  { look: "light", width: 1_280, scheme: "light" },
  { look: "dark", width: 1_280, scheme: "dark" },
  { look: "phone", width: 360, scheme: "light" }
] as const

/** Pages with the parts of others only. */
const PLAIN: ReadonlySet<string> = new Set([
  "coinbase",
  "identity",
  "missing",
  "namesExpiring",
  "search",
  "searchExpired",
  "searchNothing",
  "unknownBlock",
  "unknownTransaction",
  "wrong"
])

/** Smallest units per kvB, by target. */
const RATES = new Map(
  [2, 3, 6, 12, 24, 72, 144, 504, 1_008].map((target) => [target, 100_000 + Math.round(400_000 / target)])
)

/** Shortly after the last block of the chain. Set before the node starts: its fibers would run through all years. */
const NOW = 1_700_308_325_000

/** The pages, and a stream with one event for every reader: the browser reads it again and again. */
const withEvents = (pages: PageHandler): PageHandler => ({
  ...pages,
  serves: (request) => request.path === "/events" || pages.serves(request),
  answer: (request) =>
    request.path === "/events"
      ? Effect.succeed({
        status: 200,
        headers: { "Content-Type": "text/event-stream" },
        body: "id: 1\ndata: {}\n\n"
      })
      : pages.answer(request)
})

/** The headings: a list may end earlier on a busy machine. */
const outline = (page: Page): Promise<unknown> =>
  page.evaluate("[...document.querySelectorAll('main h1, main h2')].map(({ innerText }) => innerText)")

it.scoped.skipIf(chromium === undefined)(
  "every page is accessible and fits in light, dark and on a phone, and can be used by search and keyboard",
  () =>
    Effect.gen(function*() {
      const { chain, fees, names, pool } = yield* MethodNode
      const record = yield* names.resolve(Buffer.from("d/embermapleb831"))
      const info = yield* chain.headerAt(record.height)
      const block = yield* chain.block(info?.hash ?? assert.fail())
      const coinbase = block.transactions[0] ?? assert.fail()
      const address = addressOf(chain.params.network, record.address) ?? assert.fail()
      const txid = displayHash(record.txid)
      const large = yield* chain.block((yield* chain.headerAt(552))?.hash ?? assert.fail())
      const [largest = ""] = large.transactions.toSorted((a, b) => b.outputs.length - a.outputs.length)
        .map(({ txid }) => displayHash(txid))
      const targets: Readonly<Record<string, string>> = {
        overview: "/",
        name: "/?name=d%2Fembermapleb831",
        domain: "/?name=d%2Fprairiefjord2763f65b",
        expired: "/?name=d%2Fsierra-indigo88338bc2",
        identity: "/?name=id%2Fember8520322b",
        missing: "/?name=d%2Fnothing",
        search: "/?q=d%2Fa",
        searchText: "/?q=onion",
        searchExpired: "/?q=onion&expired=1",
        searchNothing: "/?q=no-such-thing-anywhere",
        blocks: "/blocks",
        block: `/block/${record.height}`,
        unknownBlock: "/block/99999",
        transaction: `/tx/${txid}?block=${record.height}`,
        largeTransaction: `/tx/${largest}`,
        coinbase: `/tx/${displayHash(coinbase.txid)}`,
        unknownTransaction: `/tx/${"ab".repeat(32)}`,
        address: `/address/${address}`,
        addressCoins: `/address/${address}?show=coins`,
        names: "/names",
        namesChanged: "/names?order=changed&prefix=d%2F&expired=1",
        namesExpiring: "/names?order=expiring",
        mempool: "/mempool",
        activity: "/activity",
        wrong: "/block/abc"
      }
      const waiting = block.transactions.slice(1).map((transaction, at) =>
        entryOf(transaction, { fee: 70_000 * (at + 1), time: NOW / 1000 - 400 * (block.transactions.length - at) })
      )
      const handler = yield* statusPageOf([1, 2, 3, 4, 5, 6, 7].map((id) => peer(id)), {
        pool: poolWith(pool, waiting),
        fees: { ...fees, estimateSmart: (target) => ({ feeRate: RATES.get(target), blocks: target }) }
      })
      yield* eventually(
        "the search index is built",
        Effect.zipRight(
          TestClock.adjust("15 seconds"),
          Effect.map(get(handler, "/?q=onion"), ({ body }) => !body.includes("is being built"))
        )
      )
      const { asked, origin } = yield* serve(withEvents(handler))
      const opened = yield* openBrowser(chromium ?? assert.fail())
      yield* Effect.promise(async () => {
        const { faults, page, requests } = await watched(opened, 1_280)
        const outlines = new Map<string, unknown>()
        for (const [name, target] of Object.entries(targets)) {
          await page.setViewport({ width: 1_280, height: 800 })
          await page.goto(origin + target, { waitUntil: "domcontentloaded" })
          outlines.set(target, await outline(page))
          for (const { look, scheme, width } of LOOKS) {
            await page.setViewport({ width, height: 800 })
            await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }])
            const what = `${target} in ${look}`
            await picture(page, `${name}-${look}`)
            assert.strictEqual(await overflow(page), 0, `${what} is wider than the window`)
            assert.strictEqual(await violations(page), 0, what)
            // Some pages have no colors of their own.
            if (look !== "dark" || !PLAIN.has(name)) {
              await assertAccessible(page, { what, colors: look === "dark" })
            }
          }
        }

        // Without a script a page has the same parts.
        await page.setViewport({ width: 1_280, height: 800 })
        await page.setJavaScriptEnabled(false)
        for (const [target, headings] of outlines) {
          await page.goto(origin + target, { waitUntil: "domcontentloaded" })
          assert.deepStrictEqual(await outline(page), headings, `${target} without a script`)
        }
        await page.goto(`${origin}/tx/${txid}`, { waitUntil: "domcontentloaded" })
        await page.click("summary")
        assert.include(await mainText(page), "P2WPKH")
        await page.setJavaScriptEnabled(true)

        const search = async (text: string): Promise<string> => {
          await page.goto(`${origin}/names`, { waitUntil: "domcontentloaded" })
          await page.type("#q", text)
          await Promise.all([page.waitForNavigation({ waitUntil: "domcontentloaded" }), page.keyboard.press("Enter")])
          return page.url().slice(origin.length)
        }
        assert.strictEqual(await search("589"), "/block/589")
        assert.strictEqual(await search(txid), `/tx/${txid}`)
        assert.strictEqual(await search(address), `/address/${address}`)
        assert.strictEqual(await search("embermapleb831.bit"), "/?name=d%2Fembermapleb831")
        assert.strictEqual(await search("onion"), "/?q=onion")
        const found = await numberOf(page, "document.querySelectorAll('.names tbody tr').length")
        assert.isAbove(found, 2)
        // A text that is in most values: the second page of its expired names begins behind the first.
        await search("text:example")
        const firstOf = () => page.evaluate("document.querySelector('.names a').href")
        await Promise.all([
          page.waitForNavigation({ waitUntil: "domcontentloaded" }),
          page.click(".choices a[href*='expired=1']")
        ])
        const first = await firstOf()
        await Promise.all([page.waitForNavigation({ waitUntil: "domcontentloaded" }), page.click("a[rel=next]")])
        assert.notStrictEqual(await firstOf(), first)
        assert.match(page.url(), /\/\?q=text%3Aexample&expired=1&after=/)
        assert.strictEqual(await search(`owner:${address}`), `/?q=${encodeURIComponent(`owner:${address}`)}`)
        assert.include(await page.evaluate("document.querySelector('.names').innerText"), "d/embermapleb831")
        await search("no such thing")
        assert.include(await mainText(page), "No such name")

        // Links of a page with a base, and a list in a namespace with its next page.
        await page.goto(`${origin}/block/589`, { waitUntil: "domcontentloaded" })
        await Promise.all([page.waitForNavigation({ waitUntil: "domcontentloaded" }), page.click("a[rel=next]")])
        assert.strictEqual(await heading(page), "590")
        await page.goto(`${origin}/names?expired=1`, { waitUntil: "domcontentloaded" })
        await page.type("#prefix", "d/")
        await Promise.all([page.waitForNavigation({ waitUntil: "domcontentloaded" }), page.click(".filter button")])
        assert.strictEqual(page.url(), `${origin}/names?prefix=d%2F&expired=1`)
        await Promise.all([page.waitForNavigation({ waitUntil: "domcontentloaded" }), page.click("a[rel=next]")])
        assert.match(page.url(), /\/names\?prefix=d%2F&expired=1&after=/)

        // Every link, field and unfolding is reached by the keyboard, and the skip link leads to the content.
        await page.goto(`${origin}/activity`, { waitUntil: "domcontentloaded" })
        const controls = await numberOf(
          page,
          "[...document.querySelectorAll('a, input, button, summary')].filter((each) => each.checkVisibility()).length"
        )
        await page.evaluate(
          "window.reached = new Set(); addEventListener('focusin', ({ target }) => window.reached.add(target))"
        )
        for (let pressed = 0; pressed < controls; pressed++) await page.keyboard.press("Tab")
        assert.strictEqual(await numberOf(page, "window.reached.size"), controls)
        await page.goto(`${origin}/block/589`, { waitUntil: "domcontentloaded" })
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.waitForFunction("location.pathname + location.hash === '/block/589#main'", { timeout: 20_000 })

        // An event makes the page of the name, and the overview, ask again; not the list of blocks, which follows none. The
        // overview asks every five seconds too: here it does not, so that the event alone can be the reason.
        await page.evaluateOnNewDocument(
          "const every = setInterval; window.setInterval = (run, pause) => pause === 5000 ? 0 : every(run, pause)"
        )
        const followed = async (target: string, events: string): Promise<void> => {
          asked.length = 0
          await page.goto(origin + target, { waitUntil: "domcontentloaded" })
          await page.waitForResponse((response) =>
            response.url() === origin + target && response.request().resourceType() === "fetch"
          )
          assert.isAtLeast(asked.filter((each) => each === target).length, 2)
          assert.include(asked, events)
        }
        await page.goto(`${origin}/blocks`, { waitUntil: "load" })
        assert.notInclude(asked.slice(asked.lastIndexOf("/blocks")).join(), "/events")
        await followed("/?name=d%2Fembermapleb831", "/events?name=642f656d6265726d61706c6562383331&nameEncoding=hex")
        await followed("/", "/events")

        assert.deepStrictEqual(faults.filter((fault) => !/\b40[04]\b/.test(fault)), [])
        assert.deepStrictEqual(requests.filter((url) => !url.startsWith("data:") && !url.startsWith(`${origin}/`)), [])
      })
    }).pipe(
      Effect.provide(methodNode({ indexes: true })),
      (program) => Effect.zipRight(TestClock.setTime(NOW), program)
    ),
  400_000
)
