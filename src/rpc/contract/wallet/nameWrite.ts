import * as Schema from "effect/Schema"
import { MIN_FIRSTUPDATE_DEPTH } from "../../../consensus/names.ts"
import { namesContract } from "../../method/contract.ts"
import { boolean, hex, hexText, notNull, object, optional, orEmpty, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { ENCODINGS } from "../names/nameParams.ts"
import { NOT_KNOWN_YET, WRITE_ERRORS, WRITE_OPTIONS } from "./walletParams.ts"

const TXID = "a77ceb22aa03304b7de64ec43328974aeaca211c37dd29dcce4ae461bb80ca84"

const SALT = "f3fcc8b6a24efa486cfba479d37227f7f623c1cf"

export const NAME_NEW_NOT_FOUND = "scan for previous txid failed"

const TRANSACTION_ID = Result.hex("The transaction")

/** On request only: the reference node's answer is a txid, without room for warnings. */
const WARNINGS = {
  warnings: optional(
    boolean("Whether to return an object, with the warnings of name_lint about name and value."),
    "false"
  )
}

/** In place of error -4 of a wallet without private keys. */
const UNSIGNED = optional(
  boolean("Whether to return a PSBT for another machine to sign, without sending anything."),
  "true without private keys"
)

const PSBT_WHEN = "psbt is true, or the wallet has no private keys"

const PSBT_MEMBERS = {
  psbt: Result.string(
    "The unsigned transaction in base64, with the outputs that it spends and the key origins of the wallet. Once " +
      "signed, sendpsbt sends it"
  ),
  fee: Result.amount("Its fee"),
  changepos: Result.integer("Position of the change output, or -1")
}

const NAME_WARNINGS = Schema.Array(
  Result.string("A warning, as in name_lint; it did not stop the transaction")
)

const DRAFTED = {
  when: PSBT_WHEN,
  schema: Schema.Struct({ ...PSBT_MEMBERS, warnings: Schema.optional(NAME_WARNINGS) })
}

const SENT = [
  DRAFTED,
  {
    when: "warnings is true",
    schema: Schema.Struct({
      txid: TRANSACTION_ID,
      warnings: NAME_WARNINGS
    })
  },
  { when: "otherwise", schema: TRANSACTION_ID }
]

export const NAME_NEW = namesContract({
  name: "name_new",
  right: "names",
  writes: true,
  summary: "Starts the registration of a name: commits to it without revealing it. name_firstupdate completes it, " +
    `at the earliest ${MIN_FIRSTUPDATE_DEPTH} blocks after the commitment is mined.`,
  params: {
    name: string("The name."),
    options: orEmpty(notNull(object({
      nameEncoding: ENCODINGS.nameEncoding,
      ...WRITE_OPTIONS,
      allowExisting: optional(boolean("Whether to continue if the name exists."), "false"),
      psbt: UNSIGNED
    }, "Options.")))
  },
  results: [
    {
      when: PSBT_WHEN,
      schema: Schema.Struct({
        ...PSBT_MEMBERS,
        rand: Result.hex(
          "The salt of the commitment. The wallet keeps it: name_firstupdate finds it once the signed transaction is sent"
        )
      })
    },
    { when: "otherwise", schema: Schema.Array(Result.hex("The transaction, then the salt of the commitment")) }
  ],
  examples: [["d/example"], ["d/example", { allowExisting: true }]],
  errors: ["-25 this name exists already", NOT_KNOWN_YET, ...WRITE_ERRORS]
})

export const NAME_FIRSTUPDATE = namesContract({
  name: "name_firstupdate",
  right: "names",
  writes: true,
  summary: "Completes the registration of a name: reveals it and sets its value. The wallet finds the commitment and " +
    `the salt if they are omitted. The transaction is valid from ${MIN_FIRSTUPDATE_DEPTH} blocks after the commitment on.`,
  params: {
    name: string("The name."),
    rand: optional(hex("The salt of the commitment."), "from the wallet"),
    tx: optional(hexText("The transaction of name_new."), "from the wallet"),
    value: optional(string("The value."), "\"\""),
    options: orEmpty(notNull(object({ ...ENCODINGS, ...WRITE_OPTIONS, ...WARNINGS, psbt: UNSIGNED }, "Options."))),
    allow_active: optional(boolean("Whether to continue if the name is active; for tests."), "false")
  },
  results: SENT,
  examples: [["d/example"], ["d/example", SALT, TXID, "{\"ip\":\"192.0.2.1\"}"]],
  errors: [
    "-8 the value is too long",
    "-8 invalid rand value",
    "-8 rand must be hexadecimal string (not '<x>')",
    "-8 invalid txid",
    "-25 this name is already being registered",
    "-25 this name is already active",
    NOT_KNOWN_YET,
    `-25 ${NAME_NEW_NOT_FOUND}`,
    "-25 previous txid not found",
    "-25 could not generate rand for txid",
    "-25 generated rand for txid does not match",
    "-25 previous tx is not name_new",
    "-25 rand value is wrong",
    "-6 Not found pre-selected input COutPoint(<txid start>, <n>)",
    ...WRITE_ERRORS
  ]
})

export const NAME_UPDATE = namesContract({
  name: "name_update",
  right: "names",
  writes: true,
  summary: "Changes the value of a name, transfers it to another owner, or renews it: the block of the transaction " +
    "starts a new expiry period.",
  params: {
    name: string("The name."),
    value: optional(string("The value."), "the current value"),
    options: orEmpty(notNull(object({ ...ENCODINGS, ...WRITE_OPTIONS, ...WARNINGS, psbt: UNSIGNED }, "Options.")))
  },
  results: SENT,
  examples: [
    ["d/example"],
    ["d/example", "{\"ip\":\"192.0.2.1\"}"],
    ["d/example", "{\"ip\":\"192.0.2.1\"}", { warnings: true }]
  ],
  errors: [
    "-8 the value is too long",
    "-25 this name can not be updated",
    NOT_KNOWN_YET,
    "-25 there are already too many pending operations on this name",
    "-6 Not found pre-selected input COutPoint(<txid start>, <n>)",
    ...WRITE_ERRORS
  ]
})
