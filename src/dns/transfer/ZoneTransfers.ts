import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { DnsTransferRule } from "../../config/dnsKinds.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { NameDb } from "../../names/NameDb.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Transfers } from "../parts.ts"
import type { DnsQuery } from "../query.ts"
import { answerLimit } from "../reply.ts"
import type { DnsClient, DnsReply } from "../Responder.ts"
import { FLAGS, META_TYPES, type RcodeName, RCODES } from "../wire/codes.ts"
import { MessageWriter } from "../wire/MessageWriter.ts"
import { askedQuestion } from "../wire/response.ts"
import type { Apex } from "../zone/apex.ts"
import { Secondaries, type Secondary, type TransferKind } from "./Secondaries.ts"
import { makeTransferAccess } from "./transferAccess.ts"
import { TransferWriter } from "./TransferWriter.ts"
import { checkTsig, refuseTsig, type TransferKey, tsigBytes, type TsigChain } from "./tsig.ts"
import { clientSerial, makeZoneSending, type Sending } from "./zoneSending.ts"
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
  readonly counted: (kind: TransferKind | "refused" | "failed" | "cut") => void
}

/** Transfers at the same time, each of which keeps a state of names.db. Others wait. */
const CONCURRENT = 4

/** A secondary that reads more slowly holds up the log of names.db, and has to begin again. */
const LONGEST_TRANSFER = "10 minutes"

const writer = new MessageWriter()

/** An answer without records. */
const bare = (query: DnsQuery, rcode: RcodeName, flags = 0): Uint8Array =>
  writer.start({ id: query.id, flags: FLAGS.QR | flags | RCODES[rcode], question: askedQuestion(query) }).bytes()

const message = (bytes: Bytes): DnsReply => ({ _tag: "Message", bytes })

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
    const sendingFor = makeZoneSending({ namesFile, params, apex, answers, serials, readLog })

    const failure = (query: DnsQuery, reason: string): Stream.Stream<Uint8Array> =>
      Stream.execute(Effect.logWarning("a zone transfer failed", { reason })).pipe(
        // Ends the transfer for the secondary, which tries again (RFC 5936, section 2.2).
        Stream.concat(Stream.make(bare(query, "SERVFAIL")))
      )

    const noteSent = ({ address }: DnsClient, { kind, serial }: Sending): Effect.Effect<void> =>
      Effect.flatMap(Clock.currentTimeMillis, (at) =>
        Effect.zipRight(
          Effect.sync(() => secondaries.note({ address, serial, at, by: kind })),
          Effect.logInfo("the zone was transferred", { to: address, kind, serial })
        ))

    /** Counts how a transfer ends. One that neither ends nor fails is cut off: the client left, or read too slowly. */
    const countedEnd = (client: DnsClient) =>
      Effect.map(
        Effect.acquireRelease(
          Effect.sync((): { end: TransferKind | "failed" | "cut" } => ({ end: "cut" })),
          ({ end }) => {
            counted(end)
            return end === "cut" ? Effect.logInfo("a zone transfer was cut off", { to: client.address }) : Effect.void
          }
        ),
        (state) => (end: TransferKind | "failed") => Effect.sync(() => void (state.end = end))
      )

    const messagesFor = (asked: Asked): Stream.Stream<Uint8Array> => {
      const { chain, client, query } = asked
      const spare = chain === undefined ? 0 : tsigBytes(chain.key)
      return Stream.unwrapScoped(Effect.gen(function*() {
        yield* Effect.acquireRelease(places.take(1), () => places.release(1))
        const ends = yield* countedEnd(client)
        const writer = new TransferWriter({ id: query.id, question: askedQuestion(query), spare })
        const sent = (sending: Sending) => Effect.zipRight(noteSent(client, sending), ends(sending.kind))
        return Stream.unwrapScoped(
          Effect.map(
            sendingFor(query, writer),
            (sending) => Stream.concat(sending.messages, Stream.execute(sent(sending)))
          )
        ).pipe(
          Stream.catchAll(({ message }) => Stream.concat(Stream.execute(ends("failed")), failure(query, message))),
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
