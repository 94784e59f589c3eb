import * as Schema from "effect/Schema"
import { namesContract } from "../../method/contract.ts"
import { asArgument, boolean, notNull, object, optional, orEmpty, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { NAME_TEXT_MEMBERS, OUTLOOK_MEMBERS } from "../../shapes/name.ts"
import { ENCODINGS, NAMES } from "../names/nameParams.ts"

/** Names of one answer or call. */
export const MOST_ALERTS = 1_000

const ALERT = Schema.Struct({
  ...NAME_TEXT_MEMBERS,
  wallet: Result.string("The wallet; empty for the default one"),
  expires_in: Result.integer("Blocks until the record expires; 0 or less if it has expired"),
  ...OUTLOOK_MEMBERS
})

const ALERTS = Schema.Struct({
  names: Schema.Array(ALERT).annotations({ description: "The most urgent first, then the first to expire" }),
  more: Schema.optional(Result.integer(`Names left out beyond ${MOST_ALERTS}; missing without any`)),
  complete: Result.boolean("Whether all blocks are known; otherwise a name may have been renewed since")
})

const GIVEN_NAMES = NAMES(`The names, up to ${MOST_ALERTS}; a text is one name.`)

export const NAME_ALERTS = namesContract({
  name: "name_alerts",
  coins: "any",
  right: "names",
  heavy: true,
  summary:
    "Lists the names in danger, of the wallet in the path or of all loaded wallets: those about to expire without a " +
    "renewal, and expired ones. name_list has the same for each name of a wallet.",
  params: {
    options: orEmpty(notNull(object({
      nameEncoding: ENCODINGS.nameEncoding,
      all: withDefault(boolean("Whether to include notices, and what the owner has acknowledged."), false)
    }, "Options.")))
  },
  results: [{ schema: ALERTS }],
  examples: [[], [{ all: true }]]
})

export const NAME_ACKNOWLEDGE = namesContract({
  name: "name_acknowledge",
  coins: "any",
  right: "names",
  writes: true,
  summary: "Acknowledges names in danger: warnings about them stop until something else happens " +
    "to them. Applies to the wallet in the path, or to all loaded wallets. Returns the names of the warnings.",
  params: {
    names: asArgument("json or text", optional(GIVEN_NAMES, "all names in danger")),
    options: orEmpty(notNull(object({ nameEncoding: ENCODINGS.nameEncoding }, "Options.")))
  },
  results: [{ schema: Schema.Array(Schema.Struct(NAME_TEXT_MEMBERS)) }],
  examples: [[], ["d/example"]],
  errors: [
    `-8 at most ${MOST_ALERTS} names are allowed in one call`,
    "-8 the name is too long",
    "-1000 Name/value is invalid for encoding <encoding>"
  ]
})
