import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Browser, Page } from "puppeteer-core"
import { temporaryDirectory } from "../support/chain.ts"
import { type Node, program, runCommand, startNodeBy } from "../support/daemon.ts"
import {
  assertAccessible,
  chromium,
  heading,
  mainText,
  openBrowser,
  overflow,
  picture,
  violations,
  watched
} from "../web/browser.ts"
import { confirmed, fill, logIn, openLink, PASSPHRASE, PASSWORD, press, rpcOf, USER, wordsFor } from "./browsing.ts"

/**
 * A new user in a browser, without a line of JSON: from no wallet to checked recovery words, and to a name that was
 * registered, changed, renewed and transferred. Every page in light, dark and on a phone. Skipped without Chromium.
 *
 * The programs are those of the build; with `SVCD_ARCHIVE` those of that archive of `npm run package`, unpacked as its owner
 * does it.
 */

const ARCHIVE = process.env["SVCD_ARCHIVE"]

/** An address without a known key. */
const NO_OWNER = "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"

/** Names that are hard to show: as long as any, and with characters that turn text. */
const LONG = `d/${"long-".repeat(50)}x`
const TURNING = "id/a\u202eb\u200bc <b>"

const UTF8 = { nameEncoding: "utf8", valueEncoding: "utf8" }

const ALL_LOOKS = [
  { look: "dark", width: 1_280, scheme: "dark" },
  { look: "phone", width: 360, scheme: "light" },
  { look: "light", width: 1_280, scheme: "light" }
] as const

/** The run with the archive checks every page in every look; the suite leaves the dark scheme and phones to it. */
const IS_THOROUGH = ARCHIVE !== undefined || process.env["SVCD_PICTURES"] !== undefined

const LOOKS = IS_THOROUGH ? ALL_LOOKS : ALL_LOOKS.filter(({ look }) => look !== "dark")

/** The command of a program, by its name. */
const installed = Effect.gen(function*() {
  if (ARCHIVE === undefined) return (name: string): ReadonlyArray<string> => [process.execPath, program(name)]
  const folder = yield* temporaryDirectory
  const { code, stderr } = yield* runCommand("tar", "-xzf", ARCHIVE, "-C", folder)
  assert.strictEqual(code, 0, stderr)
  const [tree = assert.fail("an empty archive")] = readdirSync(folder)
  return (name: string): ReadonlyArray<string> => [join(folder, tree, "bin", name)]
})

const looked: Array<string> = []

/** Checks a page in every look. */
const look = async (page: Page, name: string): Promise<void> => {
  looked.push(name)
  for (const { look, scheme, width } of LOOKS) {
    await page.setViewport({ width, height: 800 })
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }])
    await picture(page, `desk-${name}-${look}`)
    const what = `${name} in ${look}`
    assert.strictEqual(await overflow(page), 0, `${what} is wider than the window`)
    assert.strictEqual(await violations(page), 0, what)
    // In the dark the page has the same elements.
    if (IS_THOROUGH || look === "light") await assertAccessible(page, { what, colors: look === "dark" })
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

interface Place {
  readonly browser: Browser
  readonly node: Node
  /** The words of a wallet, as the user reads them at the machine of the node. */
  readonly wordsOf: (wallet: string) => Promise<ReadonlyArray<string>>
  /** For files to upload. */
  readonly folder: string
}

