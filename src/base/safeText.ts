import { orNothing } from "../protocol/orNothing.ts"

/** Text without unsafe characters. Most texts are, and short-lived programs then need no other pattern. */
const PLAIN = /^[ -~]*$/

let unsafe: RegExp | undefined

/**
 * Characters that could move the cursor, end a line, turn the writing direction or hide: controls (C0, DEL, C1), format
 * characters (bidirectional overrides, zero-width ones), line and paragraph separators, lone surrogates.
 */
const unsafePattern = (): RegExp => unsafe ??= /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

const escaped = (character: string): string => {
  let text = ""
  for (let at = 0; at < character.length; at++) {
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`
  }
  return text
}

/** Unsafe characters become `\uXXXX`, so that the text stays on one line. Unindented JSON keeps its meaning. */
export const escapeUnsafe = (text: string): string => PLAIN.test(text) ? text : text.replace(unsafePattern(), escaped)

const PLAIN_LINES = /^[\t\n -~]*$/

/** As `escapeUnsafe`, but line ends and tabs stay. Indented JSON keeps its meaning: its strings escape both. */
export const escapeLines = (text: string): string =>
  PLAIN_LINES.test(text)
    ? text
    : text.replace(unsafePattern(), (found) => found === "\n" || found === "\t" ? found : escaped(found))

/** Colours, and redrawing a screen. */
const SEQUENCES = /(\u001b\[(?:[\d;]*m|H|2?J))/

/** All output of programs passes here. Their control sequences stay; external text was escaped before. */
export const outputText = (text: string): string =>
  text.includes("\u001b[")
    ? text.split(SEQUENCES).map((part, at) => at % 2 === 0 ? escapeLines(part) : part).join("")
    : escapeLines(text)

const LONGEST_QUOTE = 100

export const quoted = (text: string): string =>
  escapeUnsafe(JSON.stringify(text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text))

/** A path for a message: escaped, but complete and without quotes, so that it can be copied. */
export const shownPath = (path: string): string => escapeUnsafe(path)

export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`

/** A part of a URL; `undefined` for a lone per cent sign. */
export const percentDecoded = (part: string): string | undefined => orNothing(() => decodeURIComponent(part))
