import * as Effect from "effect/Effect"
import { outlookText } from "../../base/outlookWords.ts"
import { type NameKey, nameKey } from "../../protocol/keys.ts"
import { nameField } from "../../protocol/nameText.ts"
import type { NameParts } from "./NameParts.ts"
import { eventOf, isAlarm, outlooksOf } from "./outlooks.ts"

/** Log entries of one look. Further ones are counted. */
const MOST_LOGGED = 20

/** Logs each new alarm once, not per block. */
export const makeOutlookWatch = (parts: NameParts): Effect.Effect<void> => {
  let told: ReadonlyMap<NameKey, string> = new Map()

  return Effect.gen(function*() {
    const outlooks = yield* outlooksOf(parts)
    // Failures of names that are safe now are of no interest.
    for (const { name, outlook: { state } } of outlooks) {
      if (state !== "failing" && state !== "no-coins" && state !== "locked") parts.lastFailures.delete(nameKey(name))
    }
    // While blocks are missing, a name may have been renewed since.
    if (yield* parts.status.syncing) return
    const alarms = outlooks.filter(isAlarm)
    const now = new Map(alarms.map((each) => [nameKey(each.name), eventOf(each)]))
    const fresh = alarms.filter((each) => told.get(nameKey(each.name)) !== eventOf(each))
    told = now
    for (const { name, outlook } of fresh.slice(0, MOST_LOGGED)) {
      const reason = outlookText(outlook)
      yield* Effect.logWarning("name in danger", { name: nameField(name), state: outlook.state, reason })
    }
    const others = fresh.length - MOST_LOGGED
    if (others > 0) {
      yield* Effect.logWarning("more names in danger: svcd-cli names lists them", { names: others })
    }
  })
}
