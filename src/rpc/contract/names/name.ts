import * as Schema from "effect/Schema"
import { namesContract } from "../../method/contract.ts"
import { boolean, int32, notNull, object, optional, orEmpty, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { NAME_INFO } from "../../shapes/name.ts"
import { ENCODINGS, PROOF_ERRORS, REQUIRE_PROOF } from "./nameParams.ts"

const BY_HASH = optional(string("\"sha256d\" if the name is given as its double SHA-256."), "\"direct\"")

const HASH_ERRORS = [
  "-4 name hash not found: <hash>",
  "-1 -namehashindex is not enabled",
  "-8 Invalid value for byHash: <x>",
  "-8 SHA-256d hash must be 32 bytes long"
]

/** While names.db has only the records at the base block of a snapshot. */
export const incompleteHistory = (base: number | string): string =>
  `The history of names before block ${base} is not known: the node started from a snapshot of that block. ` +
  "name_show has the current record"

export const NAME_SHOW = namesContract({
  name: "name_show",
  right: "read",
  summary: "Returns the current record of a name.",
  params: {
    name: string("The name."),
    options: orEmpty(notNull(object({
      ...ENCODINGS,
      byHash: BY_HASH,
      allowExpired: optional(boolean("Whether to return an expired name."), "the node's setting"),
      requireProof: REQUIRE_PROOF
    }, "Options.")))
  },
  results: [{ schema: NAME_INFO }],
  examples: [["d/example"], ["d/example", { valueEncoding: "hex" }]],
  errors: [
    "-10 Namecoin is downloading blocks...",
    "-4 name never existed: 'd/example'",
    "-4 name expired: 'd/example'",
    ...HASH_ERRORS,
    ...PROOF_ERRORS,
    "-1000 Name/value is invalid for encoding ascii"
  ]
})

export const NAME_HISTORY = namesContract({
  name: "name_history",
  right: "read",
  summary: "Returns all records of a name, oldest first.",
  params: {
    name: string("The name."),
    options: orEmpty(notNull(object({ ...ENCODINGS, byHash: BY_HASH }, "Options.")))
  },
  results: [{ schema: Schema.Array(NAME_INFO) }],
  examples: [["d/example"]],
  errors: [
    "-1 -namehistory is not enabled",
    `-1 ${incompleteHistory("<n>")}`,
    "-10 Namecoin is downloading blocks...",
    "-4 name not found: 'd/example'",
    ...HASH_ERRORS,
    "-1000 Name/value is invalid for encoding ascii"
  ]
})

export const NAME_SCAN = namesContract({
  name: "name_scan",
  right: "read",
  heavy: true,
  summary: "Lists names with their records, expired ones included, by length and then by bytes. For the next page, " +
    "pass the last name of the previous page as start, and drop the first result.",
  params: {
    start: withDefault(string("The name to start with; it need not exist."), ""),
    count: withDefault(int32("Maximum number of names."), 500),
    options: orEmpty(notNull(object({
      ...ENCODINGS,
      minConf: withDefault(int32("Minimum confirmations of the last update."), 1),
      maxConf: optional(int32("Maximum confirmations of the last update.")),
      prefix: optional(string("Prefix of the names.")),
      regexp: optional(string("Regular expression that the name must contain.")),
      requireProof: REQUIRE_PROOF
    }, "Options.")))
  },
  results: [{ schema: Schema.Array(NAME_INFO) }],
  examples: [[], ["d/", 10, { prefix: "d/" }]],
  errors: [
    "-8 minConf must be >= 1",
    "-8 maxConf must not be negative",
    "-1 error parsing regexp: ...",
    "-1 the regular expression is too large",
    "-1 The answer would be too large: request fewer names at a time",
    "-10 Namecoin is downloading blocks...",
    ...PROOF_ERRORS,
    "-1000 Name/value is invalid for encoding ascii"
  ],
  // A search may take long: ends when the caller disconnects.
  waits: true
})

export const NAME_CHECKDB = namesContract({
  name: "name_checkdb",
  right: "read",
  summary: "Checks that the index of names, the claims and the coins of the chain agree.",
  params: {},
  results: [{ schema: Result.boolean("Whether they agree") }],
  examples: [[]],
  errors: ["-1 names.db and the chain are at different blocks: one of them is being rebuilt"]
})
