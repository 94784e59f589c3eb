import { Effect } from "effect"
import { deepStrictEqual } from "node:assert/strict"
import { accessSync, constants, mkdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { delimiter, join } from "node:path"
import { type Browser, launch, type Page } from "puppeteer-core"

/** Pages in a browser: also for scripts, which have no test runner. */

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The program of the browser; `undefined` if there is none. */
export const chromium = (process.env["PATH"] ?? "").split(delimiter)
  .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((program) => join(folder, program)))
  .find(isExecutable)

const isRoot = process.getuid?.() === 0

export const openBrowser = (executablePath: string) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      launch({ executablePath, args: ["--disable-gpu", "--disable-extensions", ...(isRoot ? ["--no-sandbox"] : [])] })
    ),
    (browser) => Effect.promise(() => browser.close())
  )

/** A page that records every error and every request. */
export const watched = async (browser: Browser, width: number) => {
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

export const numberOf = async (page: Page, expression: string): Promise<number> =>
  Number(await page.evaluate(expression))

/** Pixels by which the page is wider than the window. */
export const overflow = (page: Page): Promise<number> =>
  numberOf(page, "document.documentElement.scrollWidth - document.documentElement.clientWidth")

/** Violations of the policy of the page. */
export const violations = (page: Page): Promise<number> => numberOf(page, "window.violations.length")

export const heading = (page: Page): Promise<unknown> => page.evaluate("document.querySelector('h1').innerText")

export const mainText = async (page: Page): Promise<string> =>
  String(await page.evaluate("document.querySelector('main').innerText"))

/** The rules of accessibility that every page follows: WCAG 2.2, levels A and AA. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]

const readAxe = (): string => readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** Checks the accessibility of a page as it is shown now; `colors` checks what depends on colors alone, for another scheme. */
export const assertAccessible = async (
  page: Page,
  { colors = false, what }: { readonly what: string; readonly colors?: boolean }
): Promise<void> => {
  // Half a megabyte: once for all looks at a page.
  if (await page.evaluate("typeof axe") === "undefined") await page.evaluate(readAxe())
  const runOnly = colors ? ["color-contrast", "link-in-text-block"] : TAGS
  const found = await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ["violations"] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) => html.slice(0, 200) + " " + failureSummary).join(" | ")))`
  )
  deepStrictEqual(found, [], what)
}

/** The folder for pictures of all pages, if the run is to make some. */
const pictures = process.env["SVCD_PICTURES"]

/** The folder for those of the documents: docs/pictures. */
const shown = process.env["SVCD_DOC_PICTURES"]

/** The pictures that documents show, with their height: the head of the page, compressed. */
export const SHOWN: ReadonlyMap<string, number> = new Map([
  ["overview-light", 900],
  ["overview-phone", 900],
  ["domain-light", 900],
  ["domain-dark", 900],
  ["domain-phone", 900],
  ["expired-light", 800],
  ["missing-light", 420],
  ["searchText-dark", 520],
  ["blocks-light", 700],
  ["block-dark", 850],
  ["transaction-light", 850],
  ["transaction-phone", 900],
  ["address-light", 680],
  ["names-light", 800],
  ["names-phone", 900],
  ["mempool-light", 850],
  ["activity-light", 850],
  ["desk-names-light", 800],
  ["desk-names-phone", 900],
  ["desk-name-light", 800],
  ["desk-form-light", 900],
  ["desk-payments-light", 800],
  ["desk-wallet-light", 700],
  ["desk-confirm-light", 1150]
])

export const picture = async (page: Page, name: string): Promise<void> => {
  if (pictures !== undefined) {
    mkdirSync(pictures, { recursive: true })
    await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true })
  }
  const height = SHOWN.get(name)
  if (shown === undefined || height === undefined) return
  mkdirSync(shown, { recursive: true })
  const clip = { x: 0, y: 0, width: page.viewport()?.width ?? 0, height }
  await page.screenshot({ path: join(shown, `${name}.webp`), type: "webp", quality: 80, clip })
}
