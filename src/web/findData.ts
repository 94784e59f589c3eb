import type { NameQuery } from "../names/NameDb.ts"
import { decodeAddress, scriptOf } from "../protocol/address.ts"
import type { Network } from "../protocol/networks.ts"
import { foldedText, SEARCH_KEYS, SHORTEST_TEXT } from "../values/searchable.ts"

/** The search that a text in the search field asks for. */

export interface FieldQuery {
  readonly query: NameQuery
  /** Whether the text can only be a search, and not also a name. */
  readonly certain: boolean
}

const PREFIXED = /^([a-z0-9]+):\s*(.*)$/s

/**
 * `ip:192.0.2.1` and the other keys of values, `owner:` with an address, `text:` with any text; otherwise the text
 * itself. `undefined` for a text that is too short.
 */
export const queryMeant = (text: string, network: Network): FieldQuery | undefined => {
  const typed = text.trim()
  const [, word, rest = ""] = PREFIXED.exec(typed) ?? []
  const key = SEARCH_KEYS.find((each) => each === word)
  if (key !== undefined) return { query: { key, value: rest === "" ? undefined : rest }, certain: true }
  if (word === "owner") {
    const parsed = decodeAddress(network, rest)
    if (!("error" in parsed)) return { query: { owner: scriptOf(parsed.destination) }, certain: true }
  }
  const part = word === "text" ? rest : typed
  return Array.from(foldedText(part)).length < SHORTEST_TEXT
    ? undefined
    : { query: { text: part }, certain: word === "text" }
}
