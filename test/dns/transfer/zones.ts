import { assert } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import { regtestParams } from "../../../src/consensus/params.ts"
import { rowOfBlock, type SerialRow } from "../../../src/dns/transfer/serials.ts"
import {
  changedZone,
  fewChanges,
  type Messages,
  soaAlone,
  wholeZone,
  type ZoneEdition
} from "../../../src/dns/transfer/transferStreams.ts"
import { TransferWriter } from "../../../src/dns/transfer/TransferWriter.ts"
import { readMessage } from "../../../src/dns/wire/message.ts"
import { wireNameOfHost } from "../../../src/dns/wire/name.ts"
import type { Apex } from "../../../src/dns/zone/apex.ts"
import type { NameDb } from "../../../src/names/NameDb.ts"
import { openNamesSnapshot } from "../../../src/names/NamesSnapshot.ts"
import { toHex } from "../../../src/protocol/bytes.ts"

/** Transfers as a secondary sees them. */

export const ORIGIN = wireNameOfHost("bit.")

export const apexAt = (serial: number): Apex => ({
  origin: ORIGIN,
  soa: {
    type: "SOA",
    mname: wireNameOfHost("ns1.example.org."),
    rname: wireNameOfHost("hostmaster.ns1.example.org."),
    serial,
    refresh: 600,
    retry: 600,
    expire: 7_200,
    minimum: 60
  },
  servers: [wireNameOfHost("ns1.example.org.")],
  keys: [],
  ownHosts: true,
  ttl: 600
})

const SOA = 6

export const newWriter = () => new TransferWriter({ id: 1, question: { asked: ORIGIN, type: 252, class: 1 }, spare: 0 })

/** Records of a transfer in order, each as a line. */
export const linesOf = (messages: Messages) =>
  Effect.map(
    Stream.runCollect(messages),
    (all) =>
      Chunk.toReadonlyArray(all).flatMap((bytes) =>
        readMessage(bytes).answer.map(({ data, owner, ttl, type }) => ({
          line: `${JSON.stringify(owner)} ${ttl} ${type} ${toHex(data)}`,
          type,
          data,
          owner
        }))
      )
  )

type Line = Effect.Effect.Success<ReturnType<typeof linesOf>>[number]

export const serialOf = ({ data }: Line): number => new DataView(data.slice().buffer).getUint32(data.length - 20)

/** The records between the SOA records of a whole transfer, in no order. */
export const zoneOf = (lines: ReadonlyArray<Line>): ReadonlySet<string> => {
  const [first, last] = [lines[0], lines.at(-1)]
  assert.strictEqual(first?.type, SOA)
  assert.strictEqual(last?.line, first?.line)
  const inner = lines.slice(1, -1)
  assert.isTrue(inner.every(({ type }) => type !== SOA))
  const zone = new Set(inner.map(({ line }) => line))
  assert.strictEqual(zone.size, inner.length, "records that come twice")
  return zone
}

/** Applies an incremental transfer as RFC 1995 says. Records to remove have to exist, those to add must not. */
export const applied = (zone: ReadonlySet<string>, lines: ReadonlyArray<Line>): ReadonlySet<string> => {
  assert.strictEqual(lines[0]?.line, lines.at(-1)?.line)
  const next = new Set(zone)
  let isAdding = true
  for (const { line, type } of lines.slice(1, -1)) {
    if (type === SOA) isAdding = !isAdding
    else if (isAdding) {
      assert.isFalse(next.has(line), `added twice: ${line}`)
      next.add(line)
    } else assert.isTrue(next.delete(line), `removed without being there: ${line}`)
  }
  return next
}

/** The last state of names.db with its serial. */
export const editionOf = (filename: string, rows: ReadonlyArray<SerialRow>) =>
  Effect.gen(function*() {
    const reads = yield* openNamesSnapshot(filename)
    const row = rowOfBlock(rows, reads.points.cursor()?.hash ?? new Uint8Array())
    assert(row !== undefined)
    const edition: ZoneEdition = { reads, row, params: regtestParams, apex: apexAt }
    return edition
  })

export const wholeOf = (edition: ZoneEdition) => linesOf(wholeZone(edition, newWriter()))

export const soaOf = (edition: ZoneEdition) => linesOf(soaAlone(edition.apex(edition.row.serial), newWriter()))

/** `undefined` if only the whole zone tells. */
export const changesOf = (edition: ZoneEdition, since: SerialRow) =>
  Effect.flatMap(
    changedZone(edition, since, newWriter()),
    (messages) => messages === undefined ? Effect.succeed(undefined) : linesOf(messages)
  )

/** The same as the node reads it at once. */
export const changesAtOnce = (db: typeof NameDb.Service, edition: ZoneEdition, since: SerialRow) =>
  Effect.flatMap(
    db.readLog((_log, reads) => fewChanges({ ...edition, reads }, since, newWriter())),
    (messages) => messages === undefined ? Effect.succeed(undefined) : linesOf(messages)
  )
