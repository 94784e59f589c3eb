import { unicodeDomain } from "../base/unicodeDomain.ts"
import { type Bytes, toHex } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"
import { type Html, html, type Part } from "./html.ts"

/** Makes foreign bytes safe to show: spells out what is invisible or changes the surrounding text. */

/**
 * Control, format, unassigned, private and default ignorable characters, white space other than the plain space, the
 * blank braille pattern, and marks on one letter from the fourth on.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|[^\S ]|(?<=\p{M}{3})\p{M}/gu

/** White space that a text of several lines may have. */
const LINES = /[\n\t]/

/** Whether a text is shown as it is, so that a reader may copy it. */
export const isVisible = (text: string): boolean => text.search(UNSEEN) === -1

const codePoint = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`

const mark = (label: string): Html => html`<span class="mark">${label}</span>`

/** `lines`: keeps new lines and tabs. */
export const visible = (text: string, lines = false): Html => {
  const parts: Array<Part> = []
  let from = 0
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    if (lines && LINES.test(character)) continue
    parts.push(text.slice(from, index), mark(codePoint(character)))
    from = index + character.length
  }
  parts.push(text.slice(from))
  return html`${parts}`
}

/** Spells out spaces at the ends, too. */
const visibleLine = (text: string): Html => {
  const [, before = "", inner = "", after = ""] = /^( *)(.*?)( *)$/s.exec(text) ?? []
  const spaces = (of: string): ReadonlyArray<Html> => Array.from(of, () => mark("space"))
  return html`${spaces(before)}${visible(inner)}${spaces(after)}`
}

/** Surrogate pairs stay whole. */
export const firstOf = (text: string, count: number): string =>
  text.length <= count ? text : Array.from(text.slice(0, 2 * count)).slice(0, count).join("")

/** Characters of a name in a list. */
const LISTED = 64

/** On its own page: more than the rules allow. */
const WHOLE = 1_024

/** An encoded domain is followed by its own script, if safe to show. The encoded form alone is certain. */
const named = (name: Bytes, limit: number): Html => {
  if (name.length === 0) return html`<i class="muted">(empty name)</i>`
  const text = encodeText(name, "utf8")
  if (text === undefined) {
    const hex = toHex(name.subarray(0, limit / 2))
    return html`<bdi class="name hex">0x${hex}${2 * name.length > limit && "…"}</bdi>`
  }
  const shown = firstOf(text, limit)
  const domain = unicodeDomain(text)
  return shown === text
    ? html`<bdi class="name">${visibleLine(text)}</bdi>${
      domain !== undefined && html` <bdi class="muted">(${visible(domain)})</bdi>`
    }`
    : html`<bdi class="name">${visible(shown)}…</bdi>`
}

/** Text, or hex if it is not UTF-8. */
export const listedName = (name: Bytes): Html => named(name, LISTED)

export const wholeName = (name: Bytes): Html => named(name, WHOLE)

/** Without markup, so invisible characters become a replacement character. */
export const titleName = (name: Bytes): string => {
  const text = encodeText(name, "utf8")
  return text === undefined
    ? `0x${toHex(name.subarray(0, LISTED / 2))}`
    : firstOf(text, LISTED).replaceAll(UNSEEN, "\ufffd")
}
