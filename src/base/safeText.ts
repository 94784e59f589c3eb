/** Text of which no character is unsafe. Most texts are such, and programs that run for a moment make no other pattern. */
const PLAIN = /^[ -~]*$/

let unsafe: RegExp | undefined

/**
 * Characters that could move the cursor, end a line, turn the writing direction or hide: controls (C0, DEL, C1),
 * format characters (bidirectional overrides, zero-width ones), line and paragraph separators, lone surrogates.
 */
const unsafePattern = (): RegExp => unsafe ??= /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

const escaped = (character: string): string => {
  let text = ""
  for (let at = 0; at < character.length; at++) {
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`
  }
  return text
}

/**
 * Returns the text with every unsafe character as `\uXXXX`, so that it stays on one line. JSON keeps its meaning:
 * outside its strings, JSON without indentation has no such character.
 */
export const escapeUnsafe = (text: string): string => PLAIN.test(text) ? text : text.replace(unsafePattern(), escaped)

const PLAIN_LINES = /^[\t\n -~]*$/

/**
 * The same for a text of several lines: line ends and tabs stay. JSON with indentation keeps its meaning, since its
 * strings have both as escapes already.
 */
export const escapeLines = (text: string): string =>
  PLAIN_LINES.test(text)
    ? text
    : text.replace(unsafePattern(), (found) => found === "\n" || found === "\t" ? found : escaped(found))

/** Colours, and what draws a screen again. */
const SEQUENCES = /(\u001b\[(?:[\d;]*m|H|2?J))/

/**
 * What a program may write, whatever it was told by others: every text that leaves a program passes through here. The
 * sequences that programs themselves use stay; where a line is made of the words of others, `escapeUnsafe` or
 * `escapeLines` has removed these before.
 */
export const outputText = (text: string): string =>
  text.includes("\u001b[")
    ? text.split(SEQUENCES).map((part, at) => at % 2 === 0 ? escapeLines(part) : part).join("")
    : escapeLines(text)

const LONGEST_QUOTE = 100

/** Returns external text for use in a message: quoted, escaped, and cut to the longest length. */
export const quoted = (text: string): string =>
  escapeUnsafe(JSON.stringify(text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text))

/** Returns a path for use in a message: escaped, but complete and without quotes, so that it can be copied. */
export const shownPath = (path: string): string => escapeUnsafe(path)

/** Quotes a word so that a POSIX shell passes it on unchanged. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
