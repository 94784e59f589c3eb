import { JsonObject } from "../rpc/json/json.ts"
import { parseJson } from "../rpc/json/readJson.ts"

/** Depth of nested arrays and objects that are still indented. */
const MAX_DEPTH = 24

/** Longest text that is indented, in characters; the rules allow a value some thousand. */
const MAX_LENGTH = 16_384

const INDENT = "  "

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs

/** Puts every member and item on a line of its own. The tokens stay unchanged. */
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

/**
 * Formats a JSON object or array: indented, and otherwise unchanged, with its numbers, escapes and repeated members.
 * `undefined` for any other text, or one that is too long or too deep.
 */
export const indentedJson = (text: string): string | undefined => {
  if (text.length > MAX_LENGTH) return undefined
  const json = parseJson(text)
  return json instanceof JsonObject || Array.isArray(json) ? indent(text) : undefined
}
