import * as Effect from "effect/Effect"
import { isExpired } from "../../consensus/expiry.ts"
import type { NameEntry } from "../../names/NameDb.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { txidKey } from "../../protocol/keys.ts"
import { nameField } from "../../protocol/nameText.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { RegistrationEntry } from "../keys/registrationEntry.ts"
import { update } from "../WalletParts.ts"
import { newRegistration, sendNew } from "./commitNew.ts"
import { entryKey, newOutpoint, registrationOf, withEntry, withoutEntry } from "./entries.ts"
import {
  feesOf,
  isBeingRegistered,
  isQueueFull,
  latestEntry,
  type NameParts,
  payName,
  tell,
  withOwner
} from "./NameParts.ts"
import {
  evidenceOf,
  type Movements,
  movementsOf,
  NOTES,
  registrationVerdict,
  type Verdict,
  withMaker
} from "./progress.ts"
import type { NameFailure } from "./WalletNames.ts"

/** Stores each registration's verdict and executes its action. */

const MAX_NOTE = 1_000

const WAITS = {
  locked: "waits until the wallet is unlocked",
  behind: "waits until the node has caught up with the network",
  contested: "another registration of the name waits for a block"
} as const

const isSame = (a: RegistrationEntry, b: RegistrationEntry): boolean =>
  a.step === b.step && a.note === b.note && a.failure?.reason === b.failure?.reason &&
  a.failure?.coinsIn === b.failure?.coinsIn && a.newVout === b.newVout && equal(a.newTxid, b.newTxid) &&
  (a.firstUpdateTxid === b.firstUpdateTxid ||
    a.firstUpdateTxid !== undefined && b.firstUpdateTxid !== undefined && equal(a.firstUpdateTxid, b.firstUpdateTxid))

/** Publishes a new step. */
const note = (
  parts: NameParts,
  before: RegistrationEntry,
  after: RegistrationEntry
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    if (isSame(before, after)) return
    yield* update(parts, withEntry(after))
    if (after.note === WAITS.locked && before.note !== WAITS.locked) {
      yield* Effect.logWarning("registration waits until the wallet is unlocked: svcd-cli unlock", {
        name: nameField(after.name)
      })
    }
    if (before.step === after.step) return
    yield* Effect.logInfo("registration step changed", {
      name: nameField(after.name),
      step: after.step,
      note: registrationOf(after).note || undefined
    })
    yield* tell(parts, registrationOf(after))
  })

const obstacle = ({ status, vault }: NameParts): Effect.Effect<string | undefined> =>
  Effect.gen(function*() {
    if (vault.encryption() === "locked") return WAITS.locked
    return (yield* status.initialDownload) ? WAITS.behind : undefined
  })

interface Run {
  readonly movements: Movements
  readonly lost: Lost
  /** The mempool takes no more dependent payments of the wallet: the rest waits for a block. */
  full: boolean
}

/** An obstacle is noted, and the work retried after the next block. */
const attempted = (
  parts: NameParts,
  entry: RegistrationEntry,
  { run, work }: { readonly work: Effect.Effect<void, NameFailure>; readonly run: Run }
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const waits = yield* obstacle(parts)
    if (waits !== undefined) return yield* note(parts, entry, { ...entry, note: waits })
    yield* Effect.catchAll(work, (failure) => {
      if (failure._tag === "StorageCorrupted" || failure._tag === "StorageUnavailable") return failure
      const isFull = isQueueFull(failure)
      if (isFull) run.full = true
      const reason = failure._tag === "KeysLocked" ? WAITS.locked : isFull ? NOTES.full : failure.message
      const key = entryKey(entry)
      const now = parts.file.document.registrations.find((other) => entryKey(other) === key)
      return now === undefined ? Effect.void : note(parts, now, { ...now, note: reason.slice(0, MAX_NOTE) })
    })
  })

/** Or a second one, if the first can never be confirmed. */
const commit = (parts: NameParts, entry: RegistrationEntry): Effect.Effect<void, NameFailure> =>
  Effect.gen(function*() {
    const { createdAt, destination, name, value } = entry
    const draft = { ...(yield* newRegistration({ ...feesOf(entry), name, value, destination })), createdAt }
    const replaces = entryKey(entry)
    yield* withOwner(parts, undefined, (script) => sendNew(parts, draft, { script, replaces }))
  })

