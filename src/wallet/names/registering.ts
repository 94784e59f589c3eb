import * as Effect from "effect/Effect"
import type { Bytes } from "../../protocol/bytes.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest, type KeysLocked } from "../errors.ts"
import type { RegistrationEntry } from "../keys/WalletDocument.ts"
import { update } from "../WalletParts.ts"
import { newRegistration, sendNew, spendableEntry } from "./commitNew.ts"
import { entriesOf, entryKey, isUnderWay, isUnsent, registrationOf, withEntry, withoutEntry } from "./entries.ts"
import { findOwnNew } from "./findNew.ts"
import {
  activeRecord,
  checkLengths,
  ensureKeysOpen,
  feesOf,
  isBeingRegistered,
  type NameParts,
  tell,
  unavailable,
  withOwner
} from "./NameParts.ts"
import type { NameFailure, NameOptions, Registration } from "./WalletNames.ts"

/** Begins automatic registrations, and cancels them for the owner. */

/**
 * An existing NAME_NEW of the name: stored, or found by the salts from the wallet's keys. Its age counts. After a
 * recovery from the mnemonic alone, it is all that remains of a registration.
 */
const existingNew = (
  parts: NameParts,
  draft: RegistrationEntry
): Effect.Effect<RegistrationEntry | undefined, KeysLocked> =>
  Effect.gen(function*() {
    const kept = spendableEntry(parts, draft.name)
    if (kept !== undefined) {
      const { createdAt, newTxid, newVout, rand } = kept
      return { ...draft, createdAt, newTxid, newVout, rand }
    }
    const found = yield* findOwnNew(parts, draft.name, undefined)
    if (found === undefined) return undefined
    const { coin, rand } = found
    return { ...draft, rand, newTxid: coin.txid, newVout: coin.vout }
  })

/** Begins a registration that the wallet continues by itself. Returns once its NAME_NEW is sent or found. */
export const register = (
  parts: NameParts,
  name: Bytes,
  value: Bytes,
  options: NameOptions
): Effect.Effect<Registration, NameFailure> =>
  Effect.gen(function*() {
    const { file } = parts
    yield* checkLengths(name, value)
    const isKnown = entriesOf(file.document, name).some(isUnderWay)
    if (isKnown || isBeingRegistered(parts, name)) {
      return yield* unavailable("registering", "this name is already being registered")
    }
    if ((yield* activeRecord(parts, name, 0)) !== undefined) {
      return yield* unavailable("exists", "this name exists already")
    }
    yield* ensureKeysOpen(parts)
    const draft = yield* newRegistration({ ...feesOf(options), name, value, destination: options.destination })
    // A NAME_NEW that was sent before cannot carry the additional outputs.
    const existing = options.sendCoins === undefined ? yield* existingNew(parts, draft) : undefined
    if (existing !== undefined) {
      yield* update(parts, withEntry(existing))
      yield* tell(parts, registrationOf(existing))
      return registrationOf(existing)
    }
    // The name may be for another owner; the output of the commitment has to belong to the wallet.
    const { sendCoins } = options
    const { entry } = yield* withOwner(parts, undefined, (owner) => sendNew(parts, draft, owner, { sendCoins }))
    return registrationOf(entry)
  })

const CALLED_OFF = "called off by the owner"

/** Cancels the registration of a name that is not revealed yet. Its NAME_NEW and the salt stay. */
export const cancelRegistration = (
  parts: NameParts,
  name: Bytes
): Effect.Effect<void, InvalidWalletRequest | StorageFailure> =>
  Effect.gen(function*() {
    const entry = entriesOf(parts.file.document, name).find(isUnderWay)
    if (entry === undefined) {
      return yield* new InvalidWalletRequest({ code: "missing", reason: "no registration of this name is under way" })
    }
    if (entry.step === "revealed") {
      const reason = "the registration of this name can not be called off: its name_firstupdate is sent"
      return yield* new InvalidWalletRequest({ code: "not-eligible", reason })
    }
    if (isUnsent(entry)) return yield* update(parts, withoutEntry(entryKey(entry)))
    const failed: RegistrationEntry = { ...entry, step: "failed", note: CALLED_OFF }
    yield* update(parts, withEntry(failed))
    yield* tell(parts, registrationOf(failed))
  })
