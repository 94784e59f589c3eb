import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { methodNode } from "../support/methodNode.ts"
import {
  assertAccessible,
  chromium,
  heading,
  numberOf,
  openBrowser,
  overflow,
  picture,
  violations,
  watched
} from "./browser.ts"
import { peer, serve, statusPageOf } from "./pages.ts"

/** The pages in a browser. Skipped without Chromium. */

const LONG = `[2001:db8:${"1234:".repeat(5)}1]:18444`

it.scopedLive.skipIf(chromium === undefined)(
  "works in a browser, wide and narrow, with and without its script",
  () =>
    Effect.gen(function*() {
      let later = false
      let away = false
      const first = yield* statusPageOf([peer(1)])
      const second = yield* statusPageOf([peer(1), peer(2, { name: LONG, userAgent: `/${"x".repeat(250)}/` })])
      const { asked, origin } = yield* serve({
        ...first,
        serves: (request) => !away && first.serves(request),
        answer: (request) => (later ? second : first).answer(request)
      })
      const opened = yield* openBrowser(chromium ?? assert.fail())
      yield* Effect.promise(async () => {
        const { faults, page, requests } = await watched(opened, 1_200)
        await page.goto(`${origin}/`)
        assert.strictEqual(await heading(page), "Look up a name on the Namecoin chain")
        assert.include(await page.evaluate("document.querySelector('#status').innerText"), "Up to date")
        assert.strictEqual(await overflow(page), 0)

        // Returning to the overview refreshes it at once; unchanged parts stay, and what is open in others stays open.
        await page.evaluate("window.stays = document.querySelector('#operations')")
        assert.strictEqual(await numberOf(page, "document.querySelectorAll('#peers li').length"), 1)
        await page.click("#peers summary")
        later = true
        await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        await page.waitForFunction("document.querySelectorAll('#peers li').length === 2", { timeout: 20_000 })
        assert.isTrue(await page.evaluate("window.stays === document.querySelector('#operations')"))
        assert.strictEqual(await page.evaluate("document.activeElement.parentElement.id"), "peer-1")
        assert.strictEqual(await numberOf(page, "document.querySelectorAll('#peers [open]').length"), 1)

        const hasNote = (hidden: boolean) =>
          page.waitForFunction(`document.getElementById("note").hidden === ${hidden}`, { timeout: 20_000 })
        for (const gone of [true, false]) {
          away = gone
          await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
          await hasNote(!gone)
        }

        await page.type("#q", "embermapleb831.bit")
        await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")])
        assert.strictEqual(page.url(), `${origin}/?name=d%2Fembermapleb831`)
        assert.include(await heading(page), "d/embermapleb831")
        assert.isAbove(await numberOf(page, "document.querySelectorAll('table.history tbody tr').length"), 10)
        await page.click("details summary")
        assert.strictEqual(await numberOf(page, "document.querySelectorAll('details[open]').length"), 1)
        assert.strictEqual(await violations(page), 0)

        await page.setViewport({ width: 360, height: 800 })
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }])
        assert.strictEqual(await overflow(page), 0)
        // The overview, an unregistered name of 255 bytes, a search with several results.
        for (const target of ["/", `/?name=${"y".repeat(255)}`, "/?q=d/"]) {
          await page.goto(origin + target)
          assert.strictEqual(await overflow(page), 0, `${target} is wider than the window`)
          assert.strictEqual(await violations(page), 0)
        }

        await page.click(".menu-button")
        await assertAccessible(page, { what: "the menu" })
        await assertAccessible(page, { what: "the menu", colors: true })

        await page.setJavaScriptEnabled(false)
        await page.goto(`${origin}/`)
        // The head is one row, and its menu needs no script: it opens by keyboard and leads on.
        const inMenu = "getComputedStyle(document.querySelector('#menu')).display"
        assert.isBelow(await numberOf(page, "document.querySelector('.top').offsetHeight"), 80)
        assert.strictEqual(await page.evaluate(inMenu), "none")
        await page.focus(".menu-button")
        await page.keyboard.press("Enter")
        assert.strictEqual(await page.evaluate(inMenu), "grid")
        await picture(page, "menu-phone")
        assert.strictEqual(await overflow(page), 0)
        await page.keyboard.press("Tab")
        assert.strictEqual(await page.evaluate("document.activeElement.textContent"), "Blocks")
        await page.keyboard.press("Escape")
        assert.strictEqual(await page.evaluate(inMenu), "none")
        assert.strictEqual(await page.$eval("#pause", (button) => button.getAttribute("hidden")), "")
        await page.type("#q", "d/embermapleb831")
        await Promise.all([page.waitForNavigation(), page.click("form button")])
        assert.strictEqual(page.url(), `${origin}/?name=d%2Fembermapleb831`)

        // A page that is not found returns 404, and the browser logs that to the console.
        assert.deepStrictEqual(faults.filter((fault) => !fault.includes("404 (Not Found)")), [])
        assert.deepStrictEqual(requests.filter((url) => !url.startsWith("data:") && !url.startsWith(`${origin}/`)), [])
      })
      assert.deepStrictEqual(asked.filter((target) => !/^\/(?:\?|events|$)/.test(target)), [])
    }).pipe(Effect.provide(methodNode())),
  120_000
)