const walk = async ({ browser, folder, node, wordsOf }: Place): Promise<void> => {
  const rpc = rpcOf(node)
  const mine = (count: number) => rpc("generatetoaddress", count, NO_OWNER)
  const origin = `http://127.0.0.1:${node.port}`

  // The pages about the node lead to the desk.
  const overview = await browser.newPage()
  await overview.authenticate({ username: USER, password: PASSWORD })
  await overview.goto(`${origin}/blocks`, { waitUntil: "domcontentloaded" })
  await overview.setViewport({ width: 360, height: 800 })
  await picture(overview, "desk-node-phone")
  assert.strictEqual(await overflow(overview), 0, "the page about the node is wider than a phone")
  await press(overview, "Desk", "header")
  assert.strictEqual(overview.url(), `${origin}/desk/login`)
  await overview.close()

  const { faults, page, requests } = await watched(browser, 1_280)
  const open = (path: string) => page.goto(`${origin}/desk/${path}`, { waitUntil: "domcontentloaded" })
  await open("names")
  assert.strictEqual(await heading(page), "Sign in")
  await look(page, "login")
  await fill(page, { user: USER, password: "wrong" })
  await press(page, "Sign in")
  assert.include(await mainText(page), "wrong")
  await look(page, "loginWrong")
  await openLink(page, node)
  await look(page, "link")
  const link = page.url()
  await press(page, "Open the desk")
  // The link again: here it leads to the desk, and in another browser to what became of it.
  await page.goto(link, { waitUntil: "domcontentloaded" })
  assert.strictEqual(await heading(page), "Create a wallet")
  const stranger = await (await browser.createBrowserContext()).newPage()
  await stranger.goto(link, { waitUntil: "domcontentloaded" })
  assert.strictEqual(await heading(stranger), "This link was already used")
  await picture(stranger, "desk-linkUsed-light")
  await stranger.close()
  // Signed in to the explorer, too.
  const blocks = await page.goto(`${origin}/blocks`, { waitUntil: "domcontentloaded" })
  assert.strictEqual(blocks?.status(), 200)
  await open("names")

  assert.strictEqual(await heading(page), "Create a wallet")
  await look(page, "create")
  await fill(page, { wallet: "main", passphrase: PASSPHRASE, again: PASSPHRASE })
  await press(page, "Create it")
  assert.strictEqual(await heading(page), "Recovery words")
  await look(page, "words")
  const words = await wordsOf("main")
  assert.lengthOf(words, 24)
  const asked = await wordsFor(page, words)
  const [first = assert.fail("no words are asked for")] = Object.keys(asked)
  await fill(page, { ...asked, [first]: "unlisted", passphrase: PASSPHRASE })
  await press(page, "Check the words")
  assert.include(await mainText(page), "At least one of these words is wrong")
  await look(page, "wordsWrong")
  await fill(page, { ...await wordsFor(page, words), passphrase: PASSPHRASE })
  await press(page, "Check the words")
  assert.include(await mainText(page), "You verified your seed phrase")
  await look(page, "wordsKept")
  await press(page, "Names")
  assert.notInclude(await mainText(page), "recovery word")
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
  await page.waitForFunction("document.getElementById('draft').innerText.includes('the domain desk-example.bit')")
  await look(page, "meant")
  await press(page, "Go on")
  await look(page, "form")
  await fill(page, {
    address: "192.0.2.1\n2001:db8::1",
    subdomain: "www 192.0.2.2\nnowhere",
    ns: "ns1.example.org"
  })
  await press(page, "Go on to confirm")
  assert.include(await mainText(page), "Line 2 has to be a label")
  await look(page, "formWrong")
  await fill(page, { subdomain: "www 192.0.2.2", ns: "" })
  await press(page, "Edit it as JSON")
  assert.include(String(await page.$eval("[name=json]", (field) => "value" in field && field.value)), "192.0.2.2")
  await look(page, "formJson")
  await press(page, "Edit it in fields")
  await press(page, "Go on to confirm")
  assert.include(await mainText(page), "of 520 bytes")
  assert.include(await mainText(page), "By the wallet, before the name expires")
  await look(page, "confirm")
  await confirmed(page, "Register it", "The registration is under way")
  await look(page, "result")

  await open("wallet")
  await look(page, "wallet")
  await page.click("[name=for][value=all-3-hours]")
  await fill(page, { passphrase: PASSPHRASE })
  await press(page, "Unlock")
  await look(page, "walletOpen")
  // Others that are hard to show come along.
  await rpc("name_autoregister", LONG, "{\"ip\":\"192.0.2.7\"}")
  await rpc("name_autoregister", TURNING, `{"name":"\u202e ${"<i>".repeat(60)}"}`, UTF8)
  await open("names")
  await look(page, "underWay")
  // The wallet sends the names on its own, some time after the twelfth block.
  const nameLinks = () => page.$$eval("[name=hex][type=checkbox]", (boxes) => boxes.length)
  for (let block = 0; await nameLinks() < 3; block++) {
    assert.isBelow(block, 60)
    await mine(1)
    await open("names")
  }
  assert.include(await mainText(page), "d/desk-example")
  await look(page, "names")
  await press(page, "long-")
  await look(page, "nameLong")
  await open("names")
  await press(page, "id/a")
  await look(page, "nameTurning")
  await open("names")
  await press(page, "d/desk-example")
  await look(page, "name")
  await press(page, "Change its value")
  await look(page, "edit")
  await fill(page, { text: "hello from the desk", mail: "10 mail.example.org" })
  await page.waitForFunction("document.getElementById('draft').innerText.includes('hello from the desk')")
  await press(page, "Go on to confirm")
  await look(page, "change")
  await confirmed(page, "Change it", "The change is sent")
  await mine(1)

  await open("names")
  await page.click("[name=hex]")
  await press(page, "Renew chosen names")
  await look(page, "renew")
  await confirmed(page, "Renew it", "The renewal is in progress")
  await mine(2)

  await open("send")
  await look(page, "send")
  await fill(page, { address: NO_OWNER, amount: "1,5" })
  await press(page, "Go on to confirm")
  assert.include(await mainText(page), "Use a decimal point and no commas")
  await look(page, "sendWrong")
  await fill(page, { address: NO_OWNER, amount: "1.5" })
  await press(page, "Go on to confirm")
  await look(page, "pay")
  const payment = page.url()
  await confirmed(page, "Pay 1.5 NMC", "The payment is sent")
  await look(page, "paid")
  // The back button, the same page once more, and both after a new log-in.
  await page.goBack({ waitUntil: "domcontentloaded" })
  await page.waitForFunction("document.querySelector('h1').innerText === 'The payment is sent'")
  await press(page, "Sign out", "header")
  await logIn(page, node)
  await page.goto(payment, { waitUntil: "domcontentloaded" })
  assert.strictEqual(await heading(page), "The payment is sent")
  await open("payments")
  await look(page, "payments")
  await page.setViewport({ width: 360, height: 800 })
  const heights = await page.$$eval(
    ".payments tbody tr",
    (rows) => rows.map((row) => row.getBoundingClientRect().height)
  )
  assert.isAbove(heights.length, 3)
  assert.isBelow(Math.max(...heights), 48, "a payment takes one line on a phone")
  assert.lengthOf((await mainText(page)).match(/paid/g) ?? [], 1)
  // A confirmed transaction is found without an index, by the height in its link.
  const confirmedLink = await page.$eval("a[href*='block=']", (link) => "href" in link ? String(link.href) : "")
  await page.goto(confirmedLink, { waitUntil: "domcontentloaded" })
  assert.include(await mainText(page), "Confirmations")

  // A PSBT as a file, in bytes or in base64.
  await open("sign")
  const raw = Buffer.from("70736274ff01000a00000000000000000000", "hex")
  for (const [file, content] of [["raw.psbt", raw], ["text.psbt", `${raw.toString("base64")}\n`]] as const) {
    writeFileSync(join(folder, file), content)
    await fill(page, { psbt: "" })
    const input = await page.waitForSelector("input[type=file]", { visible: true })
    await (await input?.toElement("input"))?.uploadFile(join(folder, file))
    await page.waitForFunction(`document.getElementById("f-psbt").value === "${raw.toString("base64")}"`)
  }
  await look(page, "sign")

  await open("names")
  await press(page, "d/desk-example")
  await press(page, "Stop renewing")
  await look(page, "stop")
  await press(page, "Back")
  await press(page, "Release")
  await look(page, "release")
  await press(page, "Back")
  await press(page, "Transfer")
  await look(page, "transfer")
  await fill(page, { address: NO_OWNER })
  await press(page, "Go on to confirm")
  await look(page, "transferConfirm")
  await confirmed(page, "Transfer it", "The transfer is sent")
  await mine(1)
  await open("names")
  assert.include(await mainText(page), "Former names")
  await look(page, "former")

  // The others die while the wallet is locked, and the desk says so until the owner knows.
  await rpc("walletlock")
  for (let block = 0; !(await mainText(page)).includes("in danger"); block++) {
    assert.isBelow(block, 40)
    await mine(1)
    await open("names")
  }
  assert.include(await mainText(page), "locked")
  await look(page, "danger")
  await press(page, "I know")
  assert.notInclude(await mainText(page), "in danger")
  await look(page, "known")

  await open("confirm?id=unknown")
  await look(page, "unknown")
  // A second wallet, and the way back to the first.
  await press(page, "Choose another wallet", "header")
  await fill(page, { wallet: "savings" })
  await press(page, "Create it")
  await press(page, "Choose another wallet", "header")
  await look(page, "choose")
  await page.click("[name=wallet][value=main]")
  await press(page, "Use it")
  assert.include(await mainText(page), "Former names")

  assert.deepStrictEqual(faults.filter((fault) => !/\b40[0-9]\b/.test(fault)), [])
  assert.deepStrictEqual(requests.filter((url) => !url.startsWith("data:") && !url.startsWith(`${origin}/`)), [])
}

