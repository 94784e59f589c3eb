import { type Bytes } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"
import { type DomainLevel, levelOfValue } from "./domainLevel.ts"
import { canonicalIpv6 } from "./hosts.ts"
import type { Located } from "./locatedJson.ts"

/** The searchable parts of a name: its text, that of its value, and some items. */

/** Indexed items of values, at any depth of `map`. */
export const SEARCH_KEYS = ["ip", "ip6", "ns", "email", "nostr", "tor"] as const

export type SearchKey = (typeof SEARCH_KEYS)[number]

export interface SearchPair {
  readonly key: SearchKey
  readonly value: string
}

/** Maximum length of a searched value in bytes. Only a coinbase can set a longer one. */
const MOST_BYTES = 1_024

/** Maximum number of pairs per name, and of characters per pair. */
const MOST_PAIRS = 64
const LONGEST = 256

/** Folds case. Final sigma becomes sigma, so that a word matches inside a longer text. */
export const foldedText = (text: string): string => text.toLowerCase().replaceAll("\u03c2", "\u03c3")

/** The name and the value, each if it is UTF-8. */
export const searchTexts = (name: Bytes, value: Bytes): readonly [name: string, value: string] => [
  foldedText(encodeText(name, "utf8") ?? ""),
  foldedText(encodeText(value.subarray(0, MOST_BYTES), "utf8") ?? "")
]

/** The stored and compared form. */
export const searchValue = ({ key, value }: SearchPair): string => {
  const lower = value.trim().toLowerCase()
  if (key === "ip6") return canonicalIpv6(lower) ?? lower
  return key === "ns" || key === "tor" ? lower.replace(/\.$/, "") : lower
}

const PREFIXED = /^([a-z0-9]+):\s*(.*)$/s

/** A search by one item: its word, and the text after the colon. */
export interface ItemSearch {
  readonly by: SearchKey | "owner" | "text"
  readonly rest: string
}

/**
 * Reads `ip:192.0.2.1` and the other keys of values, `owner:ADDRESS` and `text:TEXT`; `undefined` for any other text.
 */
export const itemSearch = (text: string): ItemSearch | undefined => {
  const [, word, rest = ""] = PREFIXED.exec(text.trim()) ?? []
  const by = ([...SEARCH_KEYS, "owner", "text"] as const).find((each) => each === word)
  return by === undefined ? undefined : { by, rest }
}

/** The item itself, the elements of a list, or the values of an object such as `nostr.names`. */
function* textsIn(part: Located | undefined): Iterable<string> {
  if (part?.kind === "text") yield part.text
  else if (part?.kind === "array") { for (const item of part.items) yield* textsIn(item) }
  else if (part?.kind === "object") {
    for (const { key, value } of part.members) if (key !== "relays") yield* textsIn(value)
  }
}

function* pairsIn({ below, items }: DomainLevel, label = ""): Iterable<SearchPair> {
  for (const key of SEARCH_KEYS) for (const value of textsIn(items.get(key))) yield { key, value }
  if (label === "_tor") { for (const value of textsIn(items.get("txt"))) yield { key: "tor", value } }
  for (const [label, level] of below) if (level !== null) yield* pairsIn(level, label)
}

/** Each pair once. */
export const searchPairs = (value: Bytes): ReadonlyArray<SearchPair> => {
  const level = value.length > MOST_BYTES ? undefined : levelOfValue(value)
  if (level === undefined) return []
  const found = new Map<string, SearchPair>()
  for (const pair of pairsIn(level)) {
    const canonical = searchValue(pair)
    if (canonical === "" || canonical.length > LONGEST) continue
    found.set(`${pair.key} ${canonical}`, { key: pair.key, value: canonical })
    if (found.size === MOST_PAIRS) break
  }
  return [...found.values()]
}

/** Maximum number of indexed imports, more than a domain reads. */
const MOST_IMPORTS = 256

/** The index key of an imported name. A lookup may return false matches but misses no importer. */
export const importedKey = (name: string): string => name.trim().toLowerCase()

function* importsIn({ asks, below, items }: DomainLevel): Iterable<string> {
  if (!asks) return
  yield* textsIn(items.get("import"))
  yield* textsIn(items.get("delegate"))
  for (const level of below.values()) if (level !== null) yield* importsIn(level)
}

/** The names that a value imports or delegates to, each once, as `importedKey`. */
export const importedNames = (value: Bytes): ReadonlyArray<string> => {
  const level = levelOfValue(value)
  const found = new Set<string>()
  for (const text of level === undefined ? [] : importsIn(level)) {
    if (text.length <= LONGEST) found.add(importedKey(text))
    if (found.size === MOST_IMPORTS) break
  }
  return [...found]
}

/** In characters. */
export const SHORTEST_TEXT = 3

/** Maximum number of groups of three characters in a search of the index. The text itself is compared afterwards. */
const MOST_GROUPS = 6

/** Some groups of three characters of a folded text, spread over it. */
export const textGroups = (folded: string): ReadonlyArray<string> => {
  const characters = Array.from(folded)
  const all = characters.slice(SHORTEST_TEXT - 1).map((_, at) => characters.slice(at, at + SHORTEST_TEXT).join(""))
  const each = [...new Set(all)]
  if (each.length <= MOST_GROUPS) return each
  return Array.from(
    { length: MOST_GROUPS },
    (_, at) => each[Math.round((at * (each.length - 1)) / (MOST_GROUPS - 1))] ?? ""
  )
}
