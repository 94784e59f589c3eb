import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { SALT_SIZE } from "../../consensus/names.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { nameCommitment, nameScript } from "../../protocol/nameOperation.ts"
import type { Transaction, TransactionOutput } from "../../protocol/transaction.ts"
import type { RegistrationEntry } from "../keys/registrationEntry.ts"
import type { FeeChoice } from "../payments/WalletPayments.ts"
import { update } from "../WalletParts.ts"
import { entriesOf, entryKey, isUnsent, registrationOf, UNSENT, withEntry, withoutEntry } from "./entries.ts"
import { feesOf, type NameParts, payName, saltOf, tell } from "./NameParts.ts"
import { movementsOf } from "./progress.ts"
import type { NameFailure } from "./WalletNames.ts"

export interface Intention extends FeeChoice {
  readonly name: Bytes
  /** `undefined` for a NAME_NEW alone. */
  readonly value: Bytes | undefined
  readonly destination: Bytes | undefined
}

export const newRegistration = (intention: Intention): Effect.Effect<RegistrationEntry> =>
  Effect.map(Clock.currentTimeMillis, (now) => ({
    ...feesOf(intention),
    ...(intention.destination === undefined ? {} : { destination: intention.destination }),
    name: intention.name,
    value: intention.value,
    rand: new Uint8Array(0),
    newTxid: UNSENT,
    newVout: 0,
    firstUpdateTxid: undefined,
    step: "committed",
    note: "",
    failure: undefined,
    createdAt: Math.floor(now / 1000)
  }))

const sent = (entry: RegistrationEntry, { txid }: Transaction, vout: number): RegistrationEntry => ({
  ...entry,
  newTxid: txid,
  newVout: vout
})

/**
 * The salt is on disk, with `UNSENT` for the txid, before the NAME_NEW is sent. After a crash in between, the node
 * finds the transaction by its commitment, if it exists. If sending fails, the entry is removed or restored. `replaces`
 * is the key of the entry to replace.
 */
export const sendNew = (
  parts: NameParts,
  draft: RegistrationEntry,
  { replaces, script, sendCoins }: {
    readonly script: Bytes
    readonly sendCoins?: ReadonlyArray<TransactionOutput> | undefined
    readonly replaces?: string
  }
): Effect.Effect<{ readonly transaction: Transaction; readonly entry: RegistrationEntry }, NameFailure> =>
  Effect.gen(function*() {
    const { file, ledger } = parts
    const rand = (yield* saltOf(parts, script, draft.name)) ?? parts.randomBytes(SALT_SIZE)
    const fresh = { newTxid: UNSENT, newVout: 0, step: "committed", note: "", failure: undefined } as const
    const entry: RegistrationEntry = { ...draft, ...fresh, rand }
    const key = entryKey(entry)
    const before = file.document.registrations.find((other) => entryKey(other) === (replaces ?? key))
    // The same name and address give the same commitment: the existing entry has all data.
    const isKnown = before !== undefined && replaces === undefined && !isUnsent(before)
    const operation = { op: "name_new", commitment: nameCommitment(rand, draft.name) } as const
    const payment = { operation, owner: script, input: undefined, fees: feesOf(draft), sendCoins }
    if (isKnown) return { transaction: yield* payName(parts, payment), entry: before }
    yield* update(parts, withEntry(entry, replaces))
    const takeBack = Effect.suspend(() => {
      // A refused transaction that the wallet keeps still needs its salt.
      const kept = movementsOf(ledger.transactions()).maker(key)
      if (kept !== undefined) return update(parts, withEntry(sent(entry, kept.tx.transaction, kept.vout)))
      return update(parts, (document) => {
        const without = withoutEntry(key)(document)
        return before === undefined ? without : withEntry(before)(without)
      })
    })
    const transaction = yield* Effect.tapError(payName(parts, payment), () => takeBack)
    const output = nameScript(operation, script)
    const vout = transaction.outputs.findIndex((made) => equal(made.script, output))
    const complete = sent(entry, transaction, Math.max(0, vout))
    yield* update(parts, withEntry(complete))
    yield* tell(parts, registrationOf(complete))
    return { transaction, entry: complete }
  })

/** The newest entry whose NAME_NEW is unspent. */
export const spendableEntry = ({ file, ledger }: NameParts, name: Bytes): RegistrationEntry | undefined => {
  const coins = ledger.coins()
  return entriesOf(file.document, name).find(({ newTxid, newVout }) =>
    coins.some(({ txid, vout }) => vout === newVout && equal(txid, newTxid))
  )
}
