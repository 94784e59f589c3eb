import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { escape, html, type Part } from "../../src/web/html.ts"

/** Reads escaped text as a browser does. */
const unescape = (text: string): string =>
  text.replaceAll(
    /&(amp|lt|gt|quot|#39|#96);/g,
    (whole) =>
      ({ "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'", "&#96;": "`" })[whole] ?? assert.fail()
  )

/** Text with many characters that are special in HTML. */
const nasty = FastCheck.array(
  FastCheck.oneof(
    FastCheck.fullUnicodeString({ maxLength: 5 }),
    FastCheck.constantFrom("<", ">", "\"", "'", "`", "&", "&lt;", "</p>", "-->", "<script>", "\" onload=\"", "\u0000")
  ),
  { maxLength: 12 }
).map((parts) => parts.join(""))

describe("html", () => {
  it.prop("keeps text inside its place", [nasty, nasty], ([inner, attribute]) => {
    const { text } = html`<p title="${attribute}">${inner}</p>`
    const read = /^<p title="([^"<>'`]*)">([^"<>'`]*)<\/p>$/.exec(text)
    assert.isNotNull(read, text)
    assert.strictEqual(unescape(read?.[1] ?? ""), attribute)
    assert.strictEqual(unescape(read?.[2] ?? ""), inner)
  })

  it.prop("lets no text become another entity", [nasty], ([text]) => {
    assert.strictEqual(unescape(escape(text)), text)
    assert.notMatch(escape(text), /&(?!(?:amp|lt|gt|quot|#39|#96);)/)
  })

  it("inserts markup, numbers and lists unchanged, and nothing for missing values", () => {
    const inner = html`<b>${1}</b>`
    assert.strictEqual(html`<p>${[inner, "<", undefined, false, [2, inner]]}</p>`.text, "<p><b>1</b>&lt;2<b>1</b></p>")
  })

  it("escapes text that looks like markup", () => {
    const forged: unknown = { text: "<b>" }
    assert.throws(() => html`<p>${forged as Part}</p>`)
  })

  it.each<[string, () => unknown]>([
    ["an attribute without quotes", () => html`<a title=${"x"}>y</a>`],
    ["an attribute in single quotes", () => html`<a title='${"x"}'>y</a>`],
    ["the name of an attribute", () => html`<a ${"x"}="y">y</a>`],
    ["the name of an element", () => html`<${"x"}>y`],
    ["a handler", () => html`<a onclick="${"x"}">y</a>`],
    ["a style", () => html`<a style="${"x"}">y</a>`],
    ["a style in capitals", () => html`<a STYLE="${"x"}">y</a>`],
    ["a script", () => html`<script>${"x"}</script>`],
    ["a comment", () => html`<!-- ${"x"} -->`],
    ["a part of an address", () => html`<a href="./?a=${"x"}">y</a>`],
    ["an element that is not closed", () => html`<a title="${"x"}"`],
    ["markup in an attribute", () => html`<a title="${html`<b>x</b>`}">y</a>`],
    ["a list in an attribute", () => html`<a title="${["x"]}">y</a>`]
  ])("refuses %s", (_, make) => {
    assert.throws(make, TypeError, "template of HTML")
  })

  it.each(["javascript:alert(1)", "//host/", "https://host/", "/\\host", "", " ?a", "data:text/html,x"])(
    "refuses the address %j",
    (address) => {
      assert.throws(() => html`<a href="${address}">y</a>`, TypeError, "leads away")
      assert.throws(() => html`<form action="${address}"></form>`, TypeError, "leads away")
    }
  )

  it("accepts addresses of the page itself, and escapes them", () => {
    assert.strictEqual(html`<a href="${"?a=1&b=\"2\""}">y</a>`.text, "<a href=\"?a=1&amp;b=&quot;2&quot;\">y</a>")
    assert.strictEqual(html`<a href="${"./"}">y</a>`.text, "<a href=\"./\">y</a>")
  })
})
