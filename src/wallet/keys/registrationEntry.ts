import * as Schema from "effect/Schema"
import { hexBytes, LONGEST_TEXT, omittable, orUndefined, Seconds, ShortText } from "./documentParts.ts"

/** The registrations and requested renewals of wallet.json. */

/** Why a registration failed. */
export const RegistrationFailure = Schema.Literal(
  /** Another owner has registered the name. */
  "taken",
  /** The owner abandoned its NAME_NEW. */
  "abandoned",
  /** A confirmed transaction spends the coins of its NAME_NEW. */
  "conflicted",
  /** The owner called it off. */
  "cancelled"
)
export type RegistrationFailure = typeof RegistrationFailure.Type

/** A registration under way or ended: `Registration` and its request. Bytes are in hexadecimal. */
export const RegistrationEntry = Schema.Struct({
  name: hexBytes(LONGEST_TEXT),
  rand: hexBytes(LONGEST_TEXT),
  value: orUndefined(hexBytes(LONGEST_TEXT)),
  newTxid: hexBytes(32, true),
  newVout: Schema.NonNegativeInt,
  firstUpdateTxid: orUndefined(hexBytes(32, true)),
  step: Schema.Literal("committed", "maturing", "revealed", "done", "failed"),
  /** What it waits for; empty once it has ended, but for a failure of which 0.1.0 kept other words. */
  note: ShortText,
  /** Only of a failed one. */
  failure: orUndefined(Schema.Struct({
    reason: RegistrationFailure,
    /** Its transaction that still has coins of the wallet. */
    coinsIn: omittable(Schema.Literal("name_new", "name_firstupdate"))
  })),
  createdAt: Seconds,
  /** The script of the future owner; if omitted, a script of the wallet. */
  destination: omittable(hexBytes(LONGEST_TEXT)),
  feeRate: omittable(Schema.NonNegativeInt),
  target: omittable(Schema.NonNegativeInt),
  conservative: omittable(Schema.Boolean)
})
export type RegistrationEntry = typeof RegistrationEntry.Type

/** A name that is renewed for its owner's request (`name_renew`). */
export const RenewalEntry = Schema.Struct({
  name: hexBytes(LONGEST_TEXT),
  /** Height of the operation whose record expires: a later one ends the request. */
  height: Schema.NonNegativeInt,
  state: Schema.Literal("waiting", "sent", "done", "skipped"),
  /** The NAME_UPDATE, once sent. */
  txid: omittable(hexBytes(32, true)),
  note: ShortText,
  createdAt: Seconds
})
export type RenewalEntry = typeof RenewalEntry.Type

/** Maximum number of requested renewals. */
export const MAX_RENEWALS = 10_000

/** Notes of failed registrations in files of 0.1.0, which have them in place of `failure`: each begins with one of these. */
const NOTES: ReadonlyArray<readonly [text: string, reason: RegistrationFailure]> = [
  ["somebody else has registered the name", "taken"],
  ["its name_new was abandoned", "abandoned"],
  ["its name_new can never be confirmed", "conflicted"],
  ["called off by the owner", "cancelled"]
]

/** Returns an entry with its failure, if it has only the note of one. */
export const withFailure = (entry: RegistrationEntry): RegistrationEntry => {
  const { failure, note, step } = entry
  if (step !== "failed" || failure !== undefined) return entry
  const [text, reason] = NOTES.find(([text]) => note.startsWith(text)) ?? []
  if (text === undefined || reason === undefined) return entry
  const coins = note.slice(text.length)
  const coinsIn = coins.startsWith("; its name_new") ? "name_new" : "name_firstupdate"
  return { ...entry, note: "", failure: { reason, ...coins.startsWith("; its name_") ? { coinsIn } : {} } }
}
