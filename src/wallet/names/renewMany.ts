import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turns.ts"
import { MIN_NAME_AMOUNT } from "../../consensus/names.ts"
import { blocksToExpiry } from "../../names/NameEntry.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { type NameKey, nameKey, type OutpointKey, txidKey } from "../../protocol/keys.ts"
import { NAME_TX_VERSION, nameScript } from "../../protocol/nameOperation.ts"
import { nameField } from "../../protocol/nameText.ts"
import { outpoint, outpointKey } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest, type NameOperationRefused } from "../errors.ts"
import { MAX_RENEWALS, type RenewalEntry } from "../keys/registrationEntry.ts"
import type { WalletCoin } from "../ledger/WalletLedger.ts"
import { update } from "../WalletParts.ts"
import { latestEntry, type NameParts, noteFailure, unavailable } from "./NameParts.ts"
import { nameUpdate } from "./operations.ts"
import { type Movements, movementsOf } from "./progress.ts"
import { draftedRenewal, isSignedDraft } from "./renewalDrafts.ts"
import { isRenewable, ownSetting } from "./renewals.ts"
import {
  isFinishedRenewal,
  RENEWAL_NOTES,
  type RenewalVerdict,
  renewalVerdict,
  requestedIn,
  withRenewalEntry,
  withRequested
} from "./renewalVerdict.ts"
import type { NameFailure, PlannedRenewal, RenewalChoice, RenewalPlan } from "./WalletNames.ts"

/** Renews many names for one request, over the next blocks. */

/** After so many new failures the rest waits: most failures concern all names, such as missing coins. */
const FAILURES_A_STEP = 3

/** Retries per run of renewals that failed for their own reasons. */
const RETRIES_A_STEP = 25

/** Entries written at once that wait for the same thing. */
const NOTES_A_STEP = 3

/** Records of names without a coin looked up per turn of the event loop. */
const LOOKS_A_TURN = 25

const MAX_NOTE = 1_000

const SCANNING = "scanning the chain for the wallet's keys: retry when the rescan has ended"

const WAITS = {
  locked: "waits until the wallet is unlocked",
  behind: "waits until the node has caught up with the network",
  incomplete: "waits until names are complete"
} as const

interface HeldName {
  readonly name: Bytes
  readonly height: number
  readonly coin: WalletCoin
}

/** Confirmed names that the wallet can renew, the first to expire first. */
const heldNames = ({ file: { document }, ledger }: NameParts): ReadonlyArray<HeldName> =>
  ledger.coins().flatMap((coin): ReadonlyArray<HeldName> => {
    const operation = coin.name?.operation
    if (operation === undefined || operation.op === "name_new" || coin.height === undefined) return []
    return !isRenewable(coin, document) ? [] : [{ name: operation.name, height: coin.height, coin }]
  }).sort((a, b) => a.height - b.height)

const leftOf = ({ chain, ledger }: NameParts, height: number): number =>
  blocksToExpiry({ height }, { tipHeight: ledger.tip.height, params: chain.params })

/** The coin of a name, or why it is not renewed. */
type Chosen = HeldName | { readonly name: Bytes; readonly height: number; readonly note: string }

/** Indexes the wallet's transactions once, on first use. */
const spenderIn = ({ ledger }: NameParts): Movements["spender"] => {
  let movements: Movements | undefined
  return (coin) => (movements ??= movementsOf(ledger.transactions())).spender(coin)
}

/** Why a given name is not renewed, if the wallet is not known to hold its coin. */
const reasonOf = (parts: NameParts, name: Bytes, spender: Movements["spender"]) =>
  Effect.map(latestEntry(parts, name), (record) => {
    if (record === undefined) return { name, height: 0, note: RENEWAL_NOTES.none }
    const { height } = record
    if (leftOf(parts, height) <= 1) return { name, height, note: RENEWAL_NOTES.expired }
    const isSpent = spender(outpointKey(outpoint(record.txid, record.vout))) !== undefined
    return { name, height, note: isSpent ? RENEWAL_NOTES.pending : RENEWAL_NOTES.notHeld }
  })

/** For certain: fails while names.db or the wallet is incomplete, because the request would be lost. */
const reasonFor = (
  parts: NameParts,
  name: Bytes,
  spender: Movements["spender"]
): Effect.Effect<Chosen, InvalidWalletRequest | NameOperationRefused | StorageFailure> =>
  Effect.gen(function*() {
    if (!parts.index.complete()) return yield* new InvalidWalletRequest({ code: "scanning", reason: SCANNING })
    return yield* parts.askNames(reasonOf(parts, name, spender), () => true)
  }).pipe(Effect.catchTag("NamesIncomplete", ({ message }) => unavailable("incomplete", message)))

