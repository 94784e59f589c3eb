import { type Bytes, toHex } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"
import { count, counted } from "./format.ts"
import { type Html, html } from "./html.ts"
import { indentedJson } from "./jsonText.ts"
import { firstOf, visible } from "./visible.ts"

/** The values of names: arbitrary bytes that any payer can put into the chain. */

/** Characters of a value that are shown at first, and on request. */
const SHOWN = 4_000
const SHOWN_IN_FULL = 65_536

/** Characters of a value in a list, and behind "more" there. */
const LISTED = 60
const LISTED_IN_FULL = 2_000

/** Hexadecimal in groups of four bytes, between which lines can break. */
const hexGroups = (bytes: Bytes): string => toHex(bytes).replaceAll(/.{8}(?=.)/g, "$& ")

/** The kind of a value, and its text for display. */
const read = (value: Bytes): { readonly kind: string; readonly text: string } => {
  const text = encodeText(value, "utf8")
  if (text === undefined) return { kind: "not text, in hexadecimal", text: hexGroups(value.subarray(0, SHOWN_IN_FULL)) }
  const json = indentedJson(text)
  return json === undefined ? { kind: "text", text } : { kind: "JSON", text: json }
}

/** The value on the page of its name. `fullLink` is the page that shows all of it. */
export const valueView = (value: Bytes, full: boolean, fullLink: string): Html => {
  if (value.length === 0) return html`<p class="empty">The value is empty.</p>`
  const { kind, text } = read(value)
  const limit = full ? SHOWN_IN_FULL : SHOWN
  const shown = firstOf(text, limit)
  return html`<pre class="value" tabindex="0" aria-label="Value">${visible(shown, true)}${shown !== text && "…"}</pre>
<p class="muted">${counted(value.length, "byte")}, ${kind}${
    shown !== text && (full
      ? html`; the first ${count(limit)} characters. <code>name_show</code> returns the rest.`
      : html`. <a href="${fullLink}">Show all of it</a>`)
  }</p>`
}

/** The value in a row of a list: one line, and more on request. `key` identifies the row. */
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
