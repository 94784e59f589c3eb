import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))

const SPAN = /svcd\.[a-z]+\.[A-Za-z<>]+/g

const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => readFileSync(join(ROOT, "src", file), "utf8"))

/** The names of spans in the source; that of an RPC call ends with its method. */
const inSource = sources.flatMap((text) =>
  Array.from(
    text.replaceAll("${method.name}", "<method>").matchAll(/["`](svcd\.[a-z]+\.[A-Za-z<>]+)["`]/g),
    ([, name = ""]) => name
  )
)

/** The first cells of the table. */
const inDocs = readFileSync(join(ROOT, "docs/tracing.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| `svcd."))
  .flatMap((line) => Array.from((line.split("|")[1] ?? "").matchAll(SPAN), ([name]) => name))

describe("docs/tracing.md", () => {
  it("has a row for each span of the source, and for no other", () => {
    assert.isAbove(inDocs.length, 40)
    assert.deepStrictEqual(inDocs.toSorted(), [...new Set(inSource)].toSorted())
  })

  it("gives each span one row, and one place in the source", () => {
    assert.strictEqual(new Set(inDocs).size, inDocs.length)
    assert.strictEqual(new Set(inSource).size, inSource.length)
  })

  it("shows each span by the name that the source uses: every span has one of svcd", () => {
    const spans = sources.flatMap((text) =>
      Array.from(
        text.matchAll(/\b(?:withSpan|withLoneSpan|withTracedSpan|useSpan|Effect\.fn)\(\s*["`]([^"`]*)/g),
        ([, name = ""]) => name
      )
    )
    assert.isAbove(spans.length, 40)
    assert.deepStrictEqual(spans.filter((name) => !name.startsWith("svcd.")), [])
  })
})
