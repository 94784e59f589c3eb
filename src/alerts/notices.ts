import { isLostState } from "../base/outlookWords.ts"
import { expirationDepth, expiryHeight } from "../consensus/expiry.ts"
import type { NameClock } from "../names/NameEntry.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { type Height, type NameKey, nameKey } from "../protocol/keys.ts"
import { isAlarm } from "../wallet/names/outlooks.ts"
import type { NameOutlook } from "../wallet/names/WalletNames.ts"
import { type ExpiringName } from "./expiring.ts"

/** A notice that was given, with the height of the record's operation. */
export interface Told {
  readonly name: Bytes
  readonly height: Height
  /** The notice, in blocks before the expiry. */
  readonly within: number
}

/** A name that may be due for a notice. */
export interface Subject extends ExpiringName {
  /** Whether an operation on the name waits for a block. */
  readonly pending: boolean
  /** Whether a loaded wallet has the name. */
  readonly mine: boolean
  /** Whether that wallet renews the name automatically. */
  readonly renewed: boolean
}

export interface ExpiryNotice extends Told {
  readonly left: number
  readonly mine: boolean
  readonly pending: boolean
  readonly renewed: boolean
}

/**
 * The first notice, as an index of `noticesOf`, for a name that a wallet renews automatically or that has a pending
 * operation: a week before the expiry. The wallet renews it two weeks before, so a notice means that it could not (it
 * may be locked), or that no miner takes the operation.
 */
const FIRST_OF_RENEWED = 3

/** The last notice that a name with so many blocks left has reached, if any. */
export const noticeAt = (left: number, notices: ReadonlyArray<number>): number | undefined =>
  notices.filter((within) => left <= within).at(-1)

/**
 * The notices that are due, and all given ones including these. A name that was not watched at a notice, or while the
 * node was down, gets only the last one that it has reached.
 */
export const dueNotices = (
  told: ReadonlyArray<Told>,
  subjects: ReadonlyArray<Subject>,
  { clock: { params, tipHeight }, notices }: { readonly clock: NameClock; readonly notices: ReadonlyArray<number> }
): { readonly due: ReadonlyArray<ExpiryNotice>; readonly told: ReadonlyArray<Told> } => {
  const known = new Map<NameKey, Told>()
  for (const each of told) {
    // A notice of an expired record is useless.
    if (expiryHeight(each.height, params) > tipHeight) known.set(nameKey(each.name), each)
  }
  const first = notices[FIRST_OF_RENEWED] ?? 0
  const due: Array<ExpiryNotice> = []
  for (const { left, mine, pending, record: { height, name }, renewed } of subjects) {
    const within = noticeAt(left, notices)
    if (within === undefined || ((pending || renewed) && within > first)) continue
    const before = known.get(nameKey(name))
    if (before?.height === height && before.within <= within) continue
    known.set(nameKey(name), { name, height, within })
    due.push({ name, height, within, left, mine, pending, renewed })
  }
  return { due, told: [...known.values()] }
}

/** A loss that was reported, with the height of the lost record's operation. */
export interface ToldLoss {
  readonly name: Bytes
  readonly height: Height
}

/** A name can be lost by one wallet, and then by another. */
const lossKey = ({ height, name }: ToldLoss): string => `${height} ${nameKey(name)}`

/** The losses to report, and all reported ones including these. Those that the owner has acknowledged are not reported. */
export const dueLosses = <A extends NameOutlook>(
  told: ReadonlyArray<ToldLoss>,
  outlooks: ReadonlyArray<A>,
  { params, tipHeight }: NameClock
): { readonly due: ReadonlyArray<A>; readonly told: ReadonlyArray<ToldLoss> } => {
  // A loss alarms for one life of a name.
  const since = tipHeight - expirationDepth(tipHeight, params)
  const kept = told.filter(({ height }) => expiryHeight(height, params) > since)
  const known = new Set(kept.map(lossKey))
  const due = outlooks.filter((each) => isLostState(each.outlook.state) && isAlarm(each) && !known.has(lossKey(each)))
  return { due, told: [...kept, ...due.map(({ height, name }) => ({ name, height }))] }
}

/** Names within each notice, in the order of `noticesOf`. */
export const countWithin = (subjects: ReadonlyArray<ExpiringName>, notices: ReadonlyArray<number>) =>
  notices.map((within) => subjects.filter(({ left }) => left <= within).length)
