import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { unixTime } from "../../base/clock.ts"
import { isAlarming, isLostState, isMoreUrgent } from "../../base/outlookWords.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import { blocksToExpiry } from "../../names/NameEntry.ts"
import { type Bytes, displayHash, equal } from "../../protocol/bytes.ts"
import { type NameKey, nameKey } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { type AcknowledgedEntry, MAX_ACKNOWLEDGED } from "../keys/registrationEntry.ts"
import type { WalletDocument } from "../keys/WalletDocument.ts"
import { update } from "../WalletParts.ts"
import { latestEntry, type NameParts, type RenewalFailure } from "./NameParts.ts"
import { type NameFacts, outlookOf, type RenewalLock } from "./outlook.ts"
import { isRenewed, ownSetting, renewalWindow } from "./renewals.ts"
import { isFinishedRenewal, requestedIn } from "./renewalVerdict.ts"
import type { NameOutlook, WalletName } from "./WalletNames.ts"

/** The facts for `outlookOf`, from the wallet, the mempool and names.db; and what the owner has acknowledged. */

/** Records of lost names read per turn of the event loop. */
const LOOKS_A_TURN = 25

/** Virtual bytes of a renewal without its name and value: two inputs and two outputs of legacy addresses. */
const RENEWAL_SIZE = 400

/** Virtual bytes that a fee rate is for. */
const KVB = 1_000

/** Known long before a renewal is due: the owner must change an option, or send each renewal from elsewhere. */
const NOT_SENT: RenewalFailure = {
  reason:
    "the wallet sends no transactions until svcd starts with -walletbroadcast=1 (off by default with -blocksonly)",
  isFunds: false
}

/** Without an estimate, which the next attempt may have. */
const LEAST_RATE = 100_000

const lockOf = ({ vault }: NameParts): RenewalLock => {
  if (!vault.signsRenewals()) return { type: "locked" }
  return vault.encryption() === "none"
    ? { type: "open" }
    : { type: "until", until: Math.max(vault.unlockedUntil(), vault.renewalsUntil()) }
}

const sizeOf = ({ name, operation }: WalletName): number =>
  RENEWAL_SIZE + name.length + (operation.op === "name_new" ? 0 : operation.value.length)

/** Whether an operation in the mempool gives the name away; the last one counts. */
const pendingOf = (
  { keys, mempool }: NameParts,
  key: NameKey
): Pick<NameFacts, "pending" | "pendingTxid"> => {
  const last = mempool.pending(key).findLast(({ name }) =>
    name !== undefined && name.script.operation.op !== "name_new"
  )
  if (last?.name === undefined) return { pending: "none" }
  return keys.own(last.name.script.address) === undefined
    ? { pending: "away" }
    : { pending: "own", pendingTxid: displayHash(last.transaction.txid) }
}

/** A missing or old record means that names.db is behind the wallet. */
const sinceOf = (parts: NameParts, last: WalletName): Effect.Effect<NameFacts["since"]> =>
  Effect.map(
    Effect.orElseSucceed(latestEntry(parts, last.name), () => undefined),
    (record) => {
      if (record === undefined || record.height < last.height) return "unknown"
      return equal(record.txid, last.txid) ? "nobody" : "other"
    }
  )

const acknowledgedIn = ({ acknowledged = [] }: WalletDocument): ReadonlyArray<AcknowledgedEntry> => acknowledged

/** A later operation, another state or a higher urgency is a new event. */
export const isKnown = (
  known: AcknowledgedEntry,
  { height, outlook: { state, urgency } }: Pick<NameOutlook, "height" | "outlook">
): boolean => known.height === height && known.state === state && !isMoreUrgent(urgency, known.urgency)

