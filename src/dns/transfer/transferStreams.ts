import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { prefixEnd, successor } from "../../names/nameChanges.ts"
import { nameEntryOf, plain } from "../../names/NameEntry.ts"
import type { SnapshotReads } from "../../names/NamesSnapshot.ts"
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
export interface ZoneEdition {
  readonly reads: SnapshotReads
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

/** Names compared between two turns of the event loop. */
const COMPARED_NAMES = 64

/** Records of one incremental transfer. With more the whole zone is not much longer. */
const MOST_RECORDS = 100_000

interface Changes {
  readonly removed: Array<RecordSet>
  readonly added: Array<RecordSet>
}

/** The changes since a row; `undefined` if they are unknown, or too many. */
const changesSince = (
  { apex, params, reads, row }: ZoneEdition,
  since: SerialRow
): Effect.Effect<Changes | undefined, StorageFailure> =>
  Effect.gen(function*() {
    const { ttl } = apex(row.serial)
    const span = { from: since.height, to: row.height }
    const names = yield* reads.point(() => {
      const hash = span.from > span.to ? undefined : reads.past.blockAt(span.from)
      return hash === undefined || !equal(hash, since.hash) ? undefined : touchedNames(reads, span, params)
    })
    if (names === undefined) return undefined
    const compareZones = makeComparison(reads, { ...span, params, ttl })
    const changes: Changes = { removed: [], added: [] }
    for (let at = 0; at < names.length; at += COMPARED_NAMES) {
      yield* reads.point(() => {
        for (const name of names.slice(at, at + COMPARED_NAMES)) {
          const { added, removed } = compareZones(name)
          changes.removed.push(...removed)
          changes.added.push(...added)
        }
      })
      if (changes.removed.length + changes.added.length > MOST_RECORDS) return undefined
      yield* turnOfEventLoop
    }
    return changes
  })

/**
 * What changed since a serial, as one difference (RFC 1995, section 4); `undefined` if only the whole zone tells.
 */
export const changedZone = (
  edition: ZoneEdition,
  since: SerialRow,
  writer: TransferWriter
): Effect.Effect<Messages | undefined, StorageFailure> =>
  Effect.map(changesSince(edition, since), (changes) => {
    if (changes === undefined) return undefined
    const { apex, row } = edition
    return Stream.suspend(() => {
      const soa = soaSet(apex(row.serial))
      writer.add(soa)
      writer.add(soaSet(apex(since.serial)))
      for (const set of changes.removed) writer.add(set)
      writer.add(soa)
      for (const set of changes.added) writer.add(set)
      writer.add(soa)
      return Stream.fromIterable(writer.finish())
    })
  })
