import * as Effect from "effect/Effect"
import { randomBytes } from "../../base/entropy.ts"
import { isExpired } from "../../consensus/expiry.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { nameKey, txidKey } from "../../protocol/keys.ts"
import { nameField } from "../../protocol/nameText.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest, type KeysLocked } from "../errors.ts"
import type { RegistrationEntry } from "../keys/registrationEntry.ts"
import { update } from "../WalletParts.ts"
import { newRegistration, sendNew, spendableEntry } from "./commitNew.ts"
import { draftFirstUpdate, draftNew, draftUpdate } from "./drafts.ts"
import {
  entriesOf,
  entryKey,
  isUnderWay,
  isUnsent,
  newOutpoint,
  registrationOf,
  withEntry,
  withoutEntry
} from "./entries.ts"
import { findOwnNew } from "./findNew.ts"
import {
  activeRecord,
  checkLengths,
  ensureKeysOpen,
  feesOf,
  isBeingRegistered,
  isQueueFull,
  type NameParts,
  type NameSettings,
  noteFailure,
  tell,
  unavailable,
  type WalletOfNames,
  withOwner
} from "./NameParts.ts"
import { nameFirstUpdate, nameNew, nameUpdate } from "./operations.ts"
import { acknowledge, outlooksOf } from "./outlooks.ts"
import { makeOutlookWatch } from "./outlookWatch.ts"
import { blocksToNextStep, NOTES } from "./progress.ts"
import { unsignedIn } from "./renewalDrafts.ts"
import {
  dueRenewals,
  heldNames,
  isRenewed,
  ownSetting,
  withException,
  withoutRenewal,
  withRenewal
} from "./renewals.ts"
import { forgetLost, setRenewal, shownRenewal } from "./renewalSetting.ts"
import { isFinishedRenewal, requestedIn, requestedRenewalOf, withdrawn } from "./renewalVerdict.ts"
import { advanceRenewals, cancelRenewal, planRenewals, requestRenewals } from "./renewMany.ts"
import { advanceAll, type Lost } from "./saga.ts"
import type {
  ListedRegistration,
  NameFailure,
  Registration,
  RegistrationOptions,
  Renewal,
  RenewalChoice,
  UpdateRequest,
  WalletNames
} from "./WalletNames.ts"

/** A NAME_NEW, stored or found by salts from the wallet's keys, as after a recovery. Its age counts. */
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

/** Stores the renewal setting first, and undoes it if the work fails. `undefined`: no change. */
const renewing = <A>(
  parts: NameParts,
  { name, on }: { readonly name: Bytes; readonly on: boolean | undefined },
  work: Effect.Effect<A, NameFailure>
): Effect.Effect<A, NameFailure> => {
  const { document } = parts.file
  const before = ownSetting(document, name)
  if (on === undefined || on === before || !on && !isRenewed(document, name)) return work
  const forgotten = withoutRenewal(new Set([nameKey(name)]))
  const undo = before === undefined ? forgotten : before ? withRenewal(name, true) : withException(name)
  return Effect.zipRight(update(parts, withRenewal(name, on)), Effect.tapError(work, () => update(parts, undo)))
}

/** Registrations waiting for their NAME_NEW: some forty blocks send them, and each block visits all. */
const MOST_QUEUED = 1_000

/** A NAME_NEW waits for a block, as `advanceAll` finds it; fails with `refused` if too many wait. */
const queued = (parts: NameParts, draft: RegistrationEntry, refused: NameFailure) =>
  Effect.gen(function*() {
    if (parts.file.document.registrations.filter(isUnsent).length >= MOST_QUEUED) return yield* Effect.fail(refused)
    const entry: RegistrationEntry = { ...draft, note: NOTES.full }
    yield* update(parts, withEntry(entry))
    yield* tell(parts, registrationOf(entry))
    return { entry }
  })

/** Returns once the NAME_NEW is sent or found, or must wait for a block. */
const register = (
  parts: NameParts,
  { name, value }: { readonly name: Bytes; readonly value: Bytes },
  options: RegistrationOptions
): Effect.Effect<Registration, NameFailure> =>
  Effect.gen(function*() {
    const { autoRenew, file } = parts
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
    // The caller's choice is stored, so that it survives a change for all names; the node's default is not.
    const byDefault = autoRenew && !isRenewed(file.document, name) ? true : undefined
    // This wallet cannot renew another owner's name.
    const on = options.destination !== undefined ? undefined : options.renew ?? byDefault
    // A NAME_NEW sent earlier cannot carry the additional outputs.
    const existing = options.sendCoins === undefined ? yield* existingNew(parts, draft) : undefined
    if (existing !== undefined) {
      yield* renewing(parts, { name, on }, update(parts, withEntry(existing)))
      yield* tell(parts, registrationOf(existing))
      return registrationOf(existing)
    }
    // The name may be for another owner; the commitment's output must belong to the wallet.
    const { sendCoins } = options
    const sending = Effect.catchIf(
      withOwner(parts, undefined, (script) => sendNew(parts, draft, { script, sendCoins })),
      // Additional outputs are not stored, so such a request cannot wait.
      (failure) => sendCoins === undefined && isQueueFull(failure),
      (refused) => queued(parts, draft, refused)
    )
    const { entry } = yield* renewing(parts, { name, on }, sending)
    return registrationOf(entry)
  })

