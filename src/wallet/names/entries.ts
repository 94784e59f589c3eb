import { binaryString, type Bytes, equal } from "../../protocol/bytes.ts"
import { nameCommitment } from "../../protocol/nameOperation.ts"
import { outpoint, outpointKey } from "../../protocol/transaction.ts"
import type { RegistrationEntry, WalletDocument } from "../keys/WalletDocument.ts"
import type { Registration } from "../Wallet.ts"

/** Registrations as wallet.json keeps them. An entry is known by its commitment. */

/** Finished registrations that are kept; those that began first go first. */
export const MAX_FINISHED = 1_000

/** Stands for the txid of a NAME_NEW that has yet to be made: the entry is on disk before anything is sent. */
export const UNSENT: Bytes = new Uint8Array(32)

/** Whether the NAME_NEW of an entry has yet to be made, or was made and the node ended before that was noted. */
export const isUnsent = ({ newTxid }: RegistrationEntry): boolean => equal(newTxid, UNSENT)

/** The commitment of an entry as a key. */
export const entryKey = ({ name, rand }: Pick<RegistrationEntry, "name" | "rand">): string =>
  binaryString(nameCommitment(rand, name))

/** The outpoint key of an entry's NAME_NEW. */
export const newOutpoint = ({ newTxid, newVout }: RegistrationEntry): string => outpointKey(outpoint(newTxid, newVout))

const isFinished = ({ step }: RegistrationEntry): boolean => step === "done" || step === "failed"

/** Whether an entry is carried on by itself, and is not at its end. */
export const isUnderWay = (entry: RegistrationEntry): boolean => entry.value !== undefined && !isFinished(entry)

/** What the wallet tells of an entry. */
export const registrationOf = (entry: RegistrationEntry): Registration => ({
  name: entry.name,
  rand: entry.rand,
  value: entry.value,
  newTxid: entry.newTxid,
  newVout: entry.newVout,
  firstUpdateTxid: entry.firstUpdateTxid,
  step: entry.step,
  note: entry.note,
  createdAt: entry.createdAt
})

const trimmed = (entries: ReadonlyArray<RegistrationEntry>): ReadonlyArray<RegistrationEntry> => {
  let surplus = entries.filter(isFinished).length - MAX_FINISHED
  return surplus <= 0 ? entries : entries.filter((entry) => !isFinished(entry) || surplus-- <= 0)
}

/** Puts an entry in the place of the one with a key, or at the end. */
export const withEntry = (entry: RegistrationEntry, key = entryKey(entry)) => (document: WalletDocument) => {
  const known = document.registrations.some((other) => entryKey(other) === key)
  const registrations = known
    ? document.registrations.map((other) => entryKey(other) === key ? entry : other)
    : [...document.registrations, entry]
  return { ...document, registrations: trimmed(registrations) }
}

/** Takes the entry with a key out. */
export const withoutEntry = (key: string) => (document: WalletDocument): WalletDocument => ({
  ...document,
  registrations: document.registrations.filter((entry) => entryKey(entry) !== key)
})

/** The entries of a name, the newest first. */
export const entriesOf = ({ registrations }: WalletDocument, name: Bytes): ReadonlyArray<RegistrationEntry> =>
  registrations.filter((entry) => equal(entry.name, name)).reverse()