/** The outlook of each name in `names()`, as of the wallet's last block. */
export const outlooksOf = (parts: NameParts): Effect.Effect<ReadonlyArray<NameOutlook>> =>
  Effect.gen(function*() {
    const { broadcasts, chain: { params }, file: { document }, keys, ledger, lastFailures } = parts
    const { height } = ledger.tip
    const requested = new Set(
      requestedIn(document).flatMap((entry) => isFinishedRenewal(entry) ? [] : [nameKey(entry.name)])
    )
    const acknowledged = new Map(acknowledgedIn(document).map((entry) => [nameKey(entry.name), entry]))
    const context = { height, params, lock: lockOf(parts), now: yield* unixTime }
    const rate = Either.match(parts.payments.feeRate({}), {
      onLeft: () => LEAST_RATE,
      onRight: ({ feeRate }) => feeRate
    })
    let coins = ledger.balances().trusted
    let looks = 0
    const found: Array<NameOutlook> = []
    for (const last of ledger.names().toSorted((a, b) => a.height - b.height)) {
      const { height: made, mine, name } = last
      const key = nameKey(name)
      const left = blocksToExpiry(last, { tipHeight: height, params })
      const isLost = mine && left <= 0
      if (isLost && ++looks % LOOKS_A_TURN === 0) yield* turnOfEventLoop
      const pending = pendingOf(parts, key)
      const isOn = isRenewed(document, name) || requested.has(key)
      const cost = Math.ceil(rate * sizeOf(last) / KVB)
      const paid = coins >= cost
      // Coins for renewals that are due now are not there for later ones.
      const isDue = requested.has(key) || left <= renewalWindow(height, params)
      const isNext = mine && !isLost && isOn && pending.pending === "none" && isDue
      if (isNext && paid) coins -= cost
      const outlook = outlookOf({
        height: made,
        mine,
        spendable: keys.own(last.script)?.spendable === true,
        elsewhere: !document.privateKeys,
        renewal: isOn ? "on" : ownSetting(document, name) === false ? "off" : "unset",
        ...pending,
        paid,
        failure: (isDue ? lastFailures.get(key) : undefined) ?? (broadcasts ? undefined : NOT_SENT),
        since: isLost ? yield* sinceOf(parts, last) : "unknown"
      }, context)
      const known = acknowledged.get(key)
      found.push({
        name,
        height: made,
        outlook,
        acknowledged: known !== undefined && isKnown(known, { height: made, outlook })
      })
    }
    return found
  })

/** An event that the owner should know about and has not acknowledged. */
export const isAlarm = ({ acknowledged, outlook }: Pick<NameOutlook, "acknowledged" | "outlook">): boolean =>
  isAlarming(outlook.urgency) && !acknowledged

/** What has been lost gets no worse. */
const acknowledgedOf = ({ height, name, outlook: { state, urgency } }: NameOutlook): AcknowledgedEntry => ({
  name,
  height,
  state,
  urgency: isLostState(state) ? "alarm" : urgency
})

/** The oldest are dropped first. One event per name. */
export const withAcknowledged = (known: ReadonlyArray<NameOutlook>) => (document: WalletDocument): WalletDocument => {
  if (known.length === 0) return document
  const added = known.map(acknowledgedOf)
  const names = new Set(added.map(({ name }) => nameKey(name)))
  const kept = acknowledgedIn(document).filter(({ name }) => !names.has(nameKey(name)))
  return { ...document, acknowledged: [...kept, ...added].slice(-MAX_ACKNOWLEDGED) }
}

/** Acknowledges alerts for the given names, or for all. Returns the newly acknowledged ones. */
export const acknowledge = (
  parts: NameParts,
  names: ReadonlyArray<Bytes> | undefined
): Effect.Effect<ReadonlyArray<Bytes>, StorageFailure> =>
  Effect.gen(function*() {
    const wanted = names === undefined ? undefined : new Set(names.map(nameKey))
    const alarms = (yield* outlooksOf(parts)).filter((each) =>
      isAlarm(each) && (wanted === undefined || wanted.has(nameKey(each.name)))
    )
    if (alarms.length > 0) yield* update(parts, withAcknowledged(alarms))
    return alarms.map(({ name }) => name)
  })

/** What changed in an outlook, as far as its owner cares. */
export const eventOf = ({ height, outlook: { state, urgency } }: NameOutlook): string => `${height} ${state} ${urgency}`
