import { expiryHeight } from "../consensus/expiry.ts"
import type { NameClock } from "../names/NameEntry.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { type Height, type NameKey, nameKey } from "../protocol/keys.ts"
import { type ExpiringName } from "./expiring.ts"

/** Which notices are due before names expire. */

/** A notice that was given: the record that was meant by the height of its operation. */
export interface Told {
  readonly name: Bytes
  readonly height: Height
  /** The notice, in blocks before the expiry. */
  readonly within: number
}

/** A name for which a notice may be due. */
export interface Subject extends ExpiringName {
  /** Whether an operation on the name waits for a block. */
  readonly pending: boolean
  /** Whether a loaded wallet has the name. */
  readonly mine: boolean
  /** Whether that wallet renews the name by itself. */
  readonly renewed: boolean
}

export interface ExpiryNotice extends Told {
  /** Blocks until the name expires. */
  readonly left: number
  readonly mine: boolean
  readonly pending: boolean
  readonly renewed: boolean
}

/**
 * The first notice for a name that a wallet renews by itself, or for which an operation waits for a block: a week before the
 * expiry, as an index of `noticesOf`. The wallet renews it two weeks before; a notice means that it could not, for example
 * because it is locked, or that no miner takes the operation.
 */
const FIRST_OF_RENEWED = 3

/** The notice for a name with so many blocks left: the last one that it has reached; `undefined` before the first. */
export const noticeAt = (left: number, notices: ReadonlyArray<number>): number | undefined =>
  notices.filter((within) => left <= within).at(-1)

/**
 * The notices that are due, and all that were given afterwards. A name that was not watched at a notice, or while the node
 * did not run, gets the last one that it has reached, and no earlier one.
 */
export const dueNotices = (
  told: ReadonlyArray<Told>,
  subjects: ReadonlyArray<Subject>,
  { clock: { params, tipHeight }, notices }: { readonly clock: NameClock; readonly notices: ReadonlyArray<number> }
): { readonly due: ReadonlyArray<ExpiryNotice>; readonly told: ReadonlyArray<Told> } => {
  const known = new Map<NameKey, Told>()
  for (const each of told) {
    // A notice of a record that has expired is of no use any more.
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

/** Names within each notice, in the order of `noticesOf`. */
export const countWithin = (subjects: ReadonlyArray<ExpiringName>, notices: ReadonlyArray<number>) =>
  notices.map((within) => subjects.filter(({ left }) => left <= within).length)
