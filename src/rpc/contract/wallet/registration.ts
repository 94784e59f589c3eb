import * as Schema from "effect/Schema"
import { namesContract } from "../../method/contract.ts"
import { asArgument, boolean, notNull, object, optional, orEmpty, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { NAME_TEXT_MEMBERS, REGISTRATION_MEMBERS } from "../../shapes/name.ts"
import { ENCODINGS } from "../names/nameParams.ts"
import { NOT_KNOWN_YET, WRITE_ERRORS, WRITE_OPTIONS } from "./walletParams.ts"

export const RENEWALS = Schema.Struct({
  all: Result.boolean("Whether the wallet renews all names before they expire"),
  names: Schema.Array(Schema.Struct(NAME_TEXT_MEMBERS)).annotations({
    description: "Names that the wallet always renews"
  }),
  except: Schema.optional(
    Schema.Array(Schema.Struct(NAME_TEXT_MEMBERS)).annotations({
      description: "Names whose renewal the owner switched off: neither renewed with all others, nor included in " +
        "name_renew all; missing if none"
    })
  )
})

const LISTED = Schema.Struct({
  ...REGISTRATION_MEMBERS,
  blocks_left: Schema.optional(
    Result.integer(
      "Minimum number of blocks until the next step. 0: now, or name_firstupdate may follow a lone name_new. Missing if it " +
        "has ended, or if the wallet does not have the coin of a lone name_new"
    )
  )
})

const NAME_OPTIONS = orEmpty(notNull(object({ nameEncoding: ENCODINGS.nameEncoding }, "Options.")))

export const NAME_AUTOREGISTER = namesContract({
  name: "name_autoregister",
  right: "names",
  writes: true,
  summary:
    "Registers a name with one call: sends name_new now, and name_firstupdate as soon as the commitment is deep " +
    "enough, even after a restart. An encrypted wallet must be unlocked at both times.",
  params: {
    name: string("The name."),
    value: optional(string("The value."), "\"\""),
    options: orEmpty(notNull(object({
      ...ENCODINGS,
      ...WRITE_OPTIONS,
      autorenew: optional(
        boolean("Whether the wallet renews the name before it expires."),
        "true, false with -noautorenew or for another owner"
      )
    }, "Options.")))
  },
  results: [{
    schema: Schema.Struct({
      ...REGISTRATION_MEMBERS,
      autorenew: Result.boolean("Whether the wallet renews the name before it expires"),
      warnings: Schema.optional(
        Schema.Array(Result.string("A warning")).annotations({
          description: "Warnings about the name, the value, and a wallet without a backup"
        })
      )
    })
  }],
  examples: [["d/example", "{\"ip\":\"192.0.2.1\"}"]],
  errors: [
    "-8 the value is too long",
    "-25 this name exists already",
    NOT_KNOWN_YET,
    "-25 this name is already being registered",
    ...WRITE_ERRORS
  ]
})

export const NAME_REGISTRATIONS = namesContract({
  name: "name_registrations",
  coins: "any",
  right: "names",
  summary: "Lists the registrations of the wallet and their progress, including those started by name_new.",
  params: { options: orEmpty(notNull(object(ENCODINGS, "Options."))) },
  results: [{ schema: Schema.Array(LISTED) }],
  examples: [[]]
})

export const NAME_CANCEL = namesContract({
  name: "name_cancel",
  coins: "any",
  right: "names",
  writes: true,
  summary:
    "Cancels a registration before its name_firstupdate is sent, or a renewal of name_renew before its name_update " +
    "is sent. Sent transactions stay valid.",
  params: { name: string("The name."), options: NAME_OPTIONS },
  results: [{
    schema: Schema.Struct({ cancelled: Result.oneOf("What was cancelled", "registration", "renewal") })
  }],
  examples: [["d/example"]],
  errors: ["-4 <reason why it cannot be cancelled>", "-1000 Name/value is invalid for encoding <encoding>"]
})

export const NAME_AUTORENEW = namesContract({
  name: "name_autorenew",
  coins: "any",
  right: "names",
  writes: true,
  summary: "Returns which names the wallet renews before they expire. With \"on\", changes the setting of one " +
    "name or of all names. A name that is switched off stays an exception, even for name_renew all, until all names are set again. Switching " +
    "off cancels unsent renewals of name_renew; for all names, even those that name_renew named. " +
    "An encrypted wallet must be unlocked at the time of a renewal. A wallet without private keys makes a PSBT in " +
    "time, which name_renewals lists and another machine signs.",
  params: {
    name: asArgument("text or null", optional(string("The name; null for all."), "all names")),
    on: optional(boolean("Whether the wallet renews it."), "nothing is changed"),
    options: NAME_OPTIONS
  },
  results: [{ schema: RENEWALS }],
  examples: [[], ["d/example", true]],
  errors: [
    "-8 the name is too long",
    "-4 the wallet neither owns nor registers this name",
    "-1000 Name/value is invalid for encoding <encoding>"
  ]
})
