import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { formatHostPort } from "../../base/addresses.ts"
import { withoutSpan } from "../../base/spans.ts"
import { afterDelay, cancelTimer, type Timer } from "../../base/turns.ts"
import type { DeliveryOutcome } from "./outcome.ts"
import type { RelayConfig } from "./RelayConfig.ts"
import { connectUpstream, type SmtpTransaction, type UpstreamConnection } from "./UpstreamConnection.ts"

export interface Upstream {
  /** Reuses an idle connection. An interruption ends it. */
  readonly deliver: (transaction: SmtpTransaction) => Effect.Effect<DeliveryOutcome>
  /** At the last attempt. Nothing is sent while the server is unreachable. */
  readonly isReachable: () => boolean
}

/** Servers close connections that send too many messages. */
const MESSAGES_PER_CONNECTION = 100

/** Milliseconds. */
const IDLE_TIME = 10_000

interface Idle {
  readonly connection: UpstreamConnection
  readonly timer: Timer
}

/**
 * While the server is unreachable, one fiber tries to connect with the pauses of `retry.reconnect`, and all messages
 * wait. It calls `reachableAgain` once connected.
 */
export const makeUpstream = (
  config: RelayConfig,
  reachableAgain: () => void
): Effect.Effect<Upstream, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const permits = yield* Effect.makeSemaphore(config.limits.upstreamConnections)
    const connect = connectUpstream(config)
    const server = formatHostPort(config.upstream)
    const idle: Array<Idle> = []
    /** Why nothing can be sent; `undefined` while the server is reachable. */
    let trouble: DeliveryOutcome | undefined
    let ended = false
    /** Connection attempts since the last reply to a message, whatever the reply. */
    let attempts = 0

    const takeIdle = (): UpstreamConnection | undefined => {
      for (let next = idle.pop(); next !== undefined; next = idle.pop()) {
        cancelTimer(next.timer)
        if (next.connection.usable) return next.connection
      }
      return undefined
    }

    const giveBack = (connection: UpstreamConnection): void => {
      if (ended || !connection.usable || connection.sent >= MESSAGES_PER_CONNECTION) return connection.quit()
      const entry: Idle = {
        connection,
        timer: afterDelay(IDLE_TIME, () => {
          idle.splice(idle.indexOf(entry), 1)
          connection.quit()
        })
      }
      idle.push(entry)
    }

    const reconnect = Effect.gen(function*() {
      const pauses = config.retry.reconnect
      while (true) {
        yield* Effect.sleep(pauses[Math.min(attempts, pauses.length - 1)] ?? Duration.seconds(30))
        attempts += 1
        const connection = yield* Effect.option(connect)
        if (connection._tag === "None") continue
        giveBack(connection.value)
        trouble = undefined
        yield* Effect.logInfo("upstream server answers again", { server })
        return reachableAgain()
      }
    })

    /** Makes all messages wait. The first caller starts the reconnecting fiber. */
    const shut = (outcome: DeliveryOutcome): Effect.Effect<DeliveryOutcome> =>
      Effect.gen(function*() {
        if (trouble !== undefined) return outcome
        trouble = outcome
        yield* Effect.logWarning("upstream server cannot be used", { server, reason: outcome.reply.text })
        yield* Effect.forkIn(withoutSpan(reconnect), scope)
        return outcome
      })

    const sendOn = (connection: UpstreamConnection, transaction: SmtpTransaction): Effect.Effect<DeliveryOutcome> =>
      Effect.ensuring(connection.send(transaction), Effect.sync(() => giveBack(connection)))

    const sendOnNew = (transaction: SmtpTransaction): Effect.Effect<DeliveryOutcome> =>
      Effect.matchEffect(connect, {
        onFailure: ({ outcome }) => Effect.succeed(outcome),
        onSuccess: (connection) => sendOn(connection, transaction)
      })

    const deliver = (transaction: SmtpTransaction): Effect.Effect<DeliveryOutcome> =>
      Effect.gen(function*() {
        // The server may have become unreachable while this message waited for its permit.
        if (trouble !== undefined) return trouble
        const connection = takeIdle()
        if (connection === undefined) return yield* sendOnNew(transaction)
        const outcome = yield* sendOn(connection, transaction)
        // The server may have closed an idle connection just before its reuse.
        const stale = outcome._tag === "Deferred" && !outcome.uncertain && !connection.usable
        return stale ? yield* sendOnNew(transaction) : outcome
      }).pipe(
        Effect.flatMap((outcome) => {
          if (outcome._tag === "Unreachable") return shut(outcome)
          attempts = 0
          return Effect.succeed(outcome)
        }),
        permits.withPermits(1)
      )

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        ended = true
        for (let next = takeIdle(); next !== undefined; next = takeIdle()) next.quit()
      })
    )
    return { deliver, isReachable: () => trouble === undefined }
  })