interface ChosenNames {
  readonly chosen: ReadonlyArray<Chosen>
  /** Names excluded from renewal that the choice skips. */
  readonly leftOut: number
}

/** Each once. A given name counts even if excluded from renewal. */
const chosenNames = (
  parts: NameParts,
  choice: RenewalChoice
): Effect.Effect<ChosenNames, InvalidWalletRequest | NameOperationRefused | StorageFailure> =>
  Effect.gen(function*() {
    if (choice.of !== "names") {
      const held = heldNames(parts)
      const near = choice.of === "all" ? held : held.filter(({ height }) => leftOf(parts, height) <= choice.blocks)
      const chosen = near.filter(({ name }) => ownSetting(parts.file.document, name) !== false)
      return { chosen: yield* bounded(chosen), leftOut: near.length - chosen.length }
    }
    const asked = new Map(choice.names.map((name) => [nameKey(name), name]))
    let known = knownIn(parts)
    const chosen: Array<Chosen> = []
    let looks = 0
    for (const [key, name] of asked) {
      const own = known.coins.get(key)
      if (own !== undefined) {
        chosen.push(own)
        continue
      }
      if (++looks % LOOKS_A_TURN === 0) {
        yield* turnOfEventLoop
        if (known.tip !== parts.ledger.tip) known = knownIn(parts)
      }
      chosen.push(known.coins.get(key) ?? (yield* reasonFor(parts, name, known.spender)))
    }
    return { chosen: yield* bounded(chosen.sort((a, b) => a.height - b.height)), leftOut: 0 }
  })

const knownIn = (parts: NameParts) => {
  const { ledger } = parts
  const coins = new Map<NameKey, HeldName>(heldNames(parts).map((each) => [nameKey(each.name), each]))
  return { tip: ledger.tip, coins, spender: spenderIn(parts) }
}

const bounded = <A>(names: ReadonlyArray<A>): Effect.Effect<ReadonlyArray<A>, InvalidWalletRequest> =>
  names.length > MAX_RENEWALS / 2
    ? new InvalidWalletRequest({
      code: "too-large",
      reason: `${MAX_RENEWALS / 2} names can be renewed in one request: renew those that expire first`
    })
    : Effect.succeed(names)

/** Change to the owner's own script has the size of any change, so no address is taken. */
const feeOf = ({ payments }: NameParts, { coin, name }: HeldName): Effect.Effect<number, NameFailure> => {
  const { own } = coin
  const operation = coin.name?.operation
  const value = operation === undefined || operation.op === "name_new" ? new Uint8Array(0) : operation.value
  const script = nameScript({ op: "name_update", name, value }, own.script)
  return Effect.map(
    payments.fund({
      outputs: [{ value: MIN_NAME_AMOUNT, script }],
      version: NAME_TX_VERSION,
      inputs: [{ outpoint: coin.outpoint }],
      changeScript: own.script
    }),
    ({ fee }) => fee
  )
}

/** Names of equal length cost the same: each kind is computed once. */
export const planRenewals = (parts: NameParts, choice: RenewalChoice): Effect.Effect<RenewalPlan, NameFailure> =>
  Effect.gen(function*() {
    const fees = new Map<string, { readonly fee: number | undefined; readonly note: string }>()
    const names: Array<PlannedRenewal> = []
    const { chosen, leftOut } = yield* chosenNames(parts, choice)
    for (const each of chosen) {
      const { height, name } = each
      const left = leftOf(parts, height)
      if ("note" in each) {
        names.push({ name, height, left, fee: undefined, note: each.note, state: "skipped" })
        continue
      }
      const { output, own } = each.coin
      const kind = `${own.type} ${own.script.length} ${output.script.length}`
      const known = fees.get(kind) ?? (yield* Effect.match(feeOf(parts, each), {
        onSuccess: (fee) => ({ fee, note: "" }),
        onFailure: ({ message }) => ({ fee: undefined, note: message.slice(0, MAX_NOTE) })
      }))
      fees.set(kind, known)
      names.push({ name, height, left, ...known, state: "waiting" })
    }
    const sent = names.filter(({ state }) => state === "waiting")
    const isKnown = sent.every(({ fee }) => fee !== undefined)
    return { names, leftOut, fee: isKnown ? sent.reduce((sum, { fee = 0 }) => sum + fee, 0) : undefined }
  })

