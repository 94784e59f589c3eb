import * as Effect from "effect/Effect"
import type { JsonValue } from "../../rpc/json/encodeJson.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { itemSearch } from "../../values/searchable.ts"
import type { Daemon } from "./daemon.ts"
import { numberAt } from "./jsonText.ts"
import { writtenInNames } from "./nameHints.ts"
import { gatherNames, listJson, listText, type NamesFound } from "./namePages.ts"
import type { Screen } from "./outcome.ts"
import { type OwnNameEntry, shownBytes } from "./ownNames.ts"
import { quantityOf } from "./quantities.ts"
import { table } from "./table.ts"

/** `svcd-cli find`: names by what they say, with the pages of `name_find` until there are enough. */

export interface FindOptions {
  readonly text: string | undefined
  readonly key: string | undefined
  readonly value: string | undefined
  readonly owner: string | undefined
  readonly namespace: string | undefined
  readonly expired: boolean
  /** Names to list. */
  readonly limit: number
  readonly json: boolean
}

/** The conditions of `owner:ADDRESS` and `ip:192.0.2.1`, as in the search of the pages; what a flag says counts before. */
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

/** Namespaces are ASCII, which is the same bytes in the encoding that the answer has. */
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
    { text: shownBytes(entry.name), colour: left <= 0 ? "dim" as const : undefined },
    { text: left <= 0 ? "expired" : quantityOf(left, "block") },
    { text: entry.value === undefined ? "" : shownBytes(entry.value) }
  ]
}

const foundText = (found: NamesFound, screen: Screen): string =>
  listText(found, {
    lines: found.names.length === 0 ? ["No name is found."] : table(
      [{ title: "NAME", atLeast: 16 }, { title: "EXPIRES IN", align: "right" }, { title: "VALUE", atLeast: 20 }],
      found.names.map(rowOf),
      screen
    ),
    incomplete: "The node is still syncing or building its search indexes: there may be more names."
  })

const MEMBERS = ["expires_in", "expired", "height", "txid", "vout", "address"]

/** Returns what `svcd-cli find` prints. */
export const findCommand = (
  daemon: Daemon,
  screen: Screen,
  given: FindOptions
): Effect.Effect<string, RpcClientError> => {
  const options = fromText(given)
  const gather = (text: string | undefined) =>
    gatherNames(daemon, { method: "name_find", conditions: conditions({ ...options, text }), limit: options.limit })
  const written = options.text === undefined ? undefined : writtenInNames(options.text)
  return Effect.map(
    Effect.flatMap(
      gather(options.text),
      (found) => found.names.length > 0 || written === undefined ? Effect.succeed(found) : gather(written)
    ),
    (found) => options.json ? listJson(found, MEMBERS) : foundText(found, screen)
  )
}
