import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "puppeteer-core"
import { temporaryDirectory } from "../support/chain.ts"
import { type Node, startNode } from "../support/daemon.ts"
import {
  assertAccessible,
  chromium,
  heading,
  openBrowser,
  overflow,
  picture,
  violations,
  watched
} from "../web/browser.ts"

/**
 * A new user in a browser, with a node of the build: from no wallet to a name that was registered, changed, renewed and
 * transferred. Every page in light, dark and on a phone. Skipped without Chromium.
 */

const USER = "owner"
const PASSWORD = "a password for the test"
const PASSPHRASE = "correct horse battery"

/** An address without a known key. */
const NO_OWNER = "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"

const LOOKS = [
  { look: "dark", width: 1_280, scheme: "dark" },
  { look: "phone", width: 360, scheme: "light" },
  { look: "light", width: 1_280, scheme: "light" }
] as const

const COLORED: ReadonlySet<string> = new Set(["formWrong", "names", "result", "wallet"])

const rpcOf = ({ port }: Node) => async (method: string, ...params: ReadonlyArray<unknown>): Promise<unknown> => {
  const answer = await fetch(`http://127.0.0.1:${port}`, {
    method: "POST",
    headers: { authorization: `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString("base64")}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
  })
  const { error, result }: { readonly error?: unknown; readonly result?: unknown } = JSON.parse(await answer.text())
  if (error !== undefined) assert.fail(JSON.stringify(error))
  return result
}

/** Checks a page in every look. */
const look = async (page: Page, name: string): Promise<void> => {
  for (const { look, scheme, width } of LOOKS) {
    await page.setViewport({ width, height: 800 })
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }])
    await picture(page, `desk-${name}-${look}`)
    const what = `${name} in ${look}`
    assert.strictEqual(await overflow(page), 0, `${what} is wider than the window`)
    assert.strictEqual(await violations(page), 0, what)
    // On a phone the page has the same elements and colors; most pages have no colors of their own.
    if (look === "light" || look === "dark" && COLORED.has(name)) {
      await assertAccessible(page, { what, colors: look === "dark" })
    }
  }
}

/** Fills in fields by name. */
const fill = async (page: Page, fields: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, text] of Object.entries(fields)) {
    const selector = `[name="${name}"]`
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
const press = async (page: Page, text: string): Promise<void> => {
  const button = await page.$(`xpath///main//*[self::button or self::a][contains(normalize-space(.), "${text}")]`)
  if (button === null) {
    assert.fail(`no button ${text} on ${await page.evaluate("document.querySelector('main').innerText")}`)
  }
  // By its method: the value above a button grows while it is typed, and a click at a place would miss it.
  const click = button.evaluate((node) => {
    if ("click" in node && typeof node.click === "function") node.click()
  })
  await Promise.all([page.waitForNavigation({ waitUntil: "domcontentloaded" }), click])
}

const text = async (page: Page): Promise<string> =>
  String(await page.evaluate("document.querySelector('main').innerText"))

const confirmed = async (page: Page, button: string, result: string): Promise<void> => {
  if (await page.$("[name=password]") !== null) await fill(page, { password: PASSWORD })
  if (await page.$("[name=passphrase]") !== null) await fill(page, { passphrase: PASSPHRASE })
  await press(page, button)
  assert.strictEqual(await heading(page), result)
}

it.scopedLive.skipIf(chromium === undefined)(
  "a new user makes a wallet, and registers, changes, renews and transfers a name",
  () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const node = yield* startNode(
        directory,
        "-nowallet",
        "-webwallet",
        `-rpcuser=${USER}`,
        `-rpcpassword=${PASSWORD}`
      )
      yield* node.ready
      const opened = yield* openBrowser(chromium ?? assert.fail())
      yield* Effect.promise(async () => {
        const rpc = rpcOf(node)
        const mine = (count: number) => rpc("generatetoaddress", count, NO_OWNER)
        const origin = `http://127.0.0.1:${node.port}`
        const { faults, page, requests } = await watched(opened, 1_280)
        const open = (path: string) => page.goto(`${origin}/desk/${path}`, { waitUntil: "domcontentloaded" })

        await open("names")
        assert.strictEqual(await heading(page), "Log in")
        await look(page, "login")
        await fill(page, { user: USER, password: "wrong" })
        await press(page, "Log in")
        assert.include(await text(page), "wrong")
        await fill(page, { user: USER, password: PASSWORD })
        await press(page, "Log in")

        assert.strictEqual(await heading(page), "Create a wallet")
        await look(page, "create")
        await fill(page, { wallet: "main", passphrase: PASSPHRASE, again: PASSPHRASE })
        await press(page, "Create it")
        assert.strictEqual(await heading(page), "Recovery words")
        await look(page, "words")
        await press(page, "Names")
        await look(page, "empty")

        await open("receive")
        await press(page, "Show a new address")
        await look(page, "receive")
        const address = String(await page.evaluate("document.querySelector('.address').innerText"))
        await rpc("generatetoaddress", 1, address)
        await mine(100)

        await open("register")
        await look(page, "register")
        await fill(page, { name: "desk-example.bit" })
        await press(page, "Go on")
        await fill(page, {
          address: "192.0.2.1\n2001:db8::1",
          subdomain: "www 192.0.2.2\nnowhere",
          ns: "ns1.example.org"
        })
        await press(page, "Go on to confirm")
        assert.include(await text(page), "Line 2 has to be a label")
        await look(page, "formWrong")
        await fill(page, { subdomain: "www 192.0.2.2", ns: "" })
        await press(page, "Go on to confirm")
        assert.include(await text(page), "of 520 bytes")
        await look(page, "confirm")
        await confirmed(page, "Register it", "The registration is under way")
        await look(page, "result")

        await open("wallet")
        await look(page, "wallet")
        await page.click("[name=for][value=all]")
        await fill(page, { passphrase: PASSPHRASE })
        await press(page, "Unlock")
        await open("names")
        await look(page, "underWay")
        // The wallet sends the name on its own, some time after the twelfth block.
        for (let block = 0; !(await text(page)).includes("Renew chosen"); block++) {
          assert.isBelow(block, 60)
          await mine(1)
          await open("names")
        }

        await open("names")
        assert.include(await text(page), "d/desk-example")
        await look(page, "names")
        await press(page, "d/desk-example")
        await look(page, "name")
        await press(page, "Change its value")
        await look(page, "edit")
        await fill(page, { text: "hello from the desk", mail: "10 mail.example.org" })
        await page.waitForFunction("document.getElementById('draft').innerText.includes('hello from the desk')")
        await press(page, "Go on to confirm")
        await confirmed(page, "Change it", "The change is sent")
        await mine(1)

        await open("names")
        await page.click("[name=hex]")
        await press(page, "Renew chosen names")
        await look(page, "renew")
        await confirmed(page, "Renew it", "The renewal is under way")
        await mine(2)

        await open("send")
        await look(page, "send")
        await fill(page, { address: NO_OWNER, amount: "1,5" })
        await press(page, "Go on to confirm")
        assert.include(await text(page), "without commas")
        await fill(page, { address: NO_OWNER, amount: "1.5" })
        await press(page, "Go on to confirm")
        await look(page, "pay")
        await confirmed(page, "Pay 1.5 NMC", "The payment is sent")
        // The back button, and the same page once more.
        await page.goBack({ waitUntil: "domcontentloaded" })
        await page.waitForFunction("document.querySelector('h1').innerText === 'The payment is sent'")
        await open("payments")
        await look(page, "payments")
        assert.lengthOf((await text(page)).match(/paid/g) ?? [], 1)

        await open("names")
        await press(page, "d/desk-example")
        await press(page, "Release")
        await look(page, "release")
        await press(page, "Back")
        await press(page, "Transfer")
        await look(page, "transfer")
        await fill(page, { address: NO_OWNER })
        await press(page, "Go on to confirm")
        await confirmed(page, "Transfer it", "The transfer is sent")
        await mine(1)
        await open("names")
        assert.include(await text(page), "Former names")

        assert.deepStrictEqual(faults.filter((fault) => !/\b40[0-9]\b/.test(fault)), [])
        assert.deepStrictEqual(requests.filter((url) => !url.startsWith("data:") && !url.startsWith(`${origin}/`)), [])
      })
    }),
  300_000
)