/** Stored only; `advanceRenewals` sends them. Returns the names of the request. */
export const requestRenewals = (
  parts: NameParts,
  choice: RenewalChoice
): Effect.Effect<ReadonlyArray<Bytes>, NameFailure> =>
  Effect.gen(function*() {
    const { chosen } = yield* chosenNames(parts, choice)
    const createdAt = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const requested = requestedIn(parts.file.document)
    const underWay = new Set(requested.filter((entry) => !isFinishedRenewal(entry)).map(({ name }) => nameKey(name)))
    const added = chosen.filter(({ name }) => !underWay.has(nameKey(name))).map((each): RenewalEntry => ({
      name: each.name,
      height: each.height,
      state: "note" in each ? "skipped" : "waiting",
      note: "note" in each ? each.note : "",
      createdAt
    }))
    // A new request replaces a finished one.
    const replaced = new Set(added.map(({ name }) => nameKey(name)))
    const others = requested.filter(({ name }) => !replaced.has(nameKey(name)))
    if (underWay.size + added.length > MAX_RENEWALS / 2) {
      return yield* new InvalidWalletRequest({ code: "too-large", reason: "too many renewals are under way" })
    }
    if (added.length > 0) yield* update(parts, withRequested([...others, ...added]))
    return chosen.map(({ name }) => name)
  })

const isSame = (a: RenewalEntry, b: RenewalEntry): boolean =>
  a.state === b.state && a.note === b.note && a.unsigned === b.unsigned &&
  (a.txid === b.txid || a.txid !== undefined && b.txid !== undefined && equal(a.txid, b.txid))

const note = (parts: NameParts, before: RenewalEntry, after: RenewalEntry): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    if (isSame(before, after)) return
    yield* update(parts, withRenewalEntry(after))
    const name = nameField(after.name)
    if (after.unsigned !== undefined && after.unsigned !== before.unsigned) {
      yield* Effect.logWarning("the renewal of a name needs a signature", { name })
    }
    if (before.state === after.state) return
    if (after.state === "done") yield* Effect.logInfo("name renewed", { name })
    if (after.state === "skipped") yield* Effect.logWarning("name is not renewed", { name, reason: after.note })
  })

const withNote = (entry: RenewalEntry, text: string): RenewalEntry => ({ ...entry, note: text.slice(0, MAX_NOTE) })

const lookAt = (
  parts: NameParts,
  entry: RenewalEntry,
  { held, movements }: { readonly held: ReadonlySet<OutpointKey>; readonly movements: Movements }
) =>
  Effect.gen(function*() {
    const { chain, ledger, mempool } = parts
    const record = yield* latestEntry(parts, entry.name)
    const coin = record === undefined ? undefined : outpointKey(outpoint(record.txid, record.vout))
    return renewalVerdict(entry, {
      record,
      height: ledger.tip.height,
      params: chain.params,
      isOwn: coin !== undefined && held.has(coin),
      isPending: mempool.pending(nameKey(entry.name)).length > 0,
      isSigned: record !== undefined && isSignedDraft(entry, ledger.get(txidKey(record.txid))?.transaction),
      spender: coin === undefined ? undefined : movements.spender(coin)
    })
  })

/**
 * A held coin can be renewed at any time. Other verdicts need complete names and a complete wallet: a missing record or
 * unfound coin would end the request, and the name would expire. Without them, the look returns `undefined`.
 */
const careful = (parts: NameParts, behind: boolean) => {
  let isWhole = !behind && parts.index.complete()
  const isUncertain = ({ renews }: RenewalVerdict): boolean => !renews
  return (look: Effect.Effect<RenewalVerdict, StorageFailure>): Effect.Effect<
    RenewalVerdict | undefined,
    StorageFailure
  > =>
    Effect.suspend(() => {
      if (!isWhole) return Effect.map(look, (verdict) => isUncertain(verdict) ? undefined : verdict)
      return Effect.catchTag(parts.askNames(look, isUncertain), "NamesIncomplete", () => {
        isWhole = false
        return Effect.succeed(undefined)
      })
    })
}

/** Keeps the value and the owner of the record. */
const send = (parts: NameParts, { name }: RenewalEntry) =>
  Effect.gen(function*() {
    const record = yield* latestEntry(parts, name)
    const destination = record === undefined ? {} : { destination: record.address }
    const { txid } = yield* nameUpdate(parts, { name, value: undefined, ...destination })
    return { state: "sent" as const, txid, note: RENEWAL_NOTES.waitsForBlock }
  })

/** Whether a failure concerns all names, such as missing coins or a locked wallet. */
const concernsAll = (failure: NameFailure): boolean =>
  failure._tag === "FundsMissing"
    ? failure.missing === undefined
    : failure._tag === "KeysLocked" && failure.renewalsOnly === undefined

