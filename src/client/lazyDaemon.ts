import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as DaemonClient from "./daemonClient.ts"
import { type DaemonFailure, DaemonRefused } from "./errors.ts"
import { endWithScope, Lifespan } from "./Lifespan.ts"
import { changesBy } from "./liveChanges.ts"
import { NameClient } from "./NameClient.ts"

/** A `NameClient` that connects to its daemon at the first call. */

type Names = typeof NameClient.Service

/** Makes one attempt at a time, until one succeeds. The result lives as long as the scope. */
const connecting = (
  open: Effect.Effect<Names, DaemonFailure, Scope.Scope>
): Effect.Effect<Effect.Effect<Names, DaemonFailure>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    let connected: Names | undefined
    let attempt: Deferred.Deferred<Names, DaemonFailure> | undefined

    const once = Effect.flatMap(Scope.fork(scope, scope.strategy), (own) =>
      Scope.extend(open, own).pipe(
        Effect.tap((names) => Effect.sync(() => void (connected = names))),
        Effect.onExit((exit) => Exit.isSuccess(exit) ? Effect.void : Scope.close(own, exit))
      ))

    /** Runs in the client's scope: an interrupted caller does not end the attempt for the others. */
    const begin = (begun: Deferred.Deferred<Names, DaemonFailure>) =>
      once.pipe(
        Effect.ensuring(Effect.sync(() => void (attempt = undefined))),
        Effect.interruptible,
        Effect.intoDeferred(begun),
        Effect.forkIn(scope),
        Effect.uninterruptible
      )

    return Effect.suspend(() => {
      if (connected !== undefined) return Effect.succeed(connected)
      if (attempt !== undefined) return Deferred.await(attempt)
      attempt = Deferred.unsafeMake<Names, DaemonFailure>(FiberId.none)
      return Effect.zipRight(begin(attempt), Deferred.await(attempt))
    })
  })

export const make = (config: DaemonClient.DaemonClientConfig, options: DaemonClient.DaemonClientOptions = {}) =>
  Effect.gen(function*() {
    const lifespan = new Lifespan()
    const names = yield* connecting(
      // The configuration is valid, so this is a different network or an unreadable cookie file.
      Effect.catchTag(
        DaemonClient.make(config, options),
        "InvalidConfig",
        ({ message }) => new DaemonRefused({ reason: message })
      )
    )
    const stream = <A, E>(of: (client: Names) => Stream.Stream<A, E>) =>
      lifespan.stream(Stream.unwrap(Effect.map(names, of)))
    const call = <A, E>(of: (client: Names) => Effect.Effect<A, E>) => lifespan.during(Effect.flatMap(names, of))
    yield* endWithScope(lifespan)
    return NameClient.of({
      mode: "daemon",
      resolveName: (name, options) => call((client) => client.resolveName(name, options)),
      proveName: (name, options) => call((client) => client.proveName(name, options)),
      resolveDomain: (host, type, options) => call((client) => client.resolveDomain(host, type, options)),
      registerName: (name, value, options) => call((client) => client.registerName(name, value, options)),
      updateName: (name, value, options) => call((client) => client.updateName(name, value, options)),
      listNames: (filter) => call((client) => client.listNames(filter)),
      findNames: (filter) => stream((client) => client.findNames(filter)),
      changes: changesBy((filter = {}) =>
        stream((client) => {
          const { types, ...others } = filter
          return types === undefined ? client.changes(others) : client.changes({ types, ...others })
        })
      ),
      freshness: call(({ freshness }) => freshness),
      progress: stream(({ progress }) => progress),
      ready: (level) => call((client) => client.ready(level)),
      failure: lifespan.failure
    })
  })

export const layer = (config: DaemonClient.DaemonClientConfig): Layer.Layer<NameClient> =>
  Layer.scoped(NameClient, make(config))
