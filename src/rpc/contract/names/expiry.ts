import * as Schema from "effect/Schema"
import { EXPIRATION_DEPTH } from "../../../consensus/expiry.ts"
import { MAX_NAME_LENGTH } from "../../../consensus/names.ts"
import { namesContract } from "../../method/contract.ts"
import {
  asArgument,
  boolean,
  int32,
  namedOptions,
  notNull,
  object,
  optional,
  orEmpty,
  string,
  withDefault
} from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { NAME_OUTPUT_MEMBERS, NAME_TEXT_MEMBERS, OUTLOOK_MEMBERS } from "../../shapes/name.ts"
import { MOST_FOUND, NEEDS_ALL } from "./find.ts"
import { ENCODINGS, NAMES } from "./nameParams.ts"

/** Four weeks, in which an owner should renew. */
const USUAL_BLOCKS = 4_032

const USUAL_NAMES = 100

const EXPIRING_NAME = Schema.Struct({
  ...NAME_OUTPUT_MEMBERS,
  height: Result.integer("Height of the operation"),
  expires_in: Result.integer("Blocks until the record expires"),
  expires_at: Result.integer("First height at which the record is expired"),
  expires_about: Result.time("Estimated time of the expiry"),
  mine: Result.boolean("Whether a loaded wallet has the address"),
  watched: Result.boolean("Whether the name is in the list of name_watch"),
  autorenew: Schema.optional(
    Result.boolean("Whether the wallet renews it automatically (name_autorenew); missing for names of others")
  ),
  pending: Result.boolean("Whether an operation on the name, such as its renewal, is unconfirmed"),
  outlook: Schema.optional(
    Schema.Struct(OUTLOOK_MEMBERS).annotations({
      description: "What becomes of a name of a wallet; missing for names of others, and while the node is syncing"
    })
  )
})

const EXPIRING = Schema.Struct({
  names: Schema.Array(EXPIRING_NAME).annotations({ description: "The first to expire first" }),
  next: Schema.optional(
    Result.string("Start of the next page; missing on the last one. A page may have fewer names than the limit")
  ),
  complete: Result.boolean("Whether all blocks are known; otherwise there may be other names")
})

export const WATCHED_NAME = Schema.Struct({
  ...NAME_TEXT_MEMBERS,
  configured: Result.boolean("Whether it comes from the settings (-watch); otherwise a caller added it"),
  height: Schema.optional(Result.integer("Height of the last operation; missing if the name was never registered")),
  expires_in: Schema.optional(Result.integer("Blocks until the record expires; 0 or less if it has expired"))
})

/** Per call. */
export const MOST_NAMES = 1_000

const GIVEN_NAMES = NAMES(`The names to add or to remove, up to ${MOST_NAMES}; a text is one name.`)

export const NAME_EXPIRING = namesContract({
  name: "name_expiring",
  coins: "any",
  right: "names",
  summary:
    "Lists names that expire soon, first to expire first: of all owners, of one owner, of the loaded wallets, or of " +
    "the watch list; with mine and watched, of both. For the next page, pass next as cursor.",
  params: {
    query: orEmpty(namedOptions({
      blocks: withDefault(
        int32(`Lists names that expire within this number of blocks, up to ${EXPIRATION_DEPTH}.`),
        USUAL_BLOCKS
      ),
      owner: optional(string("The owner's address.")),
      mine: withDefault(boolean("Whether to list names of the loaded wallets."), false),
      watched: withDefault(boolean("Whether to list watched names."), false),
      limit: withDefault(int32(`Maximum number of names, up to ${MOST_FOUND}.`), USUAL_NAMES),
      cursor: optional(string("next of the previous page, with the same conditions.")),
      ...ENCODINGS
    }, "The conditions."))
  },
  results: [{ schema: EXPIRING }],
  examples: [[], [{ mine: true, watched: true }], [{ blocks: 144, limit: 10 }]],
  errors: [
    `-1 ${NEEDS_ALL}`,
    `-8 blocks must be from 1 to ${EXPIRATION_DEPTH}`,
    `-8 limit must be from 1 to ${MOST_FOUND}`,
    "-8 owner cannot be given with mine or watched",
    "-8 the cursor is not one of this query: pass back next with the same conditions",
    "-5 invalid address"
  ]
})

export const NAME_WATCH = namesContract({
  name: "name_watch",
  coins: "any",
  right: "names",
  writes: true,
  summary: "Returns the watch list, the names whose expiry the node announces. Can add or remove names first. " +
    "The names may belong to other owners or be unregistered. The list is kept across restarts.",
  params: {
    command: withDefault(string("list, add or remove."), "list"),
    names: asArgument("json or text", optional(GIVEN_NAMES)),
    options: orEmpty(notNull(object({ nameEncoding: ENCODINGS.nameEncoding }, "Options.")))
  },
  results: [{ schema: Schema.Array(WATCHED_NAME) }],
  examples: [[], ["add", ["d/example"]], ["remove", "d/example"]],
  errors: [
    "-8 command must be one of list, add, remove",
    "-8 add and remove need names",
    `-8 at most ${MOST_NAMES} names are allowed in one call`,
    `-8 a name has from 1 to ${MAX_NAME_LENGTH} bytes`,
    "-8 10000 names can be watched; remove some first",
    "-8 the settings have this name: remove its watch= line from svcd.conf, or the flag -watch, and restart",
    "-1000 Name/value is invalid for encoding <encoding>"
  ]
})