/**
 * Chooses what one run tries. Renewals that fail for their own reasons must not stop or slow the others: they do not
 * count as new failures, and only some are retried per run, in turn.
 */
const attempts = ({ failedRenewals: failed }: NameParts, due: ReadonlyArray<RenewalEntry>) => {
  const names = new Set(due.map(({ name }) => nameKey(name)))
  for (const key of failed) if (!names.has(key)) failed.delete(key)
  const retried = new Set([...failed].slice(0, RETRIES_A_STEP))
  let failures = 0
  return {
    mayTry: ({ name }: RenewalEntry): boolean => {
      const key = nameKey(name)
      return retried.has(key) || failures < FAILURES_A_STEP && !failed.has(key)
    },
    forget: ({ name }: RenewalEntry): boolean => failed.delete(nameKey(name)),
    failed: ({ name }: RenewalEntry, failure: NameFailure): void => {
      const key = nameKey(name)
      if (!retried.has(key) || concernsAll(failure)) failures++
      failed.delete(key)
      if (!concernsAll(failure)) failed.add(key)
    }
  }
}

/** The first to expire first. */
export const advanceRenewals = (parts: NameParts): Effect.Effect<void, StorageFailure> =>
  Effect.suspend(() => {
    const due = requestedIn(parts.file.document).filter((entry) => !isFinishedRenewal(entry))
    return due.length === 0 ? Effect.void : advanceAll(parts, due)
  })

const advanceAll = (parts: NameParts, due: ReadonlyArray<RenewalEntry>): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const { file, ledger, status, vault } = parts
    const held = new Set(heldNames(parts).map(({ coin }) => coin.outpoint))
    const movements = movementsOf(ledger.transactions())
    const behind = yield* status.initialDownload
    const waits = vault.signsRenewals() ? behind ? WAITS.behind : undefined : WAITS.locked
    const carefully = careful(parts, behind)
    const tries = attempts(parts, due)
    let [made, told] = [0, 0]
    for (const entry of due.toSorted((a, b) => a.height - b.height)) {
      const verdict = yield* carefully(lookAt(parts, entry, { held, movements }))
      if (verdict === undefined) {
        // Of many that wait for the same thing, only the first ones are written again.
        const writes = entry.state === "waiting" && told++ < NOTES_A_STEP
        if (writes) yield* note(parts, entry, withNote(entry, behind ? WAITS.behind : WAITS.incomplete))
        continue
      }
      const { renews, ...state } = verdict
      if (!renews) tries.forget(entry)
      const { txid, ...rest } = state
      const { txid: _, unsigned, ...before } = entry
      const kept = rest.state === "waiting" && unsigned !== undefined ? { unsigned } : {}
      const after: RenewalEntry = { ...before, ...rest, ...txid === undefined ? {} : { txid }, ...kept }
      const mayRenew = waits === undefined && made < parts.renewalsAtOnce && tries.mayTry(entry)
      if (!renews || !mayRenew) {
        const waiting = renews && waits !== undefined && told++ < NOTES_A_STEP
        // A sent update that was abandoned is not sent again.
        const stays = renews && entry.state === "waiting"
        yield* note(parts, entry, waiting ? withNote(after, waits) : stays ? entry : after)
        continue
      }
      const work: Effect.Effect<Partial<RenewalEntry>, NameFailure> = file.document.privateKeys
        ? send(parts, entry)
        : draftedRenewal(parts, entry)
      yield* Effect.matchEffect(work, {
        onSuccess: (done) => {
          if (done.unsigned === undefined || done.unsigned !== unsigned) made++
          tries.forget(entry)
          parts.lastFailures.delete(nameKey(entry.name))
          return note(parts, entry, { ...after, ...done })
        },
        onFailure: (failure) => {
          if (failure._tag === "StorageCorrupted" || failure._tag === "StorageUnavailable") return failure
          tries.failed(entry, failure)
          noteFailure(parts, entry.name, failure)
          return note(
            parts,
            entry,
            withNote(
              after,
              failure._tag === "KeysLocked" && concernsAll(failure) ? WAITS.locked : failure.message
            )
          )
        }
      })
    }
  }).pipe(Effect.withSpan("svcd.wallet.renewals"))

/** Only before its NAME_UPDATE is made. Returns whether there was one. */
export const cancelRenewal = (parts: NameParts, name: Bytes): Effect.Effect<boolean, StorageFailure> =>
  Effect.suspend(() => {
    const entries = requestedIn(parts.file.document)
    const kept = entries.filter((entry) => entry.state !== "waiting" || !equal(entry.name, name))
    return kept.length === entries.length
      ? Effect.succeed(false)
      : Effect.as(update(parts, withRequested(kept)), true)
  })
