import { assert } from "@effect/vitest"
import type { Page } from "puppeteer-core"
import type { Node } from "../support/daemon.ts"
import { heading, mainText } from "../web/browser.ts"

/** The desk in a browser, as its owner uses it. */

export const USER = "owner"
export const PASSWORD = "a password for the test"
export const PASSPHRASE = "correct horse battery"

export const rpcOf =
  ({ port }: Node) => async (method: string, ...params: ReadonlyArray<unknown>): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${port}`, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString("base64")}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
    })
    const { error, result }: { readonly error?: unknown; readonly result?: unknown } = JSON.parse(await answer.text())
    if (error !== undefined) assert.fail(JSON.stringify(error))
    return result
  }

/** Fills in fields by name. */
export const fill = async (page: Page, fields: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, text] of Object.entries(fields)) {
    const selector = `[name="${name}"]:not([type=radio])`
    await page.$eval(selector, (element) => {
      for (let above = element.parentElement; above !== null; above = above.parentElement) {
        if (above.tagName === "DETAILS") above.setAttribute("open", "")
      }
    })
    await page.$eval(selector, (element) => {
      if ("value" in element) element.value = ""
    })
    await page.type(selector, text)
  }
}

/** Presses a button or a link with this text, and waits for the next page. */
export const press = async (page: Page, text: string, within = "main"): Promise<void> => {
  const button = await page.$(`xpath///${within}//*[self::button or self::a][contains(normalize-space(.), "${text}")]`)
  if (button === null) {
    assert.fail(`no button ${text} on ${await mainText(page)}`)
  }
  // By its method: the value above a button grows while it is typed, and a click at a place would miss it.
  const click = button.evaluate((node) => {
    if ("click" in node && typeof node.click === "function") node.click()
  })
  await Promise.all([page.waitForNavigation({ waitUntil: "domcontentloaded" }), click])
}

/** The link of `svcd-cli desk`, opened in this browser. */
export const openLink = async (page: Page, node: Node): Promise<void> => {
  const answer = await rpcOf(node)("createdesklink")
  const path = typeof answer === "object" && answer !== null && "path" in answer ? String(answer.path) : assert.fail()
  await page.goto(`http://127.0.0.1:${node.port}${path}`, { waitUntil: "domcontentloaded" })
  assert.strictEqual(await heading(page), "Open the desk")
}

export const logIn = async (page: Page, node: Node): Promise<void> => {
  await openLink(page, node)
  await press(page, "Open the desk")
}

export const confirmed = async (page: Page, button: string, result: string): Promise<void> => {
  if (await page.$("[name=password]") !== null) await fill(page, { password: PASSWORD })
  if (await page.$("[name=passphrase]") !== null) await fill(page, { passphrase: PASSPHRASE })
  await press(page, button)
  assert.strictEqual(await heading(page), result)
}

/** The words for which a page asks, out of those of the wallet. */
export const wordsFor = async (page: Page, words: ReadonlyArray<string>): Promise<Readonly<Record<string, string>>> => {
  const names = await page.$$eval("[name^=word-]", (fields) => fields.map((field) => field.getAttribute("name") ?? ""))
  return Object.fromEntries(names.map((name) => [name, words[Number(name.slice(5)) - 1] ?? ""]))
}
