import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { formatHostPort } from "../../base/addresses.ts"
import type { BindFailed } from "../../base/listening.ts"
import type { OpenFailure } from "../../client/errors.ts"
import { NameClient } from "../../client/NameClient.ts"
import * as NameRecipients from "../../mail/NameRecipients.ts"
import { mailTable, sampleMail } from "../../mail/relay/mailMetrics.ts"
import * as SmtpRelay from "../../mail/SmtpRelay.ts"
import * as MetricsServer from "../../metrics/MetricsServer.ts"
import type { LogFileUnusable } from "../../node/logFile.ts"
import * as Logging from "../../node/logging.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { MailSettings } from "./settings.ts"

/** An open client is kept for good, a failure never. */
const sessionTime = (exit: Exit.Exit<unknown, unknown>): Duration.Duration =>
  Exit.isSuccess(exit) ? Duration.infinity : Duration.zero

/** Opens the client on first use, for all callers: the daemon may start later than the relay. */
const resolving = (names: Layer.Layer<NameClient, OpenFailure>) =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const open = Effect.flatMap(Scope.fork(scope, ExecutionStrategy.sequential), (own) =>
      Layer.buildWithScope(names, own).pipe(
        Effect.map(Context.get(NameClient)),
        Effect.onError((cause) =>
          Scope.close(own, Exit.failCause(cause))
        )
      ))
    const clients = yield* Cache.makeWith({ capacity: 1, lookup: () => open, timeToLive: sessionTime })
    // In its own fiber: a caller that stops waiting must not end the opening for the others.
    const client = Effect.flatMap(Effect.forkIn(clients.get("daemon"), scope), Fiber.join)
    return (name: string) => Effect.flatMap(client, ({ resolveName }) => resolveName(name, { requireSynced: true }))
  })

export type ServeFailure = BindFailed | LogFileUnusable | OpenFailure | StorageFailure

/** An unreachable daemon does not stop the relay. */
export const serve = (
  settings: MailSettings,
  names: Layer.Layer<NameClient, OpenFailure>
): Effect.Effect<never, ServeFailure> => {
  const { connection, log, metrics, namespace, relay } = settings
  const recipients = Layer.unwrapScoped(
    Effect.map(resolving(names), (resolve) => NameRecipients.layer({ namespace, resolve }))
  )
  return Effect.gen(function*() {
    const { failure, stats } = yield* SmtpRelay.SmtpRelay
    if (metrics !== undefined) {
      yield* Layer.build(MetricsServer.layer({ listen: metrics, table: () => mailTable, sample: sampleMail(stats) }))
    }
    yield* Effect.logInfo("mail relay forwards", {
      domains: relay.domains,
      namespace,
      daemon: formatHostPort(connection.rpc),
      upstream: formatHostPort(relay.upstream),
      spool: relay.spoolDirectory
    })
    return yield* failure
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.provide(SmtpRelay.layer(relay), recipients)),
    Effect.tapDefect((cause) => Effect.logError("mail relay stops: internal error", cause)),
    Effect.annotateLogs("subsystem", "mail"),
    Effect.provide(Logging.layer(log))
  )
}
