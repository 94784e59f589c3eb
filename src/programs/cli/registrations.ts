import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { Daemon } from "./daemon.ts"
import { indented, numberAt, objectOf, textAt } from "./jsonText.ts"
import { type CliOutcome, NAME, type Screen, success } from "./outcome.ts"
import { entryJson, IN_HEX, type OwnNameEntry, ownNamesOf, shownBytes } from "./ownNames.ts"
import { table } from "./table.ts"

/** The registrations of a wallet, and `svcd-cli registrations`. */

/** Days after which what has failed is hidden. */
const FAILURE_DAYS = 30

/** Whether an entry began not long ago. */
export const isRecent = ({ said }: OwnNameEntry, now: number): boolean =>
  (numberAt(said, "time") ?? now) > now - FAILURE_DAYS * 86_400

/** Whether a registration is under way, or failed not long ago. */
export const isNews = (entry: OwnNameEntry, now: number): boolean => {
  const step = textAt(entry.said, "step")
  return step === "failed" ? isRecent(entry, now) : step !== "done"
}

/** What a registration waits for, where the daemon has no note: the number of its step, of three. */
const WAITS: Readonly<Record<string, string>> = {
  committed: "step 1 of 3: the commitment waits for a block",
  maturing: "step 2 of 3: waits until a block may have the name",
  revealed: "step 3 of 3: the name waits for a block"
}

/** The note of a registration: never empty while it is under way. */
export const registrationNote = (said: Json): string => {
  const note = textAt(said, "note") ?? ""
  return note === "" ? WAITS[textAt(said, "step") ?? ""] ?? "" : note
}

export const registrationTable = (entries: ReadonlyArray<OwnNameEntry>, screen: Screen): ReadonlyArray<string> =>
  table(
    [{ title: "NAME", atLeast: 16 }, { title: "STEP" }, { title: "NOTE", atLeast: 20 }, { title: "VALUE", atLeast: 8 }],
    entries.map((entry) => {
      const step = textAt(entry.said, "step") ?? ""
      return [
        { text: shownBytes(entry.name) },
        { text: step, colour: step === "failed" ? "red" : undefined },
        { text: registrationNote(entry.said) },
        { text: entry.value === undefined ? "" : shownBytes(entry.value) }
      ]
    }),
    screen
  )

export const registrationJson = (entry: OwnNameEntry): Json =>
  objectOf(entryJson(entry, "step", "note", "txid", "firstupdate_txid", "time"))

export const registrationsCommand = (
  daemon: Daemon,
  screen: Screen,
  { all, json }: { readonly all: boolean; readonly json: boolean }
): Effect.Effect<CliOutcome, RpcClientError> =>
  Effect.gen(function*() {
    const now = yield* unixTime
    const entries = ownNamesOf(yield* daemon.call("name_registrations", IN_HEX)).filter((entry) =>
      all || isNews(entry, now)
    )
    if (json) return success(`${indented(objectOf({ registrations: entries.map(registrationJson) }))}\n`)
    return success(
      entries.length === 0
        ? `No registration is under way. "${NAME} register NAME" begins one${
          all ? "" : "; -all shows those that are done"
        }.\n`
        : `${registrationTable(entries, screen).join("\n")}\n`
    )
  })
