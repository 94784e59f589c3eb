import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import { type Browser, launch, type Page } from "puppeteer-core"
import { methodNode } from "../support/methodNode.ts"
import { peer, serve, statusPageOf } from "./pages.ts"

/** The pages in a browser. Skipped without Chromium. */

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const chromium = (process.env["PATH"] ?? "").split(delimiter)
  .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((program) => join(folder, program)))
  .find(isExecutable)

const isRoot = process.getuid?.() === 0

const browser = (executablePath: string) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      launch({ executablePath, args: ["--disable-gpu", "--disable-extensions", ...(isRoot ? ["--no-sandbox"] : [])] })
    ),
    (browser) => Effect.promise(() => browser.close())
  )

/** A page that records every error and every request. */
const watched = async (browser: Browser, width: number) => {
  const page = await browser.newPage()
  const faults: Array<string> = []
  const requests: Array<string> = []
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warn") faults.push(message.text())
  })
  page.on("pageerror", (error) => faults.push(String(error)))
  page.on("request", (request) => requests.push(request.url()))
  // Violations of the policy that the console would not show.
  await page.evaluateOnNewDocument(
    "window.violations = []; document.addEventListener('securitypolicyviolation', " +
      "({ violatedDirective, blockedURI }) => window.violations.push(violatedDirective + ' ' + blockedURI))"
  )
  await page.setViewport({ width, height: 800 })
  return { page, faults, requests }
}

const numberOf = async (page: Page, expression: string): Promise<number> => Number(await page.evaluate(expression))

/** Pixels by which the page is wider than the window. */
const overflow = (page: Page): Promise<number> =>
  numberOf(page, "document.documentElement.scrollWidth - document.documentElement.clientWidth")

const violations = (page: Page): Promise<number> => numberOf(page, "window.violations.length")

const heading = (page: Page): Promise<unknown> => page.evaluate("document.querySelector('h1').innerText")

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
      const opened = yield* browser(chromium ?? assert.fail())
      yield* Effect.promise(async () => {
        const { faults, page, requests } = await watched(opened, 1_200)
        await page.goto(`${origin}/`)
        assert.strictEqual(await heading(page), "Up to date")
        assert.strictEqual(await overflow(page), 0)

        // Returning to the overview refreshes it at once; unchanged parts stay, with their focus.
        await page.evaluate("window.stays = true; document.querySelector('#operations a').focus()")
        const focused = await page.evaluate("document.activeElement.href")
        assert.strictEqual(await numberOf(page, "document.querySelectorAll('#peers tbody tr').length"), 1)
        later = true
        await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        await page.waitForFunction("document.querySelectorAll('#peers tbody tr').length === 2", { timeout: 20_000 })
        assert.isTrue(await page.evaluate("window.stays"))
        assert.strictEqual(await page.evaluate("document.activeElement.href"), focused)

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

        await page.setJavaScriptEnabled(false)
        await page.goto(`${origin}/`)
        assert.strictEqual(await page.$eval("#pause", (button) => button.getAttribute("hidden")), "")
        await page.type("#q", "d/embermapleb831")
        await Promise.all([page.waitForNavigation(), page.click("form button")])
        assert.strictEqual(page.url(), `${origin}/?name=d%2Fembermapleb831`)

        // A page that is not found returns 404, and the browser logs that to the console.
        assert.deepStrictEqual(faults.filter((fault) => !fault.includes("404 (Not Found)")), [])
        assert.deepStrictEqual(requests.filter((url) => !url.startsWith("data:") && !url.startsWith(`${origin}/`)), [])
      })
      assert.deepStrictEqual(asked.filter((target) => !/^\/(?:\?|$)/.test(target)), [])
    }).pipe(Effect.provide(methodNode())),
  120_000
)
