import * as Effect from "effect/Effect"
import { type Bytes, displayHash, EMPTY, toHex } from "../../../protocol/bytes.ts"
import { parseNameScript } from "../../../protocol/nameOperation.ts"
import { nameField } from "../../../protocol/nameText.ts"
import type { Transaction } from "../../../protocol/transaction.ts"
import { lintWarnings } from "../../../values/lint.ts"
import type { NameDraft, NameFailure } from "../../../wallet/names/WalletNames.ts"
import { psbtText } from "../../../wallet/signing/psbtText.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { NAME_FIRSTUPDATE, NAME_NEW, NAME_NEW_NOT_FOUND, NAME_UPDATE } from "../../contract/wallet/nameWrite.ts"
import { Amount } from "../../json/encodeJson.ts"
import type { Method } from "../../method/methodTable.ts"
import { RpcError } from "../../method/RpcError.ts"
import { nameError, type NameMethodParts, nameWriteReader } from "./nameOptions.ts"
import { walletMethod } from "./walletContext.ts"
import { walletPsbt } from "./walletPsbt.ts"

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

const isDraft = (wallet: Wallet, { psbt }: { readonly psbt?: boolean | undefined }): boolean =>
  psbt ?? !wallet.keys.hasPrivateKeys

/** With the transactions that it spends, because the signing machine has no chain. */
const psbtAnswer = (wallet: Wallet, draft: NameDraft) =>
  Effect.map(walletPsbt(wallet, draft, { sign: false, derivations: true }), ({ psbt }) => ({
    psbt: psbtText(psbt),
    fee: new Amount(draft.fee),
    changepos: draft.changePosition
  }))

const drafted = (wallet: Wallet, draft: NameDraft, { name, value, wanted }: SentName) =>
  Effect.map(psbtAnswer(wallet, draft), (answer) => (
    wanted ? { ...answer, warnings: lintWarnings(name, value) } : answer
  ))

export const makeNameWriteMethods = (
  { chain, known, node, wallets }: NameMethodParts
): ReadonlyArray<Method> => {
  const define = walletMethod(wallets)
  const read = nameWriteReader(chain.params.network, node)

  const named = <A>(work: Effect.Effect<A, NameFailure>) => Effect.mapError(work, nameError)

  const name_new = define(NAME_NEW, ({ name: text, options: given }, wallet) =>
    Effect.gen(function*() {
      const { allowExisting } = given
      const { name, options } = yield* read({ name: text, options: given })
      if (allowExisting !== true) yield* known.active(name)
      const request = { ...options, ...(allowExisting === undefined ? {} : { allowExisting }) }
      if (isDraft(wallet, given)) {
        const draft = yield* Effect.mapError(wallet.names.draftNew(name, request), nameError)
        return { ...(yield* psbtAnswer(wallet, draft)), rand: toHex(draft.rand) }
      }
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
        const request = {
          ...options,
          name,
          rand,
          txid,
          value,
          ...(allow_active === undefined ? {} : { allowActive: allow_active })
        }
        const told = { name, value, wanted: given.warnings === true }
        const answer = Effect.gen(function*() {
          if (isDraft(wallet, given)) {
            return yield* drafted(wallet, yield* named(wallet.names.draftFirstUpdate(request)), told)
          }
          const { txid } = yield* named(wallet.names.nameFirstUpdate(request))
          return yield* warned(displayHash(txid), told)
        })
        // A txid of zeros means that the reference node found no commitment.
        const isNone = txid !== undefined && txid.every((byte) => byte === 0)
        return yield* Effect.mapError(
          answer,
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
        const request = { ...options, name, value }
        const told = (transaction: Transaction): SentName => ({
          name,
          value: value ?? valueSetBy(transaction),
          wanted: given.warnings === true
        })
        return yield* known.orUnknown(Effect.gen(function*() {
          if (isDraft(wallet, given)) {
            const draft = yield* named(wallet.names.draftUpdate(request))
            return yield* drafted(wallet, draft, told(draft.transaction))
          }
          const transaction = yield* named(wallet.names.nameUpdate(request))
          return yield* warned(displayHash(transaction.txid), told(transaction))
        }))
      })
  )

  return [name_new, name_firstupdate, name_update]
}
