import { JsonObject } from "../rpc/json/json.ts"
import { parseJson } from "../rpc/json/readJson.ts"

/** Arrays and objects within each other that are still indented. */
const MAX_DEPTH = 24

/** Characters of a text that is indented; the rules allow a value some thousand. */
const MAX_LENGTH = 16_384

const INDENT = "  "

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs

/** Puts every member and item on a line of its own. The tokens stay as they were written. */
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
 * A JSON object or array as people read it: indented, and otherwise exactly as it was written, numbers, escapes and
 * repeated members included. `undefined` for a text that is neither, or is too long or too deep.
 */
export const indentedJson = (text: string): string | undefined => {
  if (text.length > MAX_LENGTH) return undefined
  const json = parseJson(text)
  return json instanceof JsonObject || Array.isArray(json) ? indent(text) : undefined
}
