import { binaryString, type Bytes, equal } from "../../protocol/bytes.ts"
import type { OutpointKey } from "../../protocol/keys.ts"
import { nameCommitment } from "../../protocol/nameOperation.ts"
import { outpoint, outpointKey } from "../../protocol/transaction.ts"
import type { RegistrationEntry } from "../keys/registrationEntry.ts"
import type { WalletDocument } from "../keys/WalletDocument.ts"
import { noteOf } from "./failedRegistration.ts"
import type { Registration } from "./WalletNames.ts"

/** Registrations in wallet.json. The commitment identifies an entry. */

/** Maximum number of finished registrations; the oldest are dropped first. */
export const MAX_FINISHED = 1_000

/** Placeholder for the txid of an unsent NAME_NEW: the entry is on disk before the transaction is sent. */
export const UNSENT: Bytes = new Uint8Array(32)

/** Whether the NAME_NEW is not made yet, or the node ended before it stored its txid. */
export const isUnsent = ({ newTxid }: Pick<Registration, "newTxid">): boolean => equal(newTxid, UNSENT)

/** The key of an entry: its commitment. */
export const entryKey = ({ name, rand }: Pick<RegistrationEntry, "name" | "rand">): string =>
  binaryString(nameCommitment(rand, name))

/** The outpoint key of an entry's NAME_NEW. */
export const newOutpoint = ({ newTxid, newVout }: RegistrationEntry): OutpointKey =>
  outpointKey(outpoint(newTxid, newVout))

/** Whether the registration has ended. One by hand ends in the block of its NAME_FIRSTUPDATE. */
export const hasEnded = ({ step }: RegistrationEntry): boolean => step === "done" || step === "failed"

/** Whether the wallet continues the registration by itself and it has not ended. */
export const isUnderWay = (entry: RegistrationEntry): boolean => entry.value !== undefined && !hasEnded(entry)

/** The public form of an entry. */
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

/** Whether an entry may be dropped. One by hand that failed may still have a NAME_NEW on the network, and has its salt. */
const isDisposable = (entry: RegistrationEntry): boolean =>
  hasEnded(entry) && (entry.value !== undefined || entry.step === "done")

const trimmed = (entries: ReadonlyArray<RegistrationEntry>): ReadonlyArray<RegistrationEntry> => {
  let surplus = entries.filter(isDisposable).length - MAX_FINISHED
  return surplus <= 0 ? entries : entries.filter((entry) => !isDisposable(entry) || surplus-- <= 0)
}

/** Replaces the entry with a key, or appends it. */
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

/** The entries of a name, the newest first. */
export const entriesOf = ({ registrations }: WalletDocument, name: Bytes): ReadonlyArray<RegistrationEntry> =>
  registrations.filter((entry) => equal(entry.name, name)).reverse()
