import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { quantityOf, spanText } from "../../base/quantities.ts"
import type { Json } from "../../rpc/json/json.ts"
import { isRecentFailure } from "../../rpc/recentFailure.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { STEP_WORDS } from "../../rpc/words.ts"
import { ask, BLOCK_SECONDS } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { at, indented, numberAt, objectOf, textAt } from "./jsonText.ts"
import { type CliOutcome, type Screen, success } from "./outcome.ts"
import { entryJson, IN_HEX, nameWithDomain, type OwnNameEntry, ownNamesOf, shownBytes } from "./ownNames.ts"
import { table } from "./table.ts"

export const isRecent = ({ said }: OwnNameEntry, now: number): boolean =>
  isRecentFailure({ begun: numberAt(said, "time") ?? now, now })

export const isNews = (entry: OwnNameEntry, now: number): boolean => {
  const step = textAt(entry.said, "step")
  return step === "failed" ? isRecent(entry, now) : step !== "done"
}

const UNDER_WAY = ["committed", "maturing", "revealed"] as const

/** Never empty while in progress. */
export const registrationNote = ({ cli }: Pick<Daemon, "cli">, said: Json): string => {
  const note = textAt(said, "note") ?? ""
  if (note !== "") return note
  if (at(said, "value") === undefined && numberAt(said, "blocks_left") === 0) {
    return `waits for your name_firstupdate; "${cli} register NAME" uses it too, once the name is free`
  }
  const step = UNDER_WAY.find((each) => each === textAt(said, "step"))
  return step === undefined ? "" : STEP_WORDS[step].join(": ")
}

/** `dated`: blocks come at a steady rate. */
const nextText = (left: number | undefined, dated: boolean): string => {
  if (left === undefined) return ""
  if (left === 0) return "now"
  return `${quantityOf(left, "block")}${dated ? `, about ${spanText(left * BLOCK_SECONDS)}` : ""}`
}

export const registrationTable = (
  entries: ReadonlyArray<OwnNameEntry>,
  { cli, dated, screen }: Pick<Daemon, "cli"> & { readonly dated: boolean; readonly screen: Screen }
): ReadonlyArray<string> => {
  const tells = entries.some(({ said }) => numberAt(said, "blocks_left") !== undefined)
  return table(
    [
      { title: "NAME", atLeast: 16 },
      { title: "STEP" },
      ...(tells ? [{ title: "NEXT STEP IN" }] : []),
      { title: "NOTE", atLeast: 20 },
      { title: "VALUE", atLeast: 8 }
    ],
    entries.map((entry) => {
      const step = textAt(entry.said, "step") ?? ""
      return [
        { text: nameWithDomain(entry.name) },
        { text: step, colour: step === "failed" ? "red" as const : undefined },
        ...(tells ? [{ text: nextText(numberAt(entry.said, "blocks_left"), dated) }] : []),
        { text: registrationNote({ cli }, entry.said) },
        { text: entry.value === undefined ? "" : shownBytes(entry.value) }
      ]
    }),
    screen
  )
}

export const registrationJson = (entry: OwnNameEntry): Json =>
  objectOf(entryJson(entry, "step", "note", "blocks_left", "txid", "firstupdate_txid", "time"))

export const registrationsCommand = (
  daemon: Daemon,
  screen: Screen,
  { all, json }: { readonly all: boolean; readonly json: boolean }
): Effect.Effect<CliOutcome, RpcClientError> =>
  Effect.gen(function*() {
    const now = yield* unixTime
    const entries = ownNamesOf(yield* daemon.ask("name_registrations", IN_HEX)).filter((entry) =>
      all || isNews(entry, now)
    )
    if (json) return success(`${indented(objectOf({ registrations: entries.map(registrationJson) }))}\n`)
    const dated = entries.length > 0 && textAt(yield* ask(daemon, "getblockchaininfo"), "chain") !== "regtest"
    return success(
      entries.length === 0
        ? `No registrations are in progress. "${daemon.cli} register NAME" starts one${
          all ? "" : "; -all includes completed ones"
        }.\n`
        : `${registrationTable(entries, { cli: daemon.cli, dated, screen }).join("\n")}\n`
    )
  })
