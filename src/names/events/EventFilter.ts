import { type Bytes, EMPTY, equal } from "../../protocol/bytes.ts"
import type { NameEntry } from "../NameEntry.ts"
import { EVENT_KINDS, type EventKind, STREAM_KINDS, type StreamKind } from "./kinds.ts"
import { type NameEvent, seenBy, type UndoneName } from "./NameEvent.ts"

/** The events that a reader wants, matching all given parts. */
export interface EventFilter {
  readonly names?: ReadonlyArray<Bytes> | undefined
  /** Beginnings of names. */
  readonly prefixes?: ReadonlyArray<Bytes> | undefined
  /** Owners' scripts, before or after the event. */
  readonly owners?: ReadonlyArray<Bytes> | undefined
  /** Whether a name with an owner's script concerns the reader. */
  readonly concerns?: ((subject: { readonly name: Bytes; readonly owner: Bytes }) => boolean) | undefined
  /** Whether a script is of the reader's wallets: an update between two of them is not a transfer. */
  readonly isMine?: ((owner: Bytes) => boolean) | undefined
  /** By default all but `expiring` and `block`. Always includes `undone`, so that no reader keeps wrong data. */
  readonly kinds?: ReadonlyArray<StreamKind> | undefined
}

export const isEventKind = (word: string): word is EventKind => EVENT_KINDS.some((kind) => kind === word)

export const isStreamKind = (word: string): word is StreamKind => STREAM_KINDS.some((kind) => kind === word)

export const wantsBlocks = ({ kinds }: EventFilter): boolean => kinds?.includes("block") ?? false

/** Whether the reader wants names that are about to expire. */
export const wantsNotices = ({ kinds }: EventFilter): boolean => kinds?.includes("expiring") ?? false

/** Whether the reader wants all events except `expiring` and `block`. */
export const wantsAll = (filter: EventFilter): boolean => filter.kinds === undefined && wantsAllNames(filter)

/** Whether the reader wants events of all names, maybe of some kinds only. */
export const wantsAllNames = (filter: EventFilter): boolean =>
  filter.names === undefined && filter.prefixes === undefined && wantsAllOwners(filter)

/** Whether the reader does not care about owners. */
export const wantsAllOwners = ({ concerns, owners }: EventFilter): boolean =>
  owners === undefined && concerns === undefined

const startsWith = (name: Bytes, prefix: Bytes): boolean =>
  name.length >= prefix.length && equal(name.subarray(0, prefix.length), prefix)

const fitsName = ({ names, prefixes }: EventFilter, name: Bytes): boolean =>
  (names === undefined || names.some((wanted) => equal(wanted, name))) &&
  (prefixes === undefined || prefixes.some((prefix) => startsWith(name, prefix)))

const fitsOwner = ({ owners }: EventFilter, records: ReadonlyArray<Pick<NameEntry, "address"> | undefined>): boolean =>
  owners === undefined ||
  records.some((record) => record !== undefined && owners.some((owner) => equal(owner, record.address)))

/** Whether the name concerns the reader with one of its owners. A lost record has no known owner. */
const fitsConcern = (
  { concerns }: EventFilter,
  { name, records }: {
    readonly name: Bytes
    readonly records: ReadonlyArray<Pick<NameEntry, "address"> | undefined>
  }
): boolean => {
  if (concerns === undefined) return true
  const owners = records.flatMap((record) => record === undefined ? [] : [record.address])
  return (owners.length === 0 ? [EMPTY] : owners).some((owner) => concerns({ name, owner }))
}

const fits = (
  filter: EventFilter,
  { name, records }: {
    readonly name: Bytes
    readonly records: ReadonlyArray<Pick<NameEntry, "address"> | undefined>
  }
): boolean => fitsName(filter, name) && fitsOwner(filter, records) && fitsConcern(filter, { name, records })

/** Whether a name with these present or former owners matches the filter. */
export const fitsOwners = (
  filter: EventFilter,
  { name, owners }: { readonly name: Bytes; readonly owners: ReadonlyArray<Bytes> }
): boolean => fits(filter, { name, records: owners.map((address) => ({ address })) })

const fitsUndone = (filter: EventFilter, { name, owners, record }: UndoneName): boolean =>
  fits(filter, { name, records: [record, ...owners.map((address) => ({ address }))] })

const seen = ({ isMine }: EventFilter, event: NameEvent): NameEvent =>
  isMine === undefined ? event : seenBy(event, isMine)

/** The events of a page as the reader wants them. */
export const allFiltered = (filter: EventFilter, events: ReadonlyArray<NameEvent>): ReadonlyArray<NameEvent> => {
  if (!wantsAll(filter)) return events.flatMap((event) => filtered(filter, event) ?? [])
  return filter.isMine === undefined ? events : events.map((event) => seen(filter, event))
}

/** The event as the reader wants it, if at all. */
export const filtered = (filter: EventFilter, given: NameEvent): NameEvent | undefined => {
  const event = seen(filter, given)
  if (event.type === "undone") {
    const names = event.names.filter((name) => fitsUndone(filter, name))
    if (names.length === event.names.length) return event
    return names.length === 0 ? undefined : { ...event, names }
  }
  const { kinds } = filter
  if (event.type === "block") return wantsBlocks(filter) ? event : undefined
  if (kinds === undefined ? event.type === "expiring" : !kinds.includes(event.type)) return undefined
  const before = event.type === "expired" || event.type === "expiring" ? undefined : event.before
  return fits(filter, { name: event.record.name, records: [event.record, before] }) ? event : undefined
}
