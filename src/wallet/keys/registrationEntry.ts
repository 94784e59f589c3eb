import * as Schema from "effect/Schema"
import { OUTLOOK_STATES, URGENCIES } from "../../base/outlookWords.ts"
import { hexBytes, hexOf, LONGEST_TEXT, omittable, orUndefined, Seconds, ShortText } from "./documentParts.ts"

export const RegistrationFailure = Schema.Literal(
  /** Registered by another owner. */
  "taken",
  /** The owner abandoned the NAME_NEW. */
  "abandoned",
  /** A confirmed transaction spends the coins of the NAME_NEW. */
  "conflicted",
  "cancelled"
)
export type RegistrationFailure = typeof RegistrationFailure.Type

/** `Registration` and its request, in progress or ended. */
export const RegistrationEntry = Schema.Struct({
  name: hexBytes(LONGEST_TEXT),
  rand: hexBytes(LONGEST_TEXT),
  value: orUndefined(hexBytes(LONGEST_TEXT)),
  newTxid: hexBytes(32, true),
  newVout: Schema.NonNegativeInt,
  firstUpdateTxid: orUndefined(hexBytes(32, true)),
  step: Schema.Literal("committed", "maturing", "revealed", "done", "failed"),
  /** What it waits for; empty once ended, unless 0.1.0 stored another text. */
  note: ShortText,
  failure: orUndefined(Schema.Struct({
    reason: RegistrationFailure,
    /** Its transaction that still holds coins of the wallet. */
    coinsIn: omittable(Schema.Literal("name_new", "name_firstupdate"))
  })),
  createdAt: Seconds,
  /** Another machine signs its NAME_NEW, which comes back or not: the salt is kept. */
  unsigned: omittable(Schema.Boolean),
  /** If omitted, a script of the wallet. */
  destination: omittable(hexBytes(LONGEST_TEXT)),
  feeRate: omittable(Schema.NonNegativeInt),
  target: omittable(Schema.NonNegativeInt),
  conservative: omittable(Schema.Boolean)
})
export type RegistrationEntry = typeof RegistrationEntry.Type

/** Bytes of a standard transaction. */
const LONGEST_UNSIGNED = 100_000

/** `name_renew`. */
export const RenewalEntry = Schema.Struct({
  name: hexBytes(LONGEST_TEXT),
  /** Height of the expiring operation; a later one ends the request. */
  height: Schema.NonNegativeInt,
  state: Schema.Literal("waiting", "sent", "done", "skipped"),
  txid: omittable(hexBytes(32, true)),
  /** The unsigned NAME_UPDATE that waits for another machine's signature, in hexadecimal. */
  unsigned: omittable(hexOf(LONGEST_UNSIGNED)),
  note: ShortText,
  createdAt: Seconds
})
export type RenewalEntry = typeof RenewalEntry.Type

export const MAX_RENEWALS = 10_000

/** An event of a name that its owner knows of: it alarms no more. */
export const AcknowledgedEntry = Schema.Struct({
  name: hexBytes(LONGEST_TEXT),
  /** Height of the wallet's last operation on the name. */
  height: Schema.NonNegativeInt,
  state: Schema.Literal(...OUTLOOK_STATES),
  /** A more urgent one alarms again. */
  urgency: Schema.Literal(...URGENCIES)
})
export type AcknowledgedEntry = typeof AcknowledgedEntry.Type

export const MAX_ACKNOWLEDGED = 10_000

/** What files of 0.1.0 have in `note` in place of `failure`: this, and where coins remain. */
const NOTES: ReadonlyMap<string, RegistrationFailure> = new Map([
  ["somebody else has registered the name", "taken"],
  ["its name_new was abandoned", "abandoned"],
  ["its name_new can never be confirmed: another transaction spends its coins", "conflicted"],
  ["called off by the owner", "cancelled"]
])

/** Fills in the failure of an entry that has only its note. */
export const withFailure = (entry: RegistrationEntry): RegistrationEntry => {
  if (entry.step !== "failed" || entry.failure !== undefined) return entry
  const [text = "", coins] = entry.note.split("; its ")
  const reason = NOTES.get(text)
  if (reason === undefined) return entry
  const [coinsIn] = (["name_new", "name_firstupdate"] as const).filter((place) => coins?.split(" ")[0] === place)
  return { ...entry, note: "", failure: { reason, ...coinsIn === undefined ? {} : { coinsIn } } }
}