it.scopedLive.skipIf(chromium === undefined)(
  "a new user makes a wallet, checks its words, and registers, changes, renews and transfers a name",
  () =>
    Effect.gen(function*() {
      const began = performance.now()
      const command = yield* installed
      const directory = yield* temporaryDirectory
      const flags = ["-nowallet", "-webwallet", `-rpcuser=${USER}`, `-rpcpassword=${PASSWORD}`]
      const node = yield* startNodeBy(command("svcd"), directory, ...flags)
      yield* node.ready
      const browser = yield* openBrowser(chromium ?? assert.fail())
      const ready = performance.now()
      const wordsOf = async (wallet: string): Promise<ReadonlyArray<string>> => {
        const place = ["-network", "regtest", "-datadir", directory, "--wallet", wallet]
        const shown = [...command("svcd-wallet"), "export", "--phrase", "--yes", "--password", PASSPHRASE, ...place]
        const { code, stderr, stdout } = await Effect.runPromise(runCommand(...shown))
        assert.strictEqual(code, 0, stderr)
        return stdout.trim().split(" ")
      }
      const folder = yield* temporaryDirectory
      yield* Effect.promise(() => walk({ browser, folder, node, wordsOf }))
      const end = performance.now()
      yield* Effect.sync(() =>
        console.log(
          `the walk of a new user ${
            ARCHIVE === undefined ? "with the build" : "with the archive"
          }: ${looked.length} pages in ${LOOKS.length} looks, ${seconds(ready - began)} to install and start, ${
            seconds(end - ready)
          } to walk`
        )
      )
    }),
  600_000
)
