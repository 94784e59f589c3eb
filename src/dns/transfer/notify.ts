import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createSocket, type Socket } from "node:dgram"
import { isIPv6 } from "node:net"
import { type Address, formatHostPort } from "../../base/addresses.ts"
import { secureRandom } from "../../base/entropy.ts"
import { below } from "../../base/random.ts"
import { withoutSpan } from "../../base/spans.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { decodedIf } from "../../protocol/Reader.ts"
import { TYPE_NUMBERS } from "../../values/records.ts"
import { CLASSES, FLAGS, META_TYPES, opcodeOf, OPCODES, RCODES } from "../wire/codes.ts"
import { readMessage } from "../wire/message.ts"
import { MessageWriter } from "../wire/MessageWriter.ts"
import { type Apex, soaSet } from "../zone/apex.ts"
import type { Secondaries } from "./Secondaries.ts"
import { readTsig, type TransferKey, TsigChain } from "./tsig.ts"
import type { ZoneSerials } from "./ZoneSerials.ts"

/** Tells secondaries of a new serial (RFC 1996). */

export interface NotifyTarget {
  readonly address: Address
  /** Signs the message. */
  readonly key: TransferKey | undefined
}

export interface NotifyOptions {
  readonly targets: ReadonlyArray<NotifyTarget>
  /** The zone's own records with a serial. */
  readonly apex: (serial: number) => Apex
  readonly serials: Pick<typeof ZoneSerials.Service, "after">
  /** Whether the zone may be given out: it lacks no names. */
  readonly complete: Effect.Effect<boolean>
  readonly secondaries: Secondaries
}

/** Between two messages to a secondary, and for its answer. */
const GAP = Duration.seconds(2)

/** Notices of one serial to a secondary that does not answer. Secondaries ask on their own after the SOA's refresh. */
const ATTEMPTS = 5

const writer = new MessageWriter()

const NOTIFY_FLAGS = OPCODES.NOTIFY << 11

const notification = (id: number, apex: Apex): Uint8Array => {
  const question = { asked: apex.origin, type: TYPE_NUMBERS.SOA, class: CLASSES.IN }
  const message = writer.start({ id, flags: NOTIFY_FLAGS | FLAGS.AA, question })
  message.set("answer", soaSet(apex))
  return message.bytes()
}

/** What a secondary answered; `undefined` if the bytes are not its answer. */
const answerIn = (bytes: Bytes, id: number, chain: TsigChain | undefined): number | undefined =>
  decodedIf(() => {
    const message = readMessage(bytes)
    if (message.id !== id || (message.flags & FLAGS.QR) === 0) return undefined
    if (opcodeOf(message.flags) !== OPCODES.NOTIFY) return undefined
    if (chain === undefined || message.rcode === RCODES.NOTAUTH) return message.rcode
    const last = message.additional.at(-1)
    const record = last?.type === META_TYPES.TSIG ? readTsig(bytes, last.at) : undefined
    return last !== undefined && record !== undefined && chain.verifies(bytes, last.at, record)
      ? message.rcode
      : undefined
  })

interface Told {
  readonly message: Bytes
  readonly answer: (bytes: Bytes) => number | undefined
}

/** Sends a message and waits for the answer, without end. A host that cannot be reached does not answer. */
const exchange = ({ host, port }: Address, told: Told): Effect.Effect<number> =>
  Effect.acquireUseRelease(
    Effect.sync(() => createSocket(isIPv6(host) ? "udp6" : "udp4")),
    (socket) => answerOn(socket, { host, port }, told),
    (socket) => Effect.sync(() => socket.close())
  )

const answerOn = (socket: Socket, { host, port }: Address, { answer, message }: Told): Effect.Effect<number> =>
  Effect.async<number>((resume) => {
    socket.on("error", () => {})
    socket.on("message", (bytes) => {
      const rcode = answer(bytes)
      if (rcode !== undefined) resume(Effect.succeed(rcode))
    })
    // A connected socket takes messages of that host and port alone.
    socket.connect(port, host, (error?: Error) => {
      if (error === undefined) socket.send(message, () => {})
    })
  })

const tell = (
  { address, key }: NotifyTarget,
  apex: Apex
): Effect.Effect<number | undefined> =>
  Effect.gen(function*() {
    const id = below(secureRandom(), 0x1_0000)
    const now = yield* Clock.currentTimeMillis
    const plain = notification(id, apex)
    const signer = key === undefined ? undefined : new TsigChain(key)
    const message = signer?.sign(plain, Math.floor(now / 1000)) ?? plain
    const verifier = signer === undefined ? undefined : signer.answers()
    return yield* exchange(address, { message, answer: (bytes) => answerIn(bytes, id, verifier) })
  }).pipe(Effect.timeoutOption(GAP), Effect.map((answered) => answered._tag === "Some" ? answered.value : undefined))

const nameOf = (rcode: number): string =>
  Object.entries(RCODES).find(([, code]) => code === rcode)?.[0] ?? `response code ${rcode}`

/** Tells the secondaries of each serial until the scope closes, each at its own pace. */
export const notifySecondaries = (
  { apex, complete, secondaries, serials, targets }: NotifyOptions
): Effect.Effect<void, never, Scope.Scope> => {
  const ready: Effect.Effect<void> = Effect.suspend(() =>
    Effect.flatMap(complete, (is) => is ? Effect.void : Effect.zipRight(Effect.sleep(GAP), ready))
  )

  const following = (target: NotifyTarget) => {
    const host = formatHostPort(target.address)
    let sent = -Infinity

    /** Sends at most one message in the gap, whatever its serial. */
    const send = (serial: number): Effect.Effect<number | undefined> =>
      Effect.gen(function*() {
        const wait = sent + Duration.toMillis(GAP) - (yield* Clock.currentTimeMillis)
        if (wait > 0) yield* Effect.sleep(wait)
        sent = yield* Clock.currentTimeMillis
        return yield* tell(target, apex(serial))
      })

    /** Tells of a serial, again until there is an answer. */
    const told = (serial: number): Effect.Effect<void> =>
      Effect.gen(function*() {
        for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
          const rcode = yield* send(serial)
          if (rcode === RCODES.NOERROR) {
            const at = yield* Clock.currentTimeMillis
            return secondaries.note({ address: target.address.host, serial, at, by: "notify" })
          }
          if (rcode !== undefined) {
            return yield* Effect.logWarning("a secondary refuses notices of serials", { host, answer: nameOf(rcode) })
          }
          yield* Effect.sleep(Duration.times(GAP, attempt - 1))
        }
        yield* Effect.logDebug("a secondary does not answer notices of serials", { host, serial })
      })

    /** A newer serial replaces one that is still being sent. */
    return Effect.iterate(-1, {
      while: () => true,
      body: (known) =>
        Effect.gen(function*() {
          const serial = yield* serials.after(known)
          yield* ready
          yield* Effect.raceFirst(told(serial), Effect.asVoid(serials.after(serial)))
          return serial
        })
    })
  }

  return Effect.forEach(targets, (target) => Effect.forkScoped(withoutSpan(following(target))), { discard: true }).pipe(
    Effect.annotateLogs("subsystem", "dns")
  )
}
