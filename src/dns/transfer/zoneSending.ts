import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { NameDb } from "../../names/NameDb.ts"
import { openNamesSnapshot } from "../../names/NamesSnapshot.ts"
import { decodedIf } from "../../protocol/Reader.ts"
import { type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import { TYPE_NUMBERS } from "../../values/records.ts"
import type { DnsQuery } from "../query.ts"
import { META_TYPES } from "../wire/codes.ts"
import { readMessage } from "../wire/message.ts"
import type { Apex } from "../zone/apex.ts"
import type { TransferKind } from "./Secondaries.ts"
import { isEarlierSerial, rowOfBlock, type SerialRow } from "./serials.ts"
import { changedZone, fewChanges, type Messages, soaAlone, wholeZone, type ZoneEdition } from "./transferStreams.ts"
import type { TransferWriter } from "./TransferWriter.ts"
import { windowZone } from "./windowZone.ts"
import type { ZoneSerials } from "./ZoneSerials.ts"

/** What a transfer sends: the whole zone, changes, or SOA alone. */

/** How long the serial of the last block may be on its way. */
const SERIAL_WAIT = "1 second"

/** The serial that the client of an IXFR has (RFC 1995, section 3); `undefined` without one. */
export const clientSerial = ({ bytes, question }: DnsQuery): number | undefined => {
  if (question.type !== META_TYPES.IXFR) return undefined
  return decodedIf(() => {
    const soa = readMessage(bytes).authority.find(({ owner, type }) =>
      type === TYPE_NUMBERS.SOA && owner === question.name
    )
    // Two names, then five numbers of four bytes.
    return soa === undefined || soa.data.length < 22
      ? undefined
      : new DataView(soa.data.buffer, soa.data.byteOffset, soa.data.length).getUint32(soa.data.length - 20)
  })
}

export interface Sending {
  readonly kind: TransferKind
  /** Serial of the zone that the secondary has then. */
  readonly serial: number
  readonly messages: Messages
}

export interface ZoneSendingOptions {
  /** The path of names.db. */
  readonly namesFile: string
  readonly params: ConsensusParams
  /** The zone's own records with a serial. */
  readonly apex: (serial: number) => Apex
  readonly answers: Parameters<typeof windowZone>[0]["answers"]
  readonly serials: typeof ZoneSerials.Service
  readonly readLog: (typeof NameDb.Service)["readLog"]
}

/** Decides what to send to a client, and reads it. The scope keeps the state that it reads from. */
export const makeZoneSending = (
  { answers, apex, namesFile, params, readLog, serials }: ZoneSendingOptions
): (query: DnsQuery, writer: TransferWriter) => Effect.Effect<Sending, StorageFailure, Scope.Scope> => {
  /** The last state of names.db, and its serial, which may come a moment later. */
  const edition: Effect.Effect<ZoneEdition, StorageFailure, Scope.Scope> = Effect.gen(function*() {
    for (let attempt = 0; attempt < 3; attempt++) {
      const reads = yield* openNamesSnapshot(namesFile)
      const tip = yield* reads.point(() => reads.points.cursor())
      const serial = serials.serial()
      const row = () => tip === undefined ? undefined : rowOfBlock(serials.rows(), tip.hash)
      if (row() === undefined) yield* Effect.timeoutOption(serials.after(serial), SERIAL_WAIT)
      const found = row()
      if (found !== undefined) return { reads, row: found, params, apex }
    }
    return yield* new StorageUnavailable({ file: namesFile, doing: "reading", reason: "blocks arrive too fast" })
  })

  /** SOA alone for an IXFR of a secondary that has this serial or a later one. */
  const ofCurrent = (query: DnsQuery, serial: number, writer: TransferWriter): Sending | undefined => {
    const known = clientSerial(query)
    return known === undefined || isEarlierSerial(known, serial)
      ? undefined
      : { kind: "current", serial, messages: soaAlone(apex(serial), writer) }
  }

  const rowOfClient = (query: DnsQuery): SerialRow | undefined => {
    const known = clientSerial(query)
    return known === undefined ? undefined : serials.rows().find((row) => row.serial === known)
  }

  /** Most transfers are the changes of a block. They are read without a connection and a snapshot of their own. */
  const ofFewChanges = (
    query: DnsQuery,
    writer: TransferWriter
  ): Effect.Effect<Sending | undefined, StorageFailure> => {
    const since = rowOfClient(query)
    if (since === undefined) return Effect.succeed(undefined)
    return readLog(({ last }, reads) => {
      const row = last === undefined ? undefined : rowOfBlock(serials.rows(), last.hash)
      if (row === undefined) return undefined
      const { serial } = row
      const current = ofCurrent(query, serial, writer)
      if (current !== undefined) return current
      const messages = fewChanges({ reads, row, params, apex }, since, writer)
      return messages === undefined ? undefined : { kind: "ixfr", serial, messages }
    })
  }

  const ofChain = (query: DnsQuery, writer: TransferWriter): Effect.Effect<Sending, StorageFailure, Scope.Scope> =>
    Effect.gen(function*() {
      const few = yield* ofFewChanges(query, writer)
      if (few !== undefined) return few
      const now = yield* edition
      const { serial } = now.row
      const current = ofCurrent(query, serial, writer)
      if (current !== undefined) return current
      const since = rowOfClient(query)
      const changed = since === undefined ? undefined : yield* changedZone(now, since, writer)
      return changed === undefined
        ? { kind: "axfr", serial, messages: wholeZone(now, writer) }
        : { kind: "ixfr", serial, messages: changed }
    })

  const ofWindow = (query: DnsQuery, writer: TransferWriter): Sending => {
    const serial = serials.serial()
    const whole = { answers, apex, params, serials }
    return ofCurrent(query, serial, writer) ?? { kind: "axfr", serial, messages: windowZone(whole, writer) }
  }

  return (query, writer) =>
    Effect.suspend(() => answers.fromWindow() ? Effect.sync(() => ofWindow(query, writer)) : ofChain(query, writer))
}
