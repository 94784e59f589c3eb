import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Bytes, displayHash, EMPTY, toHex } from "../../../protocol/bytes.ts"
import { parseNameScript } from "../../../protocol/nameOperation.ts"
import { nameField } from "../../../protocol/nameText.ts"
import type { Transaction } from "../../../protocol/transaction.ts"
import { lintWarnings } from "../../../values/lint.ts"
import type { NameFailure } from "../../../wallet/names/WalletNames.ts"
import type { Method } from "../../method/methodTable.ts"
import { boolean, hex, hexText, notNull, object, optional, orEmpty, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { ENCODINGS } from "../nameEncodings.ts"
import {
  nameError,
  type NameMethodParts,
  nameWriteReader,
  NOT_KNOWN_YET,
  WRITE_ERRORS,
  WRITE_OPTIONS
} from "./nameOptions.ts"
import { walletMethod } from "./walletContext.ts"

/** The three operations on names (reference/rpc.md 3.3, 5.7, 5.8). Upstream `wallet/rpc/walletnames.cpp`. */

const TXID = "a77ceb22aa03304b7de64ec43328974aeaca211c37dd29dcce4ae461bb80ca84"
const SALT = "f3fcc8b6a24efa486cfba479d37227f7f623c1cf"

const NOT_FOUND = "scan for previous txid failed"

const TRANSACTION_ID = Result.hex("The transaction")

/** The reference node answers with a txid, which has no room for warnings: a caller that wants them says so. */
const WARNINGS = {
  warnings: optional(
    boolean("Whether to return an object, with the warnings of name_lint about name and value."),
    "false"
  )
}

const SENT = [
  {
    when: "warnings is true",
    schema: Schema.Struct({
      txid: TRANSACTION_ID,
      warnings: Schema.Array(Result.string("A warning, as in name_lint; none of them stopped the transaction"))
    })
  },
  { when: "otherwise", schema: TRANSACTION_ID }
]

interface SentName {
  readonly name: Bytes
  readonly value: Bytes
  /** Whether the caller asked for the warnings. */
  readonly wanted: boolean
}

/** The value that a transaction sets: an update without a value sets the one that the name has. */
const valueSetBy = ({ outputs }: Transaction): Bytes => {
  for (const { script } of outputs) {
    const operation = parseNameScript(script)?.operation
    if (operation !== undefined && operation.op !== "name_new") return operation.value
  }
  return EMPTY
}

/** Logs what is unusual, and returns the answer. */
const warned = (txid: string, { name, value, wanted }: SentName) =>
  Effect.gen(function*() {
    const warnings = lintWarnings(name, value)
    yield* Effect.forEach(
      warnings,
      (warning) => Effect.logWarning("unusual name or value sent", { name: nameField(name), warning }),
      { discard: true }
    )
    return wanted ? { txid, warnings } : txid
  })

export const makeNameWriteMethods = (
  { chain, known, node, wallets }: NameMethodParts
): ReadonlyArray<Method> => {
  const define = walletMethod(wallets)
  const read = nameWriteReader(chain.params.network, node)

  const sent = (sending: Effect.Effect<Transaction, NameFailure>) => Effect.mapError(sending, nameError)

  const name_new = define({
    name: "name_new",
    right: "names",
    writes: true,
    group: "Names",
    summary: "Starts the registration of a name: commits to it without revealing it. name_firstupdate finishes it, " +
      "at the earliest 12 blocks after the commitment is mined.",
    params: {
      name: string("The name."),
      options: orEmpty(notNull(object({
        nameEncoding: ENCODINGS.nameEncoding,
        ...WRITE_OPTIONS,
        allowExisting: optional(boolean("Whether to continue if the name exists."), "false")
      }, "Options.")))
    },
    results: [{ schema: Schema.Array(Result.hex("The transaction, then the salt of the commitment")) }],
    examples: [["d/example"], ["d/example", { allowExisting: true }]],
    errors: ["-25 this name exists already", NOT_KNOWN_YET, ...WRITE_ERRORS],
    handler: ({ name: text, options: given }, wallet) =>
      Effect.gen(function*() {
        const { allowExisting } = given
        const { name, options } = yield* read({ name: text, options: given })
        if (allowExisting !== true) yield* known.active(name)
        const request = { ...options, ...(allowExisting === undefined ? {} : { allowExisting }) }
        const { rand, transaction } = yield* Effect.mapError(wallet.names.nameNew(name, request), nameError)
        return [displayHash(transaction.txid), toHex(rand)]
      })
  })

  const name_firstupdate = define({
    name: "name_firstupdate",
    right: "names",
    writes: true,
    group: "Names",
    summary:
      "Finishes the registration of a name: reveals it and sets its value. The wallet finds the commitment and " +
      "the salt if they are omitted. The transaction is valid from 12 blocks after the commitment on.",
    params: {
      name: string("The name."),
      rand: optional(hex("The salt of the commitment."), "from the wallet"),
      tx: optional(hexText("The transaction of name_new."), "from the wallet"),
      value: optional(string("The value."), "\"\""),
      options: orEmpty(notNull(object({ ...ENCODINGS, ...WRITE_OPTIONS, ...WARNINGS }, "Options."))),
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
      `-25 ${NOT_FOUND}`,
      "-25 previous txid not found",
      "-25 could not generate rand for txid",
      "-25 generated rand for txid does not match",
      "-25 previous tx is not name_new",
      "-25 rand value is wrong",
      "-6 Not found pre-selected input COutPoint(<txid start>, <n>)",
      ...WRITE_ERRORS
    ],
    handler: ({ allow_active, name: text, options: given, rand, tx, value: valueText }, wallet) =>
      Effect.gen(function*() {
        const { name, options, txid, value = EMPTY } = yield* read({
          name: text,
          rand,
          value: valueText,
          tx,
          options: given
        })
        if (allow_active !== true) yield* known.active(name)
        const sending = wallet.names.nameFirstUpdate({
          ...options,
          name,
          rand,
          txid,
          value,
          ...(allow_active === undefined ? {} : { allowActive: allow_active })
        })
        // A txid of all zeros means that the reference node found no commitment.
        const isNone = txid !== undefined && txid.every((byte) => byte === 0)
        return yield* Effect.mapError(
          Effect.flatMap(
            sent(sending),
            (transaction) => warned(displayHash(transaction.txid), { name, value, wanted: given.warnings === true })
          ),
          (failure) =>
            isNone && failure._tag === "NameOperationRefused" && failure.code === "no-new"
              ? RpcError.verifyError(NOT_FOUND)
              : failure
        )
      })
  })

  const name_update = define({
    name: "name_update",
    right: "names",
    writes: true,
    group: "Names",
    summary: "Changes the value of a name, transfers it to another owner, or renews it: the block of the transaction " +
      "starts a new expiry period.",
    params: {
      name: string("The name."),
      value: optional(string("The value."), "the current value"),
      options: orEmpty(notNull(object({ ...ENCODINGS, ...WRITE_OPTIONS, ...WARNINGS }, "Options.")))
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
    ],
    handler: ({ name: text, options: given, value: valueText }, wallet) =>
      Effect.gen(function*() {
        const { name, options, value } = yield* read({ name: text, value: valueText, options: given })
        const updated = sent(wallet.names.nameUpdate({ ...options, name, value }))
        const wanted = given.warnings === true
        return yield* known.orUnknown(Effect.flatMap(updated, (transaction) =>
          warned(displayHash(transaction.txid), { name, value: value ?? valueSetBy(transaction), wanted })))
      })
  })

  return [name_new, name_firstupdate, name_update]
}
