import type { NameQuery } from "../names/NameDb.ts"
import { decodeAddress, scriptOf } from "../protocol/address.ts"
import type { Network } from "../protocol/networks.ts"
import { foldedText, itemSearch, SHORTEST_TEXT } from "../values/searchable.ts"

/** The search that a text in the search field asks for. */

export interface FieldQuery {
  readonly query: NameQuery
  /** Whether the text can only be a search, and not also a name. */
  readonly certain: boolean
}

/**
 * `ip:192.0.2.1` and the other keys of values, `owner:` with an address, `text:` with any text; otherwise the text
 * itself. `undefined` for a text that is too short.
 */
export const queryMeant = (text: string, network: Network): FieldQuery | undefined => {
  const typed = text.trim()
  const { by, rest = "" } = itemSearch(typed) ?? {}
  if (by !== undefined && by !== "owner" && by !== "text") {
    return { query: { key: by, value: rest === "" ? undefined : rest }, certain: true }
  }
  if (by === "owner") {
    const parsed = decodeAddress(network, rest)
    if (!("error" in parsed)) return { query: { owner: scriptOf(parsed.destination) }, certain: true }
  }
  const part = by === "text" ? rest : typed
  return Array.from(foldedText(part)).length < SHORTEST_TEXT
    ? undefined
    : { query: { text: part }, certain: by === "text" }
}
