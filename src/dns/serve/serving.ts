import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import { type DnsDrop, dnsDropped, dnsQueries } from "../../metrics/dnsMetrics.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { type DnsClient, type DnsReply, Responder } from "../Responder.ts"

/** What all transports share: the responder, the places for work, and the clock. */

export interface DnsLimits {
  /** Answers in the making, over all transports. */
  readonly work: number
  /** Connections over TCP and TLS, and again over HTTP and HTTPS. */
  readonly connections: number
  /** Questions under way on one connection; the next one waits. */
  readonly inFlight: number
  /** Milliseconds after which an idle connection is closed (RFC 7766, section 6.2.3). */
  readonly idle: number
}

export const DNS_LIMITS: DnsLimits = { work: 4_096, connections: 150, inFlight: 100, idle: 10_000 }

export interface Serving {
  readonly limits: DnsLimits
  /** Milliseconds. */
  readonly now: () => number
  /** Counts the message, and gives its answer if that needs no fiber. */
  readonly atOnce: (query: Bytes, client: DnsClient) => Bytes | undefined
  /** As in `Responder`. */
  readonly isProved: (typeof Responder.Service)["isProved"]
  readonly badCookie: (typeof Responder.Service)["badCookie"]
  /** `undefined` if too much is under way. Interrupt the fiber when the caller leaves. */
  readonly answer: (
    query: Bytes,
    client: DnsClient,
    use: (reply: DnsReply) => Effect.Effect<void>
  ) => Fiber.RuntimeFiber<void> | undefined
}

export const dropped = (reason: DnsDrop): void => dnsDropped.of(reason).increase()

export const makeServing = (limits: DnsLimits): Effect.Effect<Serving, never, Responder | Scope.Scope> =>
  Effect.gen(function*() {
    const responder = yield* Responder
    const clock = yield* Effect.clock
    // Interrupts what is under way when the scope closes.
    const run = yield* FiberSet.makeRuntime<never, void>()
    let working = 0
    const done = Effect.sync(() => {
      working -= 1
    })
    return {
      limits,
      isProved: responder.isProved,
      badCookie: responder.badCookie,
      now: () => clock.unsafeCurrentTimeMillis(),
      atOnce: (query, client) => {
        dnsQueries.of(client.transport).increase()
        return responder.atOnce(query, client)
      },
      answer: (query, client, use) => {
        if (working >= limits.work) {
          dropped("busy")
          return undefined
        }
        working += 1
        return run(Effect.ensuring(Effect.flatMap(responder.respond(query, client), use), done))
      }
    }
  })