const reveal = (parts: NameParts, entry: RegistrationEntry, value: Bytes): Effect.Effect<void, NameFailure> =>
  Effect.gen(function*() {
    const { name, rand } = entry
    const operation = { op: "name_firstupdate", name, rand, value } as const
    const payment = { operation, input: newOutpoint(entry), fees: feesOf(entry) }
    const { txid } = yield* withOwner(parts, entry.destination, (owner) => payName(parts, { ...payment, owner }))
    yield* note(parts, entry, { ...entry, step: "revealed", firstUpdateTxid: txid, note: "" })
  })

const act = (
  parts: NameParts,
  entry: RegistrationEntry,
  { run, verdict: { action } }: { readonly verdict: Verdict; readonly run: Run }
): Effect.Effect<void, StorageFailure> => {
  switch (action) {
    case "wait":
      return Effect.void
    case "commit":
      if (entry.unsigned === true) return Effect.void
      // The NAME_NEW was never made, and its caller got no result.
      if (entry.value === undefined) return update(parts, withoutEntry(entryKey(entry)))
      return run.full
        ? note(parts, entry, { ...entry, note: NOTES.full })
        : attempted(parts, entry, { run, work: commit(parts, entry) })
    case "reveal":
      if (entry.value === undefined) return Effect.void
      return isBeingRegistered(parts, entry.name)
        ? note(parts, entry, { ...entry, note: WAITS.contested })
        : attempted(parts, entry, { run, work: reveal(parts, entry, entry.value) })
  }
}

/** Registrations lost to another owner, with the height of the other registration. */
export type Lost = Map<string, number>

const needsLook = ({ ledger }: NameParts, entry: RegistrationEntry): boolean => {
  if (entry.step === "failed") return entry.failure?.reason === "taken"
  if (entry.step !== "done" || entry.firstUpdateTxid === undefined) return true
  const state = ledger.get(txidKey(entry.firstUpdateTxid))?.state
  return state !== undefined && state.type !== "confirmed"
}

/**
 * Whether a reorg removed the competing registration. Later registrations or an expiry do not count: after months, the
 * owner does not expect a registration to continue.
 */
const isOpenAgain = (key: string, record: NameEntry | undefined, lost: Lost): boolean => {
  const lostAt = lost.get(key)
  if (lostAt === undefined) {
    if (record !== undefined) lost.set(key, record.height)
    return false
  }
  if (record !== undefined && record.height >= lostAt) return false
  lost.delete(key)
  return true
}

const advance = (
  parts: NameParts,
  stored: RegistrationEntry,
  run: Run
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const { chain, ledger } = parts
    const { lost, movements } = run
    const { height } = ledger.tip
    const key = entryKey(stored)
    const record = yield* latestEntry(parts, stored.name)
    const hasEnded = stored.step === "failed" && !isOpenAgain(key, record, lost)
    // A record of an unprocessed block is ignored: it may be the wallet's own.
    const isHeld = record !== undefined && record.height <= height &&
      !isExpired(record, height + 1, chain.params)
    const holder = isHeld ? record : undefined
    const entry = withMaker(stored, movements)
    const verdict = registrationVerdict(
      entry,
      evidenceOf(entry, movements, { height, transaction: (txid) => ledger.get(txid), holder: holder?.txid })
    )
    const { failure, firstUpdateTxid, step } = verdict
    if (hasEnded) {
      // The owner may have abandoned its NAME_FIRSTUPDATE since: then other coins are held, or none.
      if (step === "failed") yield* note(parts, stored, { ...stored, firstUpdateTxid, failure })
      return
    }
    if (step === "failed" && holder !== undefined) lost.set(key, holder.height)
    const told = verdict.action === "wait" ? verdict.note : stored.note
    const after = { ...entry, step, firstUpdateTxid, failure, note: told }
    yield* note(parts, stored, after)
    yield* act(parts, after, { run, verdict })
  }).pipe(Effect.withSpan("svcd.wallet.registrationStep", { attributes: { step: stored.step } }))

export const advanceAll = (parts: NameParts, lost: Lost): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const { file, ledger } = parts
    const due = file.document.registrations.filter((entry) => needsLook(parts, entry))
    if (due.length === 0) return
    const run: Run = { movements: movementsOf(ledger.transactions()), lost, full: false }
    for (const entry of due) yield* advance(parts, entry, run)
  })
