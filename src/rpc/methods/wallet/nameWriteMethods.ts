import * as Effect from "effect/Effect"
import { type Bytes, displayHash, EMPTY, toHex } from "../../../protocol/bytes.ts"
import { parseNameScript } from "../../../protocol/nameOperation.ts"
import { nameField } from "../../../protocol/nameText.ts"
import type { Transaction } from "../../../protocol/transaction.ts"
import { lintWarnings } from "../../../values/lint.ts"
import type { NameFailure } from "../../../wallet/names/WalletNames.ts"
import { NAME_FIRSTUPDATE, NAME_NEW, NAME_NEW_NOT_FOUND, NAME_UPDATE } from "../../contract/wallet/nameWrite.ts"
import type { Method } from "../../method/methodTable.ts"
import { RpcError } from "../../method/RpcError.ts"
import { nameError, type NameMethodParts, nameWriteReader } from "./nameOptions.ts"
import { walletMethod } from "./walletContext.ts"

/** Upstream `wallet/rpc/walletnames.cpp` (reference/rpc.md 3.3, 5.7, 5.8). */

interface SentName {
  readonly name: Bytes
  readonly value: Bytes
  readonly wanted: boolean
}

/** An update without a value sets the current one again. */
const valueSetBy = ({ outputs }: Transaction): Bytes => {
  for (const { script } of outputs) {
    const operation = parseNameScript(script)?.operation
    if (operation !== undefined && operation.op !== "name_new") return operation.value
  }
  return EMPTY
}

/** Logs the warnings and returns the answer. */
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

  const name_new = define(NAME_NEW, ({ name: text, options: given }, wallet) =>
    Effect.gen(function*() {
      const { allowExisting } = given
      const { name, options } = yield* read({ name: text, options: given })
      if (allowExisting !== true) yield* known.active(name)
      const request = { ...options, ...(allowExisting === undefined ? {} : { allowExisting }) }
      const { rand, transaction } = yield* Effect.mapError(wallet.names.nameNew(name, request), nameError)
      return [displayHash(transaction.txid), toHex(rand)]
    }))

  const name_firstupdate = define(
    NAME_FIRSTUPDATE,
    ({ allow_active, name: text, options: given, rand, tx, value: valueText }, wallet) =>
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
        // A txid of zeros means that the reference node found no commitment.
        const isNone = txid !== undefined && txid.every((byte) => byte === 0)
        return yield* Effect.mapError(
          Effect.flatMap(
            sent(sending),
            (transaction) => warned(displayHash(transaction.txid), { name, value, wanted: given.warnings === true })
          ),
          (failure) =>
            isNone && failure._tag === "NameOperationRefused" && failure.code === "no-new"
              ? RpcError.verifyError(NAME_NEW_NOT_FOUND)
              : failure
        )
      })
  )

  const name_update = define(
    NAME_UPDATE,
    ({ name: text, options: given, value: valueText }, wallet) =>
      Effect.gen(function*() {
        const { name, options, value } = yield* read({ name: text, value: valueText, options: given })
        const updated = sent(wallet.names.nameUpdate({ ...options, name, value }))
        const wanted = given.warnings === true
        return yield* known.orUnknown(
          Effect.flatMap(updated, (transaction) =>
            warned(displayHash(transaction.txid), { name, value: value ?? valueSetBy(transaction), wanted }))
        )
      })
  )

  return [name_new, name_firstupdate, name_update]
}
