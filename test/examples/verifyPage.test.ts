import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { buildSync } from "esbuild"
import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import { extname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { fixtureJson, hasShared } from "../support/fixtures.ts"
import { checkBitcoinProof, type ValueProofEntry } from "../verify/bitcoinProof.ts"
import { assertAccessible, chromium, openBrowser, watched } from "../web/browser.ts"

/**
 * examples/verify.html in a browser, with the library of the build. With a folder in SVCD_PACKED, with the package that is installed
 * there.
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url))

const packed = process.env["SVCD_PACKED"]

const PACKAGE = packed === undefined ? ROOT : join(packed, "node_modules/svcd")
const MODULES = join(packed ?? ROOT, "node_modules")

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json"
}

/** The file behind a path, as in a folder where a reader copied the page beside node_modules. */
const fileAt = (path: string): string => {
  const { pathname } = new URL(path, "http://localhost")
  const clean = normalize(pathname)
  const ofPackage = /^\/node_modules\/svcd\/(.*)$/.exec(clean)?.[1]
  if (ofPackage !== undefined) return join(PACKAGE, ofPackage)
  const ofModules = /^\/node_modules\/(.*)$/.exec(clean)?.[1]
  return ofModules === undefined ? join(PACKAGE, "examples", clean) : join(MODULES, ofModules)
}

const serve = Effect.acquireRelease(
  Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer((request, response) => {
      const file = fileAt(request.url ?? "/")
      readFile(file).then(
        (text) => response.setHeader("Content-Type", TYPES[extname(file)] ?? "text/plain").end(text),
        () => response.writeHead(404).end()
      )
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ port, close: () => server.closeAllConnections() ?? server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

/** The terms of the result with what they say. */
const RESULT =
  "Object.fromEntries([...document.querySelectorAll('#result dt')].map((dt) => [dt.innerText, dt.nextElementSibling.innerText]))"

const bundleOf = (contents: string): Uint8Array => {
  const { outputFiles } = buildSync({
    bundle: true,
    format: "iife",
    globalName: "found",
    // Outside of node_modules, esbuild warns of every file that it leaves out.
    logLevel: "silent",
    minify: true,
    platform: "browser",
    stdin: { contents, resolveDir: ROOT, loader: "ts" },
    tsconfigRaw: "{}",
    write: false
  })
  return outputFiles[0]?.contents ?? assert.fail("no bundle")
}

describe("svcd/verify in a browser", () => {
  it("is small in a bundle of an application", () => {
    const library = (entry: string) => JSON.stringify(join(PACKAGE, `build/verify/${entry}.js`))
    const alone = bundleOf(`export { verifyNameProof } from ${library("verify")}`)
    assert.isAtMost(gzipSync(alone).length, 16_000)
    const signed = bundleOf(
      `export { verifyNameProof } from ${library("verify")}; export { signatures } from ${library("verify/signatures")}`
    )
    assert.isAtMost(gzipSync(signed).length, 42_000)
  })

  it.scopedLive.skipIf(chromium === undefined)(
    "checks a proof on the example page, and says what a server can still do",
    () =>
      Effect.gen(function*() {
        const { port } = yield* serve
        const browser = yield* openBrowser(chromium ?? assert.fail())
        yield* Effect.promise(async () => {
          const { faults, page, requests } = await watched(browser, 1_280)
          await page.goto(`http://127.0.0.1:${port}/verify.html`)
          await page.waitForSelector("#result dd")
          assert.deepStrictEqual(await page.evaluate(RESULT), {
            "Name": "d/calm",
            "Value": "RESERVED",
            "Owner": "Mvkbvcrwr3H5vbudWB6Xeg82t5zZgYzeih",
            "Proof": "buried",
            "Height": "210000",
            "Confirmations": "1",
            "Expires in": "36000 blocks",
            "Note": "The server claims a height that no coinbase in the proof confirms."
          })
          await page.evaluate(
            "document.getElementById('time').value = ''; document.querySelector('#paste button').click()"
          )
          assert.deepStrictEqual(await page.evaluate(RESULT), { "Does not count": "the proof is older than a day" })
          assert.include(String(await page.evaluate("document.body.innerText")), "Hide a newer operation")
          await assertAccessible(page, { what: "the example page" })
          assert.deepStrictEqual(faults, [])
          assert.isEmpty(
            requests.filter((url) => !url.startsWith(`http://127.0.0.1:${port}/`) && !url.startsWith("data:"))
          )
        })
      })
  )

  it.scopedLive.skipIf(chromium === undefined || !hasShared)(
    "finds the signatures of d/bitcoin valid, as Node.js does",
    () =>
      Effect.gen(function*() {
        const { result } = fixtureJson<{ readonly result: Readonly<Record<string, ReadonlyArray<ValueProofEntry>>> }>(
          "namecoin-mainnet/name-proofs/electrum_value_proof_d_bitcoin_mainnet.json"
        )
        const [entries = []] = Object.values(result)
        const program = Buffer.from(bundleOf("export { checkBitcoinProof } from \"./test/verify/bitcoinProof.ts\""))
          .toString()
        const browser = yield* openBrowser(chromium ?? assert.fail())
        yield* Effect.promise(async () => {
          const { faults, page } = await watched(browser, 1_280)
          await page.evaluate(program.replace("var found", "window.found"))
          const found = await page.evaluate(`JSON.stringify(found.checkBitcoinProof(${JSON.stringify(entries)}))`)
          assert.deepStrictEqual(JSON.parse(String(found)), checkBitcoinProof(entries))
          assert.deepStrictEqual(faults, [])
        })
      })
  )
})
