import type { Cursor } from "../../chain/write/Follower.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { type Height, nameKey } from "../../protocol/keys.ts"
import { firstOperationAt } from "../NameEntry.ts"
import { blockKey, endOf, type EventCursor, EventPhase, indexOf, numberIn, phaseOf } from "./EventCursor.ts"
import type { UndoneEvent, UndoneName } from "./NameEvent.ts"
import type { OperationLog } from "./OperationLog.ts"
import { expiredFrom } from "./readEvents.ts"

/** A name that a block sets, and the owner's script. */
export interface TouchedName {
  readonly name: Bytes
  readonly owner: Bytes
}

/** Names per event. A block with more takes several events to undo. */
const NAMES_AT_ONCE = 1_000

export interface Undoing {
  /** What the operations of the block set, in order. */
  readonly touched: ReadonlyArray<TouchedName>
  readonly params: ConsensusParams
  /** The reader's cursor, in the block. */
  readonly from: EventCursor
  readonly at: Cursor
  readonly parent: Cursor
  /** The height down to which blocks are undone. */
  readonly base: Height
}

/** The names of a block in one order: those that it set, and those that expired at its height. */
const changedNames = (log: OperationLog, { at, base, params, touched }: Undoing): ReadonlyArray<Touched> => {
  const changed = new Map<string, Touched>()
  for (const { name, owner } of touched) {
    const known = changed.get(nameKey(name))
    if (known === undefined) changed.set(nameKey(name), { name, owners: [owner] })
    else if (!known.owners.some((other) => equal(other, owner))) known.owners.push(owner)
  }
  const updated = expiredFrom(at.height, params)
  if (updated !== undefined && updated <= base) {
    const range = { from: firstOperationAt(updated), to: firstOperationAt(updated + 1) }
    for (const { record: { name } } of log.newest(range, firstOperationAt(base + 1))) {
      if (!changed.has(nameKey(name))) changed.set(nameKey(name), { name, owners: [] })
    }
  }
  return [...changed.values()]
}

interface Touched {
  readonly name: Bytes
  readonly owners: Array<Bytes>
}

/**
 * The next event that undoes a block. Each name has the record of the base: the blocks between are undone too, and
 * those of the best chain above the base follow as events.
 */
export const undoneEvent = (log: OperationLog, undoing: Undoing): UndoneEvent => {
  const { at, base, from, parent } = undoing
  const changed = changedNames(log, undoing)
  const done: EventCursor = parent.height > base ? { ...endOf(parent), base } : endOf(parent)
  const behind = (index: number): EventCursor =>
    index === changed.length - 1
      ? done
      : { height: at.height, number: numberIn({ phase: EventPhase.undone, index }), block: blockKey(at.hash), base }
  const first = phaseOf(from.number) === EventPhase.undone ? indexOf(from.number) + 1 : 0
  const names = changed.slice(first, first + NAMES_AT_ONCE).map(({ name, owners }, i): UndoneName => ({
    cursor: behind(first + i),
    name,
    record: log.recordBelow(name, firstOperationAt(base + 1)),
    owners
  }))
  return { type: "undone", cursor: names.at(-1)?.cursor ?? done, height: at.height, hash: at.hash, names }
}
