import * as Schema from "effect/Schema"
import { SEARCH_KEYS } from "../../../values/searchable.ts"
import { namesContract } from "../../method/contract.ts"
import { boolean, int32, namedOptions, optional, orEmpty, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { NAME_INFO } from "../../shapes/name.ts"
import { ENCODINGS } from "./nameParams.ts"

/** Per page. */
export const MOST_FOUND = 1_000

const USUAL = 100

export const FIND_MEMBERS = {
  text: optional(string("Part of the name or the value, case-insensitive, at least three characters.")),
  key: optional(string(`An item of the value, even below map: ${SEARCH_KEYS.join(", ")}.`)),
  value: optional(string("The value of that item; any by default.")),
  owner: optional(string("The owner's address.")),
  namespace: optional(string("Prefix of the names, such as d/.")),
  changedSince: optional(int32("Lists names whose last operation is at this height or later.")),
  expiresWithin: optional(int32("Lists names that expire within this number of blocks unless they are renewed.")),
  includeExpired: withDefault(boolean("Whether to list expired names."), false),
  limit: withDefault(int32(`Maximum number of names, up to ${MOST_FOUND}.`), USUAL),
  cursor: optional(string("next of the previous page, with the same conditions.")),
  ...ENCODINGS
}

export const FOUND = Schema.Struct({
  names: Schema.Array(NAME_INFO),
  next: Schema.optional(
    Result.string("Start of the next page; missing on the last one. A page may have fewer names than the limit")
  ),
  complete: Result.boolean("Whether blocks and indexes are complete; otherwise there may be more names"),
  indexed: Result.number("Share of names covered by text and key, from 0 to 1")
})

/** While a node answers from the last blocks only. */
export const NEEDS_ALL =
  "Search needs the whole chain, and this node has only its last blocks so far: retry when it is synced"

export const FIND_ERRORS = [
  `-1 ${NEEDS_ALL}`,
  "-8 give at least one of text, key, owner, namespace, changedSince and expiresWithin",
  "-8 text must have at least 3 characters; name_scan finds shorter ones with regexp",
  "-8 text and value must have at most 500 characters",
  "-8 value needs a key",
  "-8 key must be one of ip, ip6, ns, email, nostr, tor",
  "-8 limit must be from 1 to 1000",
  "-8 the cursor is not one of this query: pass back next with the same conditions",
  "-5 invalid address",
  "-1000 Name/value is invalid for encoding <encoding>"
]

export const NAME_FIND = namesContract({
  name: "name_find",
  right: "read",
  summary:
    "Finds names by text, by an item of the value, by owner, by last change or by expiry. Results match all given " +
    "conditions. For the next page, pass next of this page as cursor.",
  params: { query: orEmpty(namedOptions(FIND_MEMBERS, "The conditions.")) },
  results: [{ schema: FOUND }],
  examples: [[{ text: "example" }], [{ key: "ip", value: "192.0.2.1" }], [{ expiresWithin: 4032, namespace: "d/" }]],
  errors: FIND_ERRORS
})
