import * as Effect from "effect/Effect"
import { quantityOf } from "../../base/quantities.ts"
import { decodedLabel } from "../../base/unicodeDomain.ts"
import type { JsonValue } from "../../rpc/json/encodeJson.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { NAME_STATES } from "../../rpc/words.ts"
import { itemSearch, SHORTEST_TEXT } from "../../values/searchable.ts"
import type { Daemon } from "./daemon.ts"
import { numberAt } from "./jsonText.ts"
import { writtenInNames } from "./nameHints.ts"
import { gatherNames, listJson, listText, type NamesFound } from "./namePages.ts"
import { CommandFailed, NAME, type Screen } from "./outcome.ts"
import { nameWithDomain, type OwnNameEntry, shownBytes } from "./ownNames.ts"
import { table } from "./table.ts"

export interface FindOptions {
  readonly text: string | undefined
  readonly key: string | undefined
  readonly value: string | undefined
  readonly owner: string | undefined
  readonly namespace: string | undefined
  readonly expired: boolean
  readonly limit: number
  readonly json: boolean
}

/** Conditions such as `owner:ADDRESS` and `ip:192.0.2.1`, as in the search of the pages; flags take precedence. */
const fromText = (options: FindOptions): FindOptions => {
  const { key, owner, text = "" } = options
  const item = itemSearch(text)
  if (item === undefined) return options
  const { by, rest } = item
  if (by === "text") return { ...options, text: rest }
  if (by === "owner") return owner === undefined ? { ...options, text: undefined, owner: rest } : options
  return key === undefined
    ? { ...options, text: undefined, key: by, value: rest === "" ? undefined : rest }
    : options
}

const hexOf = (text: string): string => Buffer.from(text, "utf8").toString("hex")

const conditions = (
  { expired, key, namespace, owner, text, value }: FindOptions
): Readonly<Record<string, JsonValue>> => ({
  ...(text === undefined ? {} : { text }),
  ...(key === undefined ? {} : { key }),
  ...(value === undefined ? {} : { value }),
  ...(owner === undefined ? {} : { owner }),
  ...(namespace === undefined ? {} : { namespace: hexOf(namespace) }),
  includeExpired: expired
})

const rowOf = (entry: OwnNameEntry) => {
  const left = numberAt(entry.said, "expires_in") ?? 0
  return [
    { text: nameWithDomain(entry.name), colour: left <= 0 ? "dim" as const : undefined },
    { text: left <= 0 ? NAME_STATES.expired : quantityOf(left, "block") },
    { text: entry.value === undefined ? "" : shownBytes(entry.value) }
  ]
}

const foundText = (found: NamesFound, screen: Screen): string =>
  listText(found, {
    lines: found.names.length === 0 ? ["No names found."] : table(
      [{ title: "NAME", atLeast: 16 }, { title: "EXPIRES IN", align: "right" }, { title: "VALUE", atLeast: 20 }],
      found.names.map(rowOf),
      screen
    ),
    incomplete: "The node is still syncing or building its search indexes, so there may be more names."
  })

const MEMBERS = ["expires_in", "expired", "height", "txid", "vout", "address"]

const ENCODED = "d/xn--"

const partOfDomain = (text: string): string | undefined => {
  const label = text.trim().toLowerCase().normalize("NFC").replace(/^d\//, "").replace(/\.bit$/, "")
  return /[^\x00-\x7f]/.test(label) && !/[\s/.]/.test(label) ? label : undefined
}

/** Names have domains in other scripts encoded, so that the daemon's search does not match them. */
const withPart = (
  daemon: Daemon,
  options: FindOptions,
  part: string
): Effect.Effect<NamesFound, RpcClientError> => {
  const { limit, namespace = "" } = options
  if (!ENCODED.startsWith(namespace) && !namespace.startsWith(ENCODED)) {
    return Effect.succeed({ names: [], more: false, complete: true })
  }
  return gatherNames(daemon, {
    method: "name_find",
    conditions: conditions({
      ...options,
      text: undefined,
      namespace: namespace.length > ENCODED.length ? namespace : ENCODED
    }),
    limit,
    fits: ({ name }) => decodedLabel((name.text ?? "").slice("d/".length))?.includes(part) === true
  })
}

const joined = (one: NamesFound, other: NamesFound, limit: number): NamesFound => {
  const known = new Set(one.names.map(({ name }) => name.hex))
  const names = [...one.names, ...other.names.filter(({ name }) => !known.has(name.hex))]
  return {
    names: names.slice(0, limit),
    more: one.more || other.more || names.length > limit,
    complete: one.complete && other.complete
  }
}

export const findCommand = (
  daemon: Daemon,
  screen: Screen,
  given: FindOptions
): Effect.Effect<string, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const options = fromText(given)
    const { json, key, limit, namespace, owner, text } = options
    if (text === undefined && key === undefined && owner === undefined && namespace === undefined) {
      return yield* new CommandFailed({
        message: "there is nothing to find: give a text, or -key, -owner or -namespace",
        remedy: `"${NAME} names" lists the names of the wallet`
      })
    }
    const gather = (said: string | undefined) =>
      gatherNames(daemon, { method: "name_find", conditions: conditions({ ...options, text: said }), limit })
    const part = text === undefined ? undefined : partOfDomain(text)
    // Two letters are too short for the daemon's search, but not for the domains.
    const isShort = part !== undefined && Array.from(text ?? "").length < SHORTEST_TEXT
    const written = text === undefined ? undefined : writtenInNames(text)
    const first: NamesFound = isShort ? { names: [], more: false, complete: true } : yield* gather(text)
    const said = first.names.length > 0 || written === undefined ? first : yield* gather(written)
    const found = part === undefined ? said : joined(said, yield* withPart(daemon, options, part), limit)
    return json ? listJson(found, MEMBERS) : foundText(found, screen)
  })
