import * as Effect from "effect/Effect"
import type { JsonValue } from "../../rpc/json/encodeJson.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { Daemon } from "./daemon.ts"
import { at, indented, numberAt, objectOf, textAt } from "./jsonText.ts"
import type { Screen } from "./outcome.ts"
import { type OwnNameEntry, ownNamesOf, shownBytes } from "./ownNames.ts"
import { dayText, grouped, quantityOf } from "./quantities.ts"
import { type Colour, table } from "./table.ts"

/** `svcd-cli expiring`: names before their expiry, with the pages of `name_expiring` until there are enough. */

export interface ExpiringOptions {
  readonly all: boolean
  readonly owner: string | undefined
  readonly blocks: number
  /** Names to list. */
  readonly limit: number
  readonly json: boolean
}

/** Names on a page of the daemon. */
const PAGE = 500

/** Blocks below which the expiry is shown as urgent: a week. */
const WEEK = 1_008

interface Expiring {
  readonly names: ReadonlyArray<OwnNameEntry>
  readonly more: boolean
  readonly complete: boolean
}

const conditions = ({ all, blocks, owner }: ExpiringOptions): Readonly<Record<string, JsonValue>> => ({
  blocks,
  ...(owner === undefined ? all ? {} : { mine: true, watched: true } : { owner }),
  nameEncoding: "hex",
  valueEncoding: "hex"
})

const gather = (daemon: Daemon, options: ExpiringOptions): Effect.Effect<Expiring, RpcClientError> =>
  Effect.gen(function*() {
    const names: Array<OwnNameEntry> = []
    for (let cursor: string | undefined = undefined;;) {
      const left: number = options.limit - names.length
      const query: Readonly<Record<string, JsonValue>> = {
        ...conditions(options),
        limit: Math.min(PAGE, Math.max(1, left)),
        ...(cursor === undefined ? {} : { cursor })
      }
      const page: Json = yield* daemon.call("name_expiring", { query })
      names.push(...ownNamesOf(at(page, "names")))
      cursor = textAt(page, "next")
      if (cursor === undefined || names.length >= options.limit) {
        return { names, more: cursor !== undefined, complete: at(page, "complete") !== false }
      }
    }
  })

/** What becomes of the name without the user. */
const renewalText = ({ said }: OwnNameEntry): string => {
  if (at(said, "pending") === true) return "pending"
  const renews = at(said, "autorenew")
  return renews === undefined ? "" : renews === true ? "auto" : "by hand"
}

const whoText = ({ said }: OwnNameEntry): string =>
  [at(said, "mine") === true ? "wallet" : "", at(said, "watched") === true ? "watched" : ""].filter((word) =>
    word !== ""
  )
    .join(", ")

const urgency = (entry: OwnNameEntry): Colour | undefined => {
  const renewal = renewalText(entry)
  if (renewal === "pending") return "dim"
  return (numberAt(entry.said, "expires_in") ?? 0) <= WEEK ? "red" : renewal === "auto" ? undefined : "yellow"
}

const rowOf = (entry: OwnNameEntry) => {
  const { name, said } = entry
  const colour = urgency(entry)
  return [
    { text: shownBytes(name), colour },
    { text: grouped(numberAt(said, "expires_at") ?? 0) },
    { text: grouped(numberAt(said, "expires_in") ?? 0), colour },
    { text: dayText(numberAt(said, "expires_about") ?? 0) },
    { text: whoText(entry) },
    { text: renewalText(entry) }
  ]
}

const emptyText = ({ all, blocks, owner }: ExpiringOptions): string =>
  owner === undefined && !all
    ? `No name of the wallets or the watch list expires within ${quantityOf(blocks, "block")}.`
    : `No name expires within ${quantityOf(blocks, "block")}.`

const expiringText = ({ complete, more, names }: Expiring, options: ExpiringOptions, screen: Screen): string =>
  [
    ...(names.length === 0 ? [emptyText(options)] : table(
      [
        { title: "NAME", atLeast: 16 },
        { title: "AT HEIGHT", align: "right" },
        { title: "BLOCKS LEFT", align: "right" },
        { title: "ABOUT" },
        { title: "OF" },
        { title: "RENEWAL" }
      ],
      names.map(rowOf),
      screen
    )),
    ...(more ? ["", `These are the first ${grouped(names.length)}; -limit shows more.`] : []),
    ...(complete ? [] : ["", "The node is still syncing: names may have been renewed or may be missing."]),
    ""
  ].join("\n")

const MEMBERS = [
  "expires_in",
  "expires_at",
  "expires_about",
  "height",
  "txid",
  "vout",
  "address",
  "mine",
  "watched",
  "autorenew",
  "pending"
]

const expiringJson = ({ complete, more, names }: Expiring): Json =>
  objectOf({
    names: names.map(({ name, said, value }) =>
      objectOf({
        name: name.text ?? null,
        name_hex: name.hex,
        value: value?.text ?? null,
        value_hex: value?.hex,
        ...Object.fromEntries(MEMBERS.map((member) => [member, at(said, member)]))
      })
    ),
    more,
    complete
  })

/** Returns what `svcd-cli expiring` prints. */
export const expiringCommand = (
  daemon: Daemon,
  screen: Screen,
  options: ExpiringOptions
): Effect.Effect<string, RpcClientError> =>
  Effect.map(
    gather(daemon, options),
    (found) => options.json ? `${indented(expiringJson(found))}\n` : expiringText(found, options, screen)
  )
