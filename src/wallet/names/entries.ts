import { binaryString, type Bytes, equal } from "../../protocol/bytes.ts"
import type { OutpointKey } from "../../protocol/keys.ts"
import { nameCommitment } from "../../protocol/nameOperation.ts"
import { outpoint, outpointKey } from "../../protocol/transaction.ts"
import type { RegistrationEntry } from "../keys/registrationEntry.ts"
import type { WalletDocument } from "../keys/WalletDocument.ts"
import { noteOf } from "./failedRegistration.ts"
import type { Registration } from "./WalletNames.ts"

/** Registrations in wallet.json, identified by their commitment. */

/** Ended registrations to keep. The oldest are dropped first. */
export const MAX_FINISHED = 1_000

/** The txid in the entry of an unsent NAME_NEW. The entry is written to disk before the transaction is sent. */
export const UNSENT: Bytes = new Uint8Array(32)

/** Whether the NAME_NEW does not exist yet, or the node stopped before it stored the txid. */
export const isUnsent = ({ newTxid }: Pick<Registration, "newTxid">): boolean => equal(newTxid, UNSENT)

export const entryKey = ({ name, rand }: Pick<RegistrationEntry, "name" | "rand">): string =>
  binaryString(nameCommitment(rand, name))

export const newOutpoint = ({ newTxid, newVout }: RegistrationEntry): OutpointKey =>
  outpointKey(outpoint(newTxid, newVout))

/** A manual registration ends with the block of its NAME_FIRSTUPDATE. */
export const hasEnded = ({ step }: RegistrationEntry): boolean => step === "done" || step === "failed"

/** Whether the wallet itself still continues the registration. */
export const isUnderWay = (entry: RegistrationEntry): boolean => entry.value !== undefined && !hasEnded(entry)

export const registrationOf = (entry: RegistrationEntry): Registration => ({
  name: entry.name,
  rand: entry.rand,
  value: entry.value,
  newTxid: entry.newTxid,
  newVout: entry.newVout,
  firstUpdateTxid: entry.firstUpdateTxid,
  step: entry.step,
  note: noteOf(entry),
  createdAt: entry.createdAt
})

/**
 * Whether the entry may be dropped. A failed manual registration keeps its salt, because its NAME_NEW may still be on
 * the network. A NAME_NEW handed to another machine for signing may never come back.
 */
const isDisposable = (entry: RegistrationEntry): boolean =>
  hasEnded(entry) && (entry.value !== undefined || entry.step === "done") ||
  entry.unsigned === true && isUnsent(entry)

const trimmed = (entries: ReadonlyArray<RegistrationEntry>): ReadonlyArray<RegistrationEntry> => {
  let surplus = entries.filter(isDisposable).length - MAX_FINISHED
  return surplus <= 0 ? entries : entries.filter((entry) => !isDisposable(entry) || surplus-- <= 0)
}

/** Replaces the entry that has the key, or appends a new one. */
export const withEntry = (entry: RegistrationEntry, key = entryKey(entry)) => (document: WalletDocument) => {
  const known = document.registrations.some((other) => entryKey(other) === key)
  const registrations = known
    ? document.registrations.map((other) => entryKey(other) === key ? entry : other)
    : [...document.registrations, entry]
  return { ...document, registrations: trimmed(registrations) }
}

export const withoutEntry = (key: string) => (document: WalletDocument): WalletDocument => ({
  ...document,
  registrations: document.registrations.filter((entry) => entryKey(entry) !== key)
})

/** Newest first. */
export const entriesOf = ({ registrations }: WalletDocument, name: Bytes): ReadonlyArray<RegistrationEntry> =>
  registrations.filter((entry) => equal(entry.name, name)).reverse()