/** Only before the name is revealed. Its NAME_NEW and the salt stay. */
const cancelRegistration = (
  parts: NameParts,
  name: Bytes
): Effect.Effect<void, InvalidWalletRequest | StorageFailure> =>
  Effect.gen(function*() {
    const entry = entriesOf(parts.file.document, name).find(isUnderWay)
    if (entry === undefined) {
      return yield* new InvalidWalletRequest({ code: "missing", reason: "no registration of this name is under way" })
    }
    if (entry.step === "revealed") {
      const reason = "the registration of this name cannot be cancelled: its name_firstupdate is sent"
      return yield* new InvalidWalletRequest({ code: "not-eligible", reason })
    }
    const key = nameKey(name)
    if (!heldNames(parts.ledger.coins(), parts.file.document).has(key)) {
      yield* update(parts, withoutRenewal(new Set([key])))
    }
    if (isUnsent(entry)) {
      return yield* update(parts, withoutEntry(entryKey(entry)))
    }
    const isHeld = parts.ledger.coins().some(({ outpoint }) => outpoint === newOutpoint(entry))
    const failure = { reason: "cancelled", ...isHeld ? { coinsIn: "name_new" as const } : {} } as const
    const failed: RegistrationEntry = { ...entry, step: "failed", note: "", failure }
    yield* update(parts, withEntry(failed))
    yield* tell(parts, registrationOf(failed))
  })

/** Without private keys, a due renewal becomes a requested one, which waits for its signature in wallet.json. */
const requestDue = (parts: NameParts, due: ReadonlyArray<Bytes>): Effect.Effect<void> =>
  Effect.gen(function*() {
    const requested = requestedIn(parts.file.document).filter((entry) => !isFinishedRenewal(entry))
    const underWay = new Set(requested.map(({ name }) => nameKey(name)))
    const names = due.filter((name) => !underWay.has(nameKey(name)))
    if (names.length === 0) return
    yield* requestRenewals(parts, { of: "names", names })
    yield* advanceRenewals(parts)
  }).pipe(
    Effect.catchAll((failure) => Effect.logError("due renewals cannot be prepared", { reason: failure.message }))
  )

/** A failure is retried after the next block: some blocks remain. The outlooks tell the owner. */
const renewDue = (parts: NameParts): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { chain, file, ledger, mempool, status, vault } = parts
    const { document } = file
    if (!document.renewals.all && document.renewals.names.length === 0) return
    const due = dueRenewals(ledger.coins(), document, {
      height: ledger.tip.height,
      params: chain.params,
      isPending: (name) => mempool.pending(name).length > 0
    })
    if (due.length === 0 || (yield* status.initialDownload)) return
    if (!vault.signsRenewals()) return
    if (!document.privateKeys) return yield* requestDue(parts, due)
    for (const name of due) {
      // Two coins with the same name exist only through coinbases; one is renewed.
      if (mempool.pending(nameKey(name)).length > 0) continue
      yield* Effect.matchEffect(nameUpdate(parts, { name, value: undefined }), {
        onSuccess: () => {
          parts.lastFailures.delete(nameKey(name))
          // Otherwise the outlook warns.
          return parts.broadcasts ? Effect.logInfo("name renewed", { name: nameField(name) }) : Effect.void
        },
        // The next look at the outlooks logs it, once.
        onFailure: (failure) => Effect.sync(() => noteFailure(parts, name, failure))
      })
    }
  })

/**
 * If the update gives the name away, its requested renewal is withdrawn afterwards: it would be sent if the transfer
 * were abandoned. After a crash in between, the request stays, but nothing is sent while the transfer spends the coin.
 */
const updateForCaller = (
  parts: NameParts,
  request: UpdateRequest
): Effect.Effect<Transaction, NameFailure> =>
  Effect.gen(function*() {
    const transaction = yield* nameUpdate(parts, request)
    const { destination, name } = request
    // A name for another address of the wallet still needs its renewal if this update is never confirmed.
    if (destination === undefined || parts.keys.own(destination)?.spendable === true) return transaction
    // The update is sent: its caller must get the txid.
    yield* Effect.catchAll(
      update(parts, withdrawn((each) => equal(each, name))),
      (failure) =>
        Effect.logError("the requested renewal of a name that is given away cannot be withdrawn", {
          name: nameField(name),
          reason: failure.message
        })
    )
    return transaction
  })

