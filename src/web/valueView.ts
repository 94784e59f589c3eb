import { grouped, quantityOf } from "../base/quantities.ts"
import { type Bytes, toHex } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"
import { JsonObject } from "../rpc/json/json.ts"
import { parseJson } from "../rpc/json/readJson.ts"
import { type Html, html } from "./html.ts"
import { firstOf, visible } from "./visible.ts"

/** Maximum depth of indented arrays and objects. */
const MAX_DEPTH = 24

/** In characters; the rules allow a value some thousand. */
const MAX_LENGTH = 16_384

const INDENT = "  "

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs

/** One member or item per line, with unchanged tokens. */
const indent = (text: string): string | undefined => {
  const tokens = text.match(TOKENS) ?? []
  let out = ""
  let depth = 0
  for (const [at, token] of tokens.entries()) {
    const opens = token === "{" || token === "["
    const closes = token === "}" || token === "]"
    const before = tokens[at - 1] ?? ""
    const isFirst = before === "{" || before === "["
    if (closes) depth--
    if (closes ? !isFirst : isFirst || before === ",") out += `\n${INDENT.repeat(depth)}`
    if (opens && ++depth > MAX_DEPTH) return undefined
    out += token === ":" ? ": " : token
  }
  return out
}

/** With unchanged numbers, escapes and repeated members; `undefined` for other texts, too long or too deep ones. */
export const indentedJson = (text: string): string | undefined => {
  if (text.length > MAX_LENGTH) return undefined
  const json = parseJson(text)
  return json instanceof JsonObject || Array.isArray(json) ? indent(text) : undefined
}

/** Arbitrary bytes that any payer can put into the chain. */

/** Characters shown at first, and on request. */
const SHOWN = 4_000
const SHOWN_IN_FULL = 65_536

/** Characters in a list, and after "more" there. */
const LISTED = 60
const LISTED_IN_FULL = 2_000

/** In breakable groups of four bytes. */
const hexGroups = (bytes: Bytes): string => toHex(bytes).replaceAll(/.{8}(?=.)/g, "$& ")

const read = (value: Bytes): { readonly kind: string; readonly text: string } => {
  const text = encodeText(value, "utf8")
  if (text === undefined) return { kind: "not text, in hexadecimal", text: hexGroups(value.subarray(0, SHOWN_IN_FULL)) }
  const json = indentedJson(text)
  return json === undefined ? { kind: "text", text } : { kind: "JSON", text: json }
}

/** `fullLink` is the page with the full value. */
export const valueView = (value: Bytes, full: boolean, fullLink: string): Html => {
  if (value.length === 0) return html`<p class="empty">The value is empty.</p>`
  const { kind, text } = read(value)
  const limit = full ? SHOWN_IN_FULL : SHOWN
  const shown = firstOf(text, limit)
  return html`<pre class="value" tabindex="0" aria-label="Value">${visible(shown, true)}${shown !== text && "…"}</pre>
<p class="muted">${quantityOf(value.length, "byte")}, ${kind}${
    shown !== text && (full
      ? html`; the first ${grouped(limit)} characters. <code>name_show</code> returns the rest.`
      : html`. <a href="${fullLink}">Show all of it</a>`)
  }</p>`
}

/** One line, and more on request. `key` identifies the row. */
export const listedValue = (value: Bytes, key: string): Html => {
  if (value.length === 0) return html`<span class="muted">empty</span>`
  const text = encodeText(value, "utf8") ?? `0x${toHex(value.subarray(0, LISTED_IN_FULL / 2))}`
  const start = firstOf(text, LISTED)
  if (start === text) return html`<code class="break">${visible(text)}</code>`
  const more = firstOf(text, LISTED_IN_FULL)
  const cut = more !== text || 2 * value.length > LISTED_IN_FULL && encodeText(value, "utf8") === undefined
  return html`<details data-key="${key}"><summary><code class="break">${
    visible(start)
  }…</code></summary><pre class="value">${visible(more, true)}${cut && "…"}</pre></details>`
}

/** Characters of a value among many names. */
const LISTED_SHORT = 100

export const shortValue = (value: Bytes): Html => {
  if (value.length === 0) return html`<span class="muted">empty</span>`
  const text = encodeText(value, "utf8")?.replaceAll(/[\n\t ]+/g, " ").trim() ??
    `0x${toHex(value.subarray(0, LISTED_SHORT))}`
  const start = firstOf(text, LISTED_SHORT)
  return html`<code class="break">${visible(start)}${start !== text && "…"}</code>`
}
