import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { DnsTransferRule } from "../../config/dnsKinds.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { NameDb } from "../../names/NameDb.ts"
import { openNamesSnapshot } from "../../names/NamesSnapshot.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { DecodeError } from "../../protocol/Reader.ts"
import { type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import { TYPE_NUMBERS } from "../../values/records.ts"
import type { Transfers } from "../parts.ts"
import type { DnsQuery } from "../query.ts"
import { answerLimit } from "../reply.ts"
import type { DnsClient, DnsReply } from "../Responder.ts"
import { FLAGS, META_TYPES, type RcodeName, RCODES } from "../wire/codes.ts"
import { readMessage } from "../wire/message.ts"
import { MessageWriter } from "../wire/MessageWriter.ts"
import { askedQuestion } from "../wire/response.ts"
import type { Apex } from "../zone/apex.ts"
import { Secondaries, type Secondary, type TransferKind } from "./Secondaries.ts"
import { isEarlierSerial, rowOfBlock, type SerialRow } from "./serials.ts"
import { makeTransferAccess } from "./transferAccess.ts"
import { changedZone, fewChanges, type Messages, soaAlone, wholeZone, type ZoneEdition } from "./transferStreams.ts"
import { TransferWriter } from "./TransferWriter.ts"
import { checkTsig, refuseTsig, type TransferKey, tsigBytes, type TsigChain } from "./tsig.ts"
import { windowZone } from "./windowZone.ts"
import { ZoneSerials } from "./ZoneSerials.ts"

/** Zone transfers, and the signatures of all messages with TSIG. */
export class ZoneTransfers extends Context.Tag("svcd/dns/ZoneTransfers")<
  ZoneTransfers,
  Transfers & {
    readonly secondaries: Secondaries
  }
>() {}

export interface ZoneTransfersOptions {
  /** The path of names.db. */
  readonly namesFile: string
  readonly params: ConsensusParams
  /** Who may transfer the zone. */
  readonly rules: ReadonlyArray<DnsTransferRule>
  readonly keys: ReadonlyArray<TransferKey>
  /** The zone's own records with a serial. */
  readonly apex: (serial: number) => Apex
  /** What became of a request. */
  readonly counted: (kind: TransferKind | "refused" | "failed") => void
}

/** Transfers at the same time, each of which keeps a state of names.db. Others wait. */
const CONCURRENT = 4

/** A secondary that reads more slowly holds up the log of names.db, and has to begin again. */
const LONGEST_TRANSFER = "10 minutes"

/** How long the serial of the last block may be on its way. */
const SERIAL_WAIT = "1 second"

const writer = new MessageWriter()

/** An answer without records. */
const bare = (query: DnsQuery, rcode: RcodeName, flags = 0): Uint8Array =>
  writer.start({ id: query.id, flags: FLAGS.QR | flags | RCODES[rcode], question: askedQuestion(query) }).bytes()

const message = (bytes: Bytes): DnsReply => ({ _tag: "Message", bytes })

/** The serial that the client of an IXFR has (RFC 1995, section 3); `undefined` without one. */
const clientSerial = ({ bytes, question }: DnsQuery): number | undefined => {
  if (question.type !== META_TYPES.IXFR) return undefined
  try {
    const soa = readMessage(bytes).authority.find(({ owner, type }) =>
      type === TYPE_NUMBERS.SOA && owner === question.name
    )
    // Two names, then five numbers of four bytes.
    return soa === undefined || soa.data.length < 22
      ? undefined
      : new DataView(soa.data.buffer, soa.data.byteOffset, soa.data.length).getUint32(soa.data.length - 20)
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

const seconds = Effect.map(Clock.currentTimeMillis, (now) => Math.floor(now / 1000))

/** A reply to a signed query, signed. An answer without room for the signature asks for TCP. */
const signed = (reply: DnsReply, query: DnsQuery, { chain, client }: SigningTo): Effect.Effect<DnsReply> => {
  const sign = (bytes: Bytes) => Effect.map(seconds, (now) => chain.sign(bytes, now))
  switch (reply._tag) {
    case "Drop":
      return Effect.succeed(reply)
    case "Transfer":
      return Effect.succeed({ _tag: "Transfer", messages: Stream.mapEffect(reply.messages, sign) })
    case "Message": {
      const fits = reply.bytes.length + tsigBytes(chain.key) <= answerLimit(query, client)
      return Effect.map(sign(fits ? reply.bytes : bare(query, "NOERROR", FLAGS.TC)), message)
    }
  }
}

interface SigningTo {
  readonly chain: TsigChain
  readonly client: DnsClient
}

interface Sending {
  readonly kind: TransferKind
  /** Of the zone that the secondary has then. */
  readonly serial: number
  readonly messages: Messages
}

interface Asked {
  readonly query: DnsQuery
  readonly client: DnsClient
  readonly chain: TsigChain | undefined
}

const make = (
  { apex, counted, keys, namesFile, params, rules }: ZoneTransfersOptions
): Effect.Effect<typeof ZoneTransfers.Service, never, NameAnswers | NameDb | ZoneSerials> =>
  Effect.gen(function*() {
    const answers = yield* NameAnswers
    const serials = yield* ZoneSerials
    const { readLog } = yield* NameDb
    const places = yield* Effect.makeSemaphore(CONCURRENT)
    const secondaries = new Secondaries()
    const mayTransfer = makeTransferAccess(rules)
    const { origin } = apex(0)

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

    const failure = (query: DnsQuery, reason: string): Stream.Stream<Uint8Array> =>
      Stream.execute(
        Effect.zipRight(
          Effect.sync(() => counted("failed")),
          Effect.logWarning("a zone transfer failed", { reason })
        )
      ).pipe(
        // Ends the transfer for the secondary, which tries again (RFC 5936, section 2.2).
        Stream.concat(Stream.make(bare(query, "SERVFAIL")))
      )

    const noteSent = ({ address }: DnsClient, { kind, serial }: Sending): Effect.Effect<void> =>
      Effect.flatMap(Clock.currentTimeMillis, (at) =>
        Effect.zipRight(
          Effect.sync(() => {
            counted(kind)
            secondaries.note({ address, serial, at, by: kind })
          }),
          Effect.logInfo("the zone was transferred", { to: address, kind, serial })
        ))

    const messagesFor = (asked: Asked): Stream.Stream<Uint8Array> => {
      const { chain, client, query } = asked
      const spare = chain === undefined ? 0 : tsigBytes(chain.key)
      return Stream.unwrapScoped(Effect.gen(function*() {
        yield* Effect.acquireRelease(places.take(1), () => places.release(1))
        const writer = new TransferWriter({ id: query.id, question: askedQuestion(query), spare })
        const sending = answers.fromWindow() ? Effect.sync(() => ofWindow(query, writer)) : ofChain(query, writer)
        return Stream.unwrapScoped(
          Effect.map(sending, (sent) => Stream.concat(sent.messages, Stream.execute(noteSent(client, sent))))
        ).pipe(
          Stream.catchAll(({ message }) => failure(query, message)),
          Stream.interruptAfter(LONGEST_TRANSFER)
        )
      }))
    }

    const refused = (query: DnsQuery, rcode: "NOTAUTH" | "REFUSED"): DnsReply => {
      counted("refused")
      return message(bare(query, rcode))
    }

    const failed = (query: DnsQuery, rcode: "FORMERR" | "SERVFAIL"): DnsReply => {
      counted("failed")
      return message(bare(query, rcode))
    }

    const transfer = (asked: Asked): Effect.Effect<DnsReply> =>
      Effect.gen(function*() {
        const { chain, client, query } = asked
        const isStream = client.transport === "tcp" || client.transport === "tls"
        const { name, type } = query.question
        if (!isStream || !mayTransfer({ address: client.address, key: chain?.key })) {
          yield* Effect.logDebug("a zone transfer was refused", { to: client.address, transport: client.transport })
          return refused(query, "REFUSED")
        }
        if (name !== origin) return refused(query, "NOTAUTH")
        if (type === META_TYPES.IXFR && clientSerial(query) === undefined) return failed(query, "FORMERR")
        // A zone that lacks names would deny them.
        if (!(yield* Effect.orElseSucceed(answers.complete, () => false))) return failed(query, "SERVFAIL")
        return { _tag: "Transfer", messages: messagesFor(asked) }
      })

    const isTransfer = ({ question: { type } }: DnsQuery): boolean =>
      type === META_TYPES.AXFR || type === META_TYPES.IXFR

    const take: Transfers["take"] = (query, client, answer) =>
      Effect.gen(function*() {
        const reply = (chain?: TsigChain) => isTransfer(query) ? transfer({ query, client, chain }) : answer
        const { tsigAt } = query
        if (tsigAt === undefined) return yield* reply()
        const now = yield* seconds
        const check = checkTsig({ bytes: query.bytes, tsigAt }, keys, now)
        switch (check._tag) {
          case "Malformed":
            if (isTransfer(query)) counted("failed")
            return message(bare(query, "FORMERR"))
          case "Refused":
            if (isTransfer(query)) counted("refused")
            yield* Effect.logDebug("a signed query was refused", { from: client.address, fault: check.fault })
            return message(refuseTsig(bare(query, "NOTAUTH"), check, now))
          case "Signed":
            return yield* Effect.flatMap(
              reply(check.chain),
              (made) => signed(made, query, { chain: check.chain, client })
            )
        }
      }).pipe(Effect.annotateLogs("subsystem", "dns"))

    return ZoneTransfers.of({ take, secondaries })
  })

export type { Secondary }

export const layer = (
  options: ZoneTransfersOptions
): Layer.Layer<ZoneTransfers, never, NameAnswers | NameDb | ZoneSerials> => Layer.effect(ZoneTransfers, make(options))
