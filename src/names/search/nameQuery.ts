import { expirationDepth, isExpired } from "../../consensus/expiry.ts"
import { type Bytes, compare, EMPTY, equal, fromHex, toHex } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import {
  foldedText,
  type SearchKey,
  searchPairs,
  searchTexts,
  searchValue,
  SHORTEST_TEXT
} from "../../values/searchable.ts"
import { prefixEnd } from "../nameChanges.ts"
import { firstOperationAt, type NameClock, type NameEntry } from "../NameEntry.ts"

/** A search for names that meet all given conditions. */
export interface NameQuery {
  /** Part of the name or value, case-insensitive, of at least three characters. */
  readonly text?: string | undefined
  /** An item of the value, alone or with its `value`. */
  readonly key?: SearchKey | undefined
  readonly value?: string | undefined
  /** The owner's script, without the name prefix. */
  readonly owner?: Bytes | undefined
  readonly prefix?: Bytes | undefined
  /** Minimum height of the last operation. */
  readonly changedSince?: Height | undefined
  /** Blocks within which the name expires. */
  readonly expiresWithin?: number | undefined
  /** `only`: no living names. */
  readonly includeExpired?: boolean | "only" | undefined
  /** Whether the last change comes first. Reads all names from there on, so it is for queries with many matches. */
  readonly newestFirst?: boolean | undefined
}

/** Maximum characters of a text or value to search for. */
export const LONGEST_QUERY = 500

/** Why a query cannot be answered, if so. */
export const queryFault = ({ key, text, value, ...rest }: NameQuery): string | undefined => {
  if (text !== undefined && Array.from(foldedText(text)).length < SHORTEST_TEXT) {
    return `text must have at least ${SHORTEST_TEXT} characters; name_scan finds shorter ones with regexp`
  }
  if ((text?.length ?? 0) > LONGEST_QUERY || (value?.length ?? 0) > LONGEST_QUERY) {
    return `text and value must have at most ${LONGEST_QUERY} characters`
  }
  if (text?.includes("\0") === true) return "text must not contain the character U+0000"
  if (value !== undefined && key === undefined) return "value needs a key"
  const { changedSince, expiresWithin, newestFirst, owner, prefix } = rest
  if (newestFirst === true && [text, key, owner, expiresWithin].some((given) => given !== undefined)) {
    return "newest first goes with a namespace and changedSince only"
  }
  return [text, key, owner, prefix, changedSince, expiresWithin].every((given) => given === undefined)
    ? "give at least one of text, key, owner, namespace, changedSince and expiresWithin"
    : undefined
}

/** Whether a record meets all conditions. Indexes only narrow down what is read. */
export const queryMatcher = (asked: NameQuery, clock: NameClock): (record: NameEntry) => boolean => {
  const { changedSince = 0, includeExpired = false, key, owner, prefix, text } = asked
  const { oldest, youngest } = heightsOf(asked, clock)
  const folded = text === undefined ? undefined : foldedText(text)
  const value = key === undefined || asked.value === undefined ? undefined : searchValue({ key, value: asked.value })
  const end = prefix === undefined ? undefined : prefixEnd(prefix)
  return (record) =>
    record.height >= changedSince && record.height >= oldest && record.height <= youngest &&
    (includeExpired === true || isExpired(record, clock.tipHeight, clock.params) === (includeExpired === "only")) &&
    (owner === undefined || equal(record.address, owner)) &&
    (prefix === undefined ||
      compare(record.name, prefix) >= 0 && (end === undefined || compare(record.name, end) < 0)) &&
    (folded === undefined || searchTexts(record.name, record.value).some((text) => text.includes(folded))) &&
    (key === undefined ||
      searchPairs(record.value).some((pair) => pair.key === key && (value === undefined || pair.value === value)))
}

/** The heights of last operations for `expiresWithin`. */
const heightsOf = (
  { expiresWithin }: NameQuery,
  { params, tipHeight }: NameClock
): { readonly oldest: Height; readonly youngest: Height } => {
  if (expiresWithin === undefined) return { oldest: 0, youngest: Infinity }
  const depth = expirationDepth(tipHeight, params)
  return { oldest: Math.max(0, tipHeight - depth + 1), youngest: tipHeight - depth + expiresWithin }
}

/** Where a search continues: the index, and the position in it. */
export type SearchState =
  | { readonly by: "pair" | "text" | "operation" | "latest"; readonly after: number }
  | { readonly by: "key"; readonly after: { readonly value: string; readonly id: number } }
  | { readonly by: "owner" | "name"; readonly from: Bytes }

/** Where a search begins: in the index with the fewest candidates. */
export const startOf = (asked: NameQuery, clock: NameClock): SearchState => {
  const { changedSince = 0, expiresWithin, key, newestFirst, owner, prefix, text, value } = asked
  if (newestFirst === true) return { by: "latest", after: Number.MAX_SAFE_INTEGER }
  if (key !== undefined && value !== undefined) return { by: "pair", after: -1 }
  if (text !== undefined) return { by: "text", after: -1 }
  if (owner !== undefined) return { by: "owner", from: EMPTY }
  if (key !== undefined) return { by: "key", after: { value: "", id: -1 } }
  if (expiresWithin !== undefined || changedSince > 0 || prefix === undefined) {
    const from = Math.max(changedSince, heightsOf(asked, clock).oldest)
    return { by: "operation", after: firstOperationAt(from) - 1 }
  }
  return { by: "name", from: prefix }
}

/** Whether a position is after all possible matches, in an index ordered by the condition. */
export const queryEnd = (asked: NameQuery, clock: NameClock) => {
  const { youngest } = heightsOf(asked, clock)
  const end = asked.prefix === undefined ? undefined : prefixEnd(asked.prefix)
  return (record: NameEntry, by: SearchState["by"]): boolean =>
    by === "operation"
      ? record.height > youngest
      : by === "latest"
      ? record.height < (asked.changedSince ?? 0)
      : by === "name" && end !== undefined && compare(record.name, end) >= 0
}

/** A position as text that callers pass back. */
export const searchCursorText = (state: SearchState): string => {
  switch (state.by) {
    case "pair":
    case "text":
    case "operation":
    case "latest":
      return `1.${state.by}.${state.after}`
    case "key":
      return `1.key.${state.after.id}.${toHex(new TextEncoder().encode(state.after.value))}`
    case "owner":
    case "name":
      return `1.${state.by}.${toHex(state.from)}`
  }
}

const CURSOR = /^1\.(pair|text|operation|latest|key|owner|name)\.(-1|\d{1,16}|[0-9a-f]*)(?:\.([0-9a-f]*))?$/
const LONGEST_CURSOR = 2_200_000

/** Reads a position of the same query; `undefined` for any other text. */
export const readSearchCursor = (text: string, start: SearchState): SearchState | undefined => {
  const parts = text.length > LONGEST_CURSOR ? null : CURSOR.exec(text)
  if (parts === null || parts[1] !== start.by) return undefined
  const [, , first = "", second] = parts
  if (start.by === "owner" || start.by === "name") {
    const from = second === undefined ? fromHex(first) : undefined
    return from === undefined ? undefined : { by: start.by, from }
  }
  const number = /^(?:-1|\d+)$/.test(first) ? Number(first) : Number.NaN
  if (!Number.isSafeInteger(number)) return undefined
  if (start.by !== "key") return second === undefined ? { by: start.by, after: number } : undefined
  const bytes = second === undefined ? undefined : fromHex(second)
  return bytes === undefined ? undefined : { by: "key", after: { id: number, value: new TextDecoder().decode(bytes) } }
}
