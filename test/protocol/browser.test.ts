import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type BuildOptions, buildSync } from "esbuild"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import * as protocol from "svcd/protocol"
import { toHex } from "../../src/protocol/bytes.ts"
import { lint } from "../../src/values/lint.ts"
import { readRecords } from "../support/chainFixture.ts"
import { fixtureBytes, fixtureJson } from "../support/fixtures.ts"
import { chromium, openBrowser, watched } from "../web/browser.ts"
import { type BlockRead, readChain } from "./chainReader.ts"

/** `svcd/protocol` and `svcd/values` of the build in a bundle for browsers, as a program has them. */
const bundled = (options: BuildOptions): Uint8Array => {
  const { outputFiles } = buildSync({
    bundle: true,
    logLevel: "silent",
    minify: true,
    platform: "browser",
    // Without the paths of tsconfig.json the package is what its `exports` say.
    tsconfigRaw: "{}",
    ...options,
    write: false
  })
  return outputFiles?.[0]?.contents ?? assert.fail("no bundle")
}

/** Bytes of one gzipped codec: a bar of the package. */
const MOST_OF_A_CODEC = 60_000

const ROOT = fileURLToPath(new URL("../..", import.meta.url))

/** Enough for every kind of script and name operation, merge-mined and plain blocks. */
const BLOCKS = 200

describe("in a browser", () => {
  it.each(Object.keys(protocol))("%s alone is small", (name) => {
    const contents = `export { ${name} } from "svcd/protocol"`
    const bundle = bundled({ stdin: { contents, resolveDir: ROOT }, format: "esm" })
    assert.isAtMost(gzipSync(bundle).length, MOST_OF_A_CODEC)
  })

  it.scopedLive.skipIf(chromium === undefined)(
    chromium === undefined
      ? "is skipped: there is no Chromium to read the chain of the fixtures in"
      : "reads and verifies the chain of the fixtures as Node.js does, and lints its values",
    () =>
      Effect.gen(function*() {
        const chain = readRecords(fixtureBytes("regtest-names/blocks.dat")).slice(0, BLOCKS).map(toHex)
        const program = Buffer.from(bundled({
          entryPoints: [fileURLToPath(new URL("chainReader.ts", import.meta.url))],
          format: "iife",
          globalName: "svcd"
        })).toString("utf8")
        const opened = yield* openBrowser(chromium ?? assert.fail())
        yield* Effect.promise(async () => {
          const { faults, page } = await watched(opened, 1_280)
          await page.evaluate(program)
          const asked = async <A>(call: string): Promise<A> =>
            JSON.parse(String(await page.evaluate(`JSON.stringify(svcd.${call})`)))

          const read = await asked<ReadonlyArray<BlockRead>>(`readChain(${JSON.stringify(chain)})`)
          assert.deepStrictEqual(read, readChain(chain))
          assert.isTrue(read.every(({ isSameAgain }) => isSameAgain))
          const expected = fixtureJson<{ readonly blocks: ReadonlyArray<{ readonly hash: string }> }>(
            "regtest-names/expected.json"
          )
          assert.deepStrictEqual(read.map(({ hash }) => hash), expected.blocks.slice(0, BLOCKS).map(({ hash }) => hash))
          const sum = (key: "inputs" | "names") => read.reduce((sum, block) => sum + block[key], 0)
          assert.deepStrictEqual(
            [sum("inputs"), sum("names")],
            [649, 200],
            "all inputs are valid, and all name scripts are known"
          )
          const value = "{\"ip\":\"192.0.2.300\"}"
          const found = await asked<unknown>(`lint("d/example", ${JSON.stringify(value)})`)
          assert.deepStrictEqual(found, JSON.parse(JSON.stringify(lint("d/example", value))))
          assert.deepStrictEqual(faults, [])
        })
      })
  )
})