/** Stores the request and starts it. Returns the state of its names. */
const renewChosen = (
  parts: NameParts,
  choice: RenewalChoice
): Effect.Effect<ReadonlyArray<Renewal>, NameFailure> =>
  Effect.gen(function*() {
    const names = new Set((yield* requestRenewals(parts, choice)).map(nameKey))
    yield* advanceRenewals(parts)
    return requestedRenewals(parts).filter(({ name }) => names.has(nameKey(name)))
  })

/** With whether a skipped one still needs attention. */
const requestedRenewals = ({ chain, file, ledger }: NameParts): ReadonlyArray<Renewal> => {
  const entries = requestedIn(file.document)
  const { height } = ledger.tip
  const held = entries.some(({ state }) => state === "skipped")
    ? ledger.names().filter((each) => each.mine && !isExpired(each, height, chain.params))
    : []
  const renewedAt = new Map(held.map((each) => [nameKey(each.name), each.height]))
  return entries.map((entry) => ({
    ...requestedRenewalOf(entry),
    unsigned: unsignedIn(entry),
    settled: entry.state === "skipped" && (renewedAt.get(nameKey(entry.name)) ?? 0) > entry.height
  }))
}

/** A manual NAME_NEW waits for this wallet only while the wallet has its coin. */
const listed = ({ file, ledger }: NameParts): ReadonlyArray<ListedRegistration> => {
  const { registrations } = file.document
  const isOpenable = ({ step, value }: RegistrationEntry): boolean => value === undefined && step === "maturing"
  const coins = registrations.some(isOpenable) ? new Set(ledger.coins().map(({ outpoint }) => outpoint)) : new Set()
  return registrations.map((entry) => {
    const made = isUnsent(entry) ? undefined : ledger.get(txidKey(entry.newTxid))
    const isKnown = !isOpenable(entry) || coins.has(newOutpoint(entry))
    return {
      ...registrationOf(entry),
      blocksLeft: isKnown ? blocksToNextStep(entry, made, ledger.tip.height) : undefined
    }
  })
}

export interface Names extends WalletNames {
  /**
   * Continues registrations and renewals. Run it at the start, and after each block that wallet and names have
   * processed. It never fails: obstacles are noted or logged, and the next run retries.
   */
  readonly step: Effect.Effect<void>
}

const DEFAULTS: NameSettings = {
  limitNameChains: 1,
  addressType: "legacy",
  autoRenew: true,
  broadcasts: true,
  renewalsAtOnce: 25,
  randomBytes
}

/** One operation at a time, so that nothing is sent twice. */
export const makeNames = (wallet: WalletOfNames, settings: Partial<NameSettings> = {}): Effect.Effect<Names> =>
  Effect.gen(function*() {
    const turn = (yield* Effect.makeSemaphore(1)).withPermits(1)
    const lost: Lost = new Map()
    const parts: NameParts = {
      ...wallet,
      ...DEFAULTS,
      ...settings,
      failedRenewals: new Set(),
      lastFailures: new Map()
    }
    const { file } = parts
    const watch = makeOutlookWatch(parts)
    const carryOn = Effect.catchAll(
      Effect.zipRight(advanceAll(parts, lost), advanceRenewals(parts)),
      (failure) => Effect.logError("registrations and renewals cannot continue", { reason: failure.message })
    )
    return {
      nameNew: (name, options) => turn(nameNew(parts, name, options)).pipe(Effect.withSpan("svcd.wallet.nameNew")),
      nameFirstUpdate: (request) =>
        turn(nameFirstUpdate(parts, request)).pipe(Effect.withSpan("svcd.wallet.nameFirstUpdate")),
      nameUpdate: (request) => turn(updateForCaller(parts, request)).pipe(Effect.withSpan("svcd.wallet.nameUpdate")),
      draftNew: (name, options) => turn(draftNew(parts, name, options)),
      draftFirstUpdate: (request) => turn(draftFirstUpdate(parts, request)),
      draftUpdate: (request) => turn(draftUpdate(parts, request)),
      register: (name, value, options) =>
        turn(register(parts, { name, value }, options)).pipe(Effect.withSpan("svcd.wallet.register")),
      registrations: () => listed(parts),
      cancelRegistration: (name) => turn(cancelRegistration(parts, name)),
      list: () => parts.ledger.names(),
      setRenewal: (name, on) => turn(setRenewal(parts, name, on)),
      isRenewed: (name) => isRenewed(file.document, name),
      renewal: () => shownRenewal(parts),
      planRenewals: (choice) => turn(planRenewals(parts, choice)).pipe(Effect.withSpan("svcd.wallet.planRenewals")),
      renew: (choice) => turn(renewChosen(parts, choice)).pipe(Effect.withSpan("svcd.wallet.renew")),
      requestedRenewals: () => requestedRenewals(parts),
      cancelRenewal: (name) => turn(cancelRenewal(parts, name)),
      outlooks: outlooksOf(parts),
      acknowledge: (names) => turn(acknowledge(parts, names)),
      step: turn(Effect.all([carryOn, renewDue(parts), watch, forgetLost(parts)], { discard: true }))
    }
  })
