import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Random } from "../../base/random.ts"
import type { DnsForwardTarget } from "../../config/dnsKinds.ts"
import type { Question } from "../answer.ts"
import { FLAGS } from "../wire/codes.ts"
import type { DnsMessage } from "../wire/message.ts"
import { AskFailed } from "./AskFailed.ts"
import { overUdp } from "./datagram.ts"
import { DnsConnection } from "./DnsConnection.ts"
import { answerTo, type ForeignQuery, foreignQuery, type QueryFlags } from "./foreignQuery.ts"

/** Milliseconds for an answer over UDP; over TCP or TLS, the connection included. */
export const UDP_TIMEOUT = 1_000
const STREAM_TIMEOUT = 2_000

/** Datagrams of the server that do not answer the query. So many are an attempt to guess, and TCP is next. */
const MAX_STRANGERS = 8

export type AskFlags = Omit<QueryFlags, "isPadded">

/** Asks one server one question. */
export type AskServer = (question: Question, flags: AskFlags) => Effect.Effect<DnsMessage, AskFailed>

const timed = (milliseconds: number) => <A>(asking: Effect.Effect<A, AskFailed>): Effect.Effect<A, AskFailed> =>
  Effect.timeoutFail(asking, {
    duration: milliseconds,
    onTimeout: () => new AskFailed({ reason: "no answer in time" })
  })

const overStream = (connection: DnsConnection, query: ForeignQuery): Effect.Effect<DnsMessage, AskFailed> =>
  Effect.flatMap(connection.ask(query.bytes), (bytes) => {
    // Letters do not count: who answers on a connection has seen the query.
    const answer = answerTo(query, bytes)
    return answer === undefined
      ? new AskFailed({ reason: "the answer does not fit the query" })
      : Effect.succeed(answer.message)
  })

const udpAnswer = (query: ForeignQuery, target: DnsForwardTarget): Effect.Effect<DnsMessage | "use TCP", AskFailed> => {
  let strangers = 0
  return overUdp(query.bytes, target.address, (datagram) => {
    const answer = answerTo(query, datagram)
    if (answer === undefined) return ++strangers < MAX_STRANGERS ? undefined : "use TCP"
    return answer.hasLetters && (answer.message.flags & FLAGS.TC) === 0 ? answer.message : "use TCP"
  })
}

/** Asks over TCP, on a connection for this query. */
const overTcp = (target: DnsForwardTarget, query: ForeignQuery): Effect.Effect<DnsMessage, AskFailed> =>
  timed(STREAM_TIMEOUT)(
    Effect.acquireUseRelease(
      Effect.sync(() => new DnsConnection(target)),
      (connection) => overStream(connection, query),
      (connection) => Effect.sync(() => connection.close("done"))
    )
  )

/** Asks over TCP alone. */
export const tcpServer = (target: DnsForwardTarget, random: Random): AskServer => (question, flags) =>
  Effect.suspend(() => overTcp(target, foreignQuery(question, { ...flags, isPadded: false }, random)))

/** Asks over UDP, then over TCP if that answer is cut or in doubt. */
export const plainServer = (target: DnsForwardTarget, random: Random): AskServer => (question, flags) => {
  const query = foreignQuery(question, { ...flags, isPadded: false }, random)
  return Effect.flatMap(
    timed(UDP_TIMEOUT)(udpAnswer(query, target)),
    (answer) => answer === "use TCP" ? overTcp(target, query) : Effect.succeed(answer)
  )
}

/** Asks over TLS, on one connection as long as that lasts. `ca`: certificates to trust instead of the system's. */
export const tlsServer = (
  target: DnsForwardTarget,
  random: Random,
  ca?: string
): Effect.Effect<AskServer, never, Scope.Scope> => {
  let current: DnsConnection | undefined
  const connected = (): DnsConnection => current?.isOpen === true ? current : (current = new DnsConnection(target, ca))
  const ask: AskServer = (question, flags) =>
    Effect.suspend(() => {
      const query = foreignQuery(question, { ...flags, isPadded: true }, random)
      const isOld = current?.isOpen === true
      const connection = connected()
      const asking = overStream(connection, query).pipe(
        // A server may close an idle connection at any time, and so just when a query is sent.
        Effect.catchIf(() => isOld && !connection.isOpen, () => Effect.suspend(() => overStream(connected(), query)))
      )
      // After a change of the network, a connection stays open for minutes without an answer.
      return Effect.tapError(timed(STREAM_TIMEOUT)(asking), ({ reason }) => Effect.sync(() => connection.close(reason)))
    })
  return Effect.as(Effect.addFinalizer(() => Effect.sync(() => current?.close("svcd stops"))), ask)
}
