import * as Effect from "effect/Effect"
import { outlookColumn } from "../../base/outlookWords.ts"
import { dayText, grouped, quantityOf } from "../../base/quantities.ts"
import type { JsonValue } from "../../rpc/json/encodeJson.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { ask } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { at, numberAt, textAt } from "./jsonText.ts"
import { gatherNames, listJson, listText, type NamesFound } from "./namePages.ts"
import type { Screen } from "./outcome.ts"
import { outlookCell, outlookColour, toldOutlook } from "./outlooks.ts"
import { nameWithDomain, type OwnNameEntry } from "./ownNames.ts"
import { type Colour, table, type TableCell } from "./table.ts"

export interface ExpiringOptions {
  readonly all: boolean
  readonly owner: string | undefined
  readonly blocks: number
  readonly limit: number
  readonly json: boolean
}

/** A week in blocks, below which the expiry is urgent. */
const WEEK = 1_008

const conditions = ({ all, blocks, owner }: ExpiringOptions): Readonly<Record<string, JsonValue>> => ({
  blocks,
  ...(owner === undefined ? all ? {} : { mine: true, watched: true } : { owner })
})

/** Without the daemon's judgement, only the setting is known. */
const renewalCell = (entry: OwnNameEntry): TableCell => {
  const outlook = toldOutlook(entry)
  if (outlook !== undefined) return outlookCell(outlook)
  const renews = at(entry.said, "autorenew")
  if (at(entry.said, "pending") === true) return { text: outlookColumn("pending") }
  return { text: renews === undefined ? "" : renews === true ? "on" : outlookColumn("by-hand") }
}

const whoText = ({ said }: OwnNameEntry): string =>
  [at(said, "mine") === true ? "wallet" : "", at(said, "watched") === true ? "watched" : ""].filter((word) =>
    word !== ""
  )
    .join(", ")

const urgency = (entry: OwnNameEntry): Colour | undefined => {
  const outlook = toldOutlook(entry)
  if (outlook !== undefined) return outlookColour(outlook)
  if (at(entry.said, "pending") === true) return "dim"
  return (numberAt(entry.said, "expires_in") ?? 0) <= WEEK ? "red" : "yellow"
}

const rowOf = (dated: boolean) => (entry: OwnNameEntry) => {
  const { name, said } = entry
  const colour = urgency(entry)
  return [
    { text: nameWithDomain(name), colour },
    { text: grouped(numberAt(said, "expires_at") ?? 0) },
    { text: grouped(numberAt(said, "expires_in") ?? 0), colour },
    ...(dated ? [{ text: dayText(numberAt(said, "expires_about") ?? 0) }] : []),
    { text: whoText(entry) },
    renewalCell(entry)
  ]
}

const emptyText = ({ all, blocks, owner }: ExpiringOptions): string =>
  owner === undefined && !all
    ? `No name of the wallets or the watch list expires within ${quantityOf(blocks, "block")}.`
    : `No name expires within ${quantityOf(blocks, "block")}.`

/** `dated`: blocks come at a steady rate, as on all networks but regtest. */
const expiringText = (
  found: NamesFound,
  options: ExpiringOptions & { readonly dated: boolean },
  screen: Screen
): string =>
  listText(found, {
    lines: found.names.length === 0 ? [emptyText(options)] : table(
      [
        { title: "NAME", atLeast: 16 },
        { title: "AT HEIGHT", align: "right" },
        { title: "BLOCKS LEFT", align: "right" },
        ...(options.dated ? [{ title: "ABOUT" }] : []),
        { title: "OF" },
        { title: "RENEWAL" }
      ],
      found.names.map(rowOf(options.dated)),
      screen
    ),
    incomplete: "The node is still syncing, so names may be missing or already renewed."
  })

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
  "pending",
  "outlook"
]

export const expiringCommand = (
  daemon: Daemon,
  screen: Screen,
  options: ExpiringOptions
): Effect.Effect<string, RpcClientError> =>
  Effect.gen(function*() {
    const found = yield* gatherNames(daemon, {
      method: "name_expiring",
      conditions: conditions(options),
      limit: options.limit
    })
    if (options.json) return listJson(found, MEMBERS)
    const dated = found.names.length === 0 || textAt(yield* ask(daemon, "getblockchaininfo"), "chain") !== "regtest"
    return expiringText(found, { ...options, dated }, screen)
  })
