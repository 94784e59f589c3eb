import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { prefixEnd, successor } from "../../names/nameChanges.ts"
import type { StateReads } from "../../names/NameDb.ts"
import { nameEntryOf, plain } from "../../names/NameEntry.ts"
import type { SnapshotReads } from "../../names/NamesSnapshot.ts"
import { STATES } from "../../names/PastReads.ts"
import { type Bytes, compare, EMPTY, equal } from "../../protocol/bytes.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { RecordSet } from "../records.ts"
import { childName } from "../wire/name.ts"
import type { Apex } from "../zone/apex.ts"
import { apexSets, OWN_LABEL, ownHosts, SECONDS, soaSet } from "../zone/apex.ts"
import type { SerialRow } from "./serials.ts"
import type { TransferWriter } from "./TransferWriter.ts"
import { makeComparison, touchedNames } from "./zoneChanges.ts"
import { LivingValues, setsOfDomain, setsOfTree } from "./zoneState.ts"

/** The records of whole and incremental transfers, from one state of names.db. */

export const DOMAIN_PREFIX: Bytes = new TextEncoder().encode("d/")

/** The zone at a serial. */
export interface ZoneEdition<Reads = SnapshotReads> {
  readonly reads: Reads
  /** The block of that state. */
  readonly row: SerialRow
  readonly params: ConsensusParams
  /** The zone's own records with a serial. */
  readonly apex: (serial: number) => Apex
}

export type Messages = Stream.Stream<Uint8Array, StorageFailure>

/** Names read between two turns of the event loop. */
const PAGE_NAMES = 200

/** The sets of the apex but SOA, which a transfer without signatures has. */
export const apexPart = (apex: Apex): ReadonlyArray<RecordSet> => {
  const { origin } = apex
  const own = apex.ownHosts ? childName(OWN_LABEL, origin) : undefined
  return [
    ...apexSets({ ...apex, keys: [] }).filter(({ type }) => type !== soaSet(apex).type),
    ...own === undefined ? [] : setsOfTree(own, ownHosts(apex), SECONDS.ownHosts)
  ]
}

/** The whole zone between two SOA records (RFC 5936). */
export const wholeZone = ({ apex: apexAt, params, reads, row }: ZoneEdition, writer: TransferWriter): Messages => {
  const apex = apexAt(row.serial)
  const { ttl } = apex
  const values = new LivingValues({ height: row.height, params, record: (name) => reads.points.record(name) })
  const end = prefixEnd(DOMAIN_PREFIX) ?? EMPTY

  /** Writes a page of names, and returns the first name of the next one. */
  const writePage = (from: Bytes): Bytes | undefined => {
    const found = reads.search.byName({ from, limit: PAGE_NAMES })
    for (const row of found) {
      const name = plain(row.name)
      if (compare(name, end) >= 0) return undefined
      for (const set of setsOfDomain(name, values.living(nameEntryOf(name, row)), { ttl, values })) writer.add(set)
    }
    const last = found[PAGE_NAMES - 1]
    return last === undefined ? undefined : successor(plain(last.name))
  }

  return Stream.suspend(() => {
    writer.add(soaSet(apex))
    for (const set of apexPart(apex)) writer.add(set)
    return Stream.paginateChunkEffect(DOMAIN_PREFIX, (from) =>
      reads.point(() => {
        const next = writePage(from)
        if (next === undefined) writer.add(soaSet(apex))
        const messages = next === undefined ? writer.finish() : writer.take()
        return [Chunk.unsafeFromArray(messages), Option.fromNullable(next)] as const
      }).pipe(Effect.zipLeft(turnOfEventLoop)))
  })
}

/** The SOA record alone: the secondary is not behind (RFC 1995, section 4). */
export const soaAlone = (apex: Apex, writer: TransferWriter): Messages =>
  Stream.suspend(() => {
    writer.add(soaSet(apex))
    return Stream.fromIterable(writer.finish())
  })

/** Names that one incremental transfer looks at. With more the whole zone is not much longer. */
const MOST_NAMES = 20_000

/** Names compared between two turns of the event loop: those of most blocks. */
const COMPARED_NAMES = STATES

/** Records of one incremental transfer. With more the whole zone is not much longer. */
const MOST_RECORDS = 100_000

interface Changes {
  readonly removed: Array<RecordSet>
  readonly added: Array<RecordSet>
}

/** The names that may have changed since a row; `undefined` if they are unknown, or more than `most`. */
const namesSince = (
  { params, reads, row }: ZoneEdition<StateReads>,
  since: SerialRow,
  most: number
): ReadonlyArray<Bytes> | undefined => {
  const span = { from: since.height, to: row.height }
  const hash = span.from > span.to ? undefined : reads.past.blockAt(span.from)
  return hash === undefined || !equal(hash, since.hash)
    ? undefined
    : touchedNames(reads, { ...span, params, most })
}

/** Adds the changes of at most `STATES` names since a row. */
const comparing = ({ apex, params, reads, row }: ZoneEdition<StateReads>, since: SerialRow, into: Changes) => {
  const { ttl } = apex(row.serial)
  const compareZones = makeComparison(reads, { from: since.height, to: row.height, params, ttl })
  return (names: ReadonlyArray<Bytes>): void => {
    for (const { added, removed } of compareZones(names)) {
      into.removed.push(...removed)
      into.added.push(...added)
    }
  }
}

/** One difference (RFC 1995, section 4). */
const differenceMessages = (
  { apex, row }: Pick<ZoneEdition, "apex" | "row">,
  { changes, since }: { readonly changes: Changes; readonly since: SerialRow },
  writer: TransferWriter
): Messages =>
  Stream.suspend(() => {
    const soa = soaSet(apex(row.serial))
    writer.add(soa)
    writer.add(soaSet(apex(since.serial)))
    for (const set of changes.removed) writer.add(set)
    writer.add(soa)
    for (const set of changes.added) writer.add(set)
    writer.add(soa)
    return Stream.fromIterable(writer.finish())
  })

/** Blocks whose changes are looked for at once: of more, the search alone would hold up other work. */
export const BLOCKS_AT_ONCE = 6

/** What changed in the last few blocks, read at once; `undefined` if that is unknown, or for more names than those of a block. */
export const fewChanges = (
  edition: ZoneEdition<StateReads>,
  since: SerialRow,
  writer: TransferWriter
): Messages | undefined => {
  if (edition.row.height - since.height > BLOCKS_AT_ONCE) return undefined
  const names = namesSince(edition, since, COMPARED_NAMES)
  if (names === undefined) return undefined
  const changes: Changes = { removed: [], added: [] }
  comparing(edition, since, changes)(names)
  return differenceMessages(edition, { changes, since }, writer)
}

/** What changed since a serial; `undefined` if only the whole zone tells. */
export const changedZone = (
  edition: ZoneEdition,
  since: SerialRow,
  writer: TransferWriter
): Effect.Effect<Messages | undefined, StorageFailure> =>
  Effect.gen(function*() {
    const { reads } = edition
    const names = yield* reads.point(() => namesSince(edition, since, MOST_NAMES))
    if (names === undefined) return undefined
    const changes: Changes = { removed: [], added: [] }
    const compareNames = comparing(edition, since, changes)
    for (let at = 0; at < names.length; at += COMPARED_NAMES) {
      yield* reads.point(() => compareNames(names.slice(at, at + COMPARED_NAMES)))
      if (changes.removed.length + changes.added.length > MOST_RECORDS) return undefined
      yield* turnOfEventLoop
    }
    return differenceMessages(edition, { changes, since }, writer)
  })
