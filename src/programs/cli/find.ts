import * as Effect from "effect/Effect"
import type { JsonValue } from "../../rpc/json/encodeJson.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { Daemon } from "./daemon.ts"
import { at, indented, numberAt, objectOf, textAt } from "./jsonText.ts"
import type { Screen } from "./outcome.ts"
import { type OwnNameEntry, ownNamesOf, shownBytes } from "./ownNames.ts"
import { grouped, quantityOf } from "./quantities.ts"
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

/** Names on a page of the daemon. */
const PAGE = 500

interface Found {
  readonly names: ReadonlyArray<OwnNameEntry>
  readonly more: boolean
  readonly complete: boolean
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
  includeExpired: expired,
  nameEncoding: "hex",
  valueEncoding: "hex"
})

const gatherFound = (daemon: Daemon, options: FindOptions): Effect.Effect<Found, RpcClientError> =>
  Effect.gen(function*() {
    const names: Array<OwnNameEntry> = []
    let complete = true
    for (let cursor: string | undefined = undefined;;) {
      const left: number = options.limit - names.length
      const query: Readonly<Record<string, JsonValue>> = {
        ...conditions(options),
        limit: Math.min(PAGE, Math.max(1, left)),
        ...(cursor === undefined ? {} : { cursor })
      }
      const page: Json = yield* daemon.call("name_find", { query })
      names.push(...ownNamesOf(at(page, "names")))
      complete = at(page, "complete") !== false
      cursor = textAt(page, "next")
      if (cursor === undefined || names.length >= options.limit) return { names, complete, more: cursor !== undefined }
    }
  })

const rowOf = (entry: OwnNameEntry) => {
  const left = numberAt(entry.said, "expires_in") ?? 0
  return [
    { text: shownBytes(entry.name), colour: left <= 0 ? "dim" as const : undefined },
    { text: left <= 0 ? "expired" : quantityOf(left, "block") },
    { text: entry.value === undefined ? "" : shownBytes(entry.value) }
  ]
}

const foundText = ({ complete, more, names }: Found, screen: Screen): string =>
  [
    ...(names.length === 0 ? ["No name is found."] : table(
      [{ title: "NAME", atLeast: 16 }, { title: "EXPIRES IN", align: "right" }, { title: "VALUE", atLeast: 20 }],
      names.map(rowOf),
      screen
    )),
    ...(more ? ["", `These are the first ${grouped(names.length)}; -limit shows more.`] : []),
    ...(complete ? [] : ["", "The node is still syncing or building its search indexes: there may be more names."]),
    ""
  ].join("\n")

const foundJson = ({ complete, more, names }: Found): Json =>
  objectOf({
    names: names.map(({ name, said, value }) =>
      objectOf({
        name: name.text ?? null,
        name_hex: name.hex,
        value: value?.text ?? null,
        value_hex: value?.hex,
        ...Object.fromEntries(
          ["expires_in", "expired", "height", "txid", "vout", "address"].map((member) => [member, at(said, member)])
        )
      })
    ),
    more,
    complete
  })

/** Returns what `svcd-cli find` prints. */
export const findCommand = (
  daemon: Daemon,
  screen: Screen,
  options: FindOptions
): Effect.Effect<string, RpcClientError> =>
  Effect.map(
    gatherFound(daemon, options),
    (found) => options.json ? `${indented(foundJson(found))}\n` : foundText(found, screen)
  )
