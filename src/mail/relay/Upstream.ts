import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { formatAddress } from "../../base/addresses.ts"
import type { Outcome } from "./outcome.ts"
import type { RelayConfig } from "./RelayConfig.ts"
import { connectUpstream, type Transaction, type UpstreamConnection } from "./UpstreamConnection.ts"

/** The server that all mail is handed to. */
export interface Upstream {
  /** Hands over one message, on a connection that is open already if there is one. Interrupted, it ends that. */
  readonly deliver: (transaction: Transaction) => Effect.Effect<Outcome>
  /** Whether the server answered last time. Nothing is sent while it does not. */
  readonly isReachable: () => boolean
}

/** Messages on one connection; servers end those that are used for too many. */
const MESSAGES_PER_CONNECTION = 100

/** How long a connection is kept that nobody uses, in milliseconds. */
const IDLE_TIME = 10_000

interface Idle {
  readonly connection: UpstreamConnection
  readonly timer: NodeJS.Timeout
}

/**
 * Makes the connections to the upstream server. While it cannot be reached one fiber tries to connect, and all
 * messages wait for that one: `retry.reconnect` says how long it pauses, and `reachableAgain` is called when it could.
 */
export const makeUpstream = (
  config: RelayConfig,
  reachableAgain: () => void
): Effect.Effect<Upstream, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const permits = yield* Effect.makeSemaphore(config.limits.upstreamConnections)
    const connect = connectUpstream(config)
    const server = formatAddress(config.upstream)
    const idle: Array<Idle> = []
    /** Why nothing can be sent; `undefined` where something can. */
    let trouble: Outcome | undefined
    let ended = false
    /** Attempts to connect since a message was last answered, whatever the answer. */
    let attempts = 0

    const takeIdle = (): UpstreamConnection | undefined => {
      for (let next = idle.pop(); next !== undefined; next = idle.pop()) {
        clearTimeout(next.timer)
        if (next.connection.usable) return next.connection
      }
      return undefined
    }

    const giveBack = (connection: UpstreamConnection): void => {
      if (ended || !connection.usable || connection.sent >= MESSAGES_PER_CONNECTION) return connection.quit()
      const entry: Idle = {
        connection,
        timer: setTimeout(() => {
          idle.splice(idle.indexOf(entry), 1)
          connection.quit()
        }, IDLE_TIME)
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

    /** Makes all messages wait; the first to find out sees to it that they go on. */
    const shut = (outcome: Outcome): Effect.Effect<Outcome> =>
      Effect.gen(function*() {
        if (trouble !== undefined) return outcome
        trouble = outcome
        yield* Effect.logWarning("upstream server cannot be used", { server, reason: outcome.reply.text })
        yield* Effect.forkIn(reconnect, scope)
        return outcome
      })

    const sendOn = (connection: UpstreamConnection, transaction: Transaction): Effect.Effect<Outcome> =>
      Effect.ensuring(connection.send(transaction), Effect.sync(() => giveBack(connection)))

    const sendOnNew = (transaction: Transaction): Effect.Effect<Outcome> =>
      Effect.matchEffect(connect, {
        onFailure: ({ outcome }) => Effect.succeed(outcome),
        onSuccess: (connection) => sendOn(connection, transaction)
      })

    const deliver = (transaction: Transaction): Effect.Effect<Outcome> =>
      Effect.gen(function*() {
        // It may have been lost while this message waited for its turn.
        if (trouble !== undefined) return trouble
        const connection = takeIdle()
        if (connection === undefined) return yield* sendOnNew(transaction)
        const outcome = yield* sendOn(connection, transaction)
        // The server may have ended a connection just when it was to be used again.
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
