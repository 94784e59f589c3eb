/**
 * An application on Effect: a service of its own over `NameClient`, typed errors, a stream of name changes, and a clean
 * end.
 *
 *     node effect-app.js d/example d/another
 *
 * It needs two packages beside svcd: npm install effect@3.22 @effect/platform-node@0.108
 *
 * Logs where the given domains point to, then watches all domains until SIGINT or SIGTERM. The environment variable
 * NAMES may hold the configuration of the client, as JSON.
 */

import { NodeRuntime } from "@effect/platform-node"
import { Config, Context, Effect, Layer, Schema, Stream } from "effect"
import { type ClientConfig, NameClient, type NameRecord } from "svcd"

/** A name whose value holds no address: an error that `NameClient` does not have. */
class NoAddress extends Schema.TaggedError<NoAddress>()("NoAddress", { domain: Schema.String }) {
  override get message(): string {
    return `${this.domain} says no address`
  }
}

const DomainValue = Schema.parseJson(
  Schema.Struct({ ip: Schema.Union(Schema.String, Schema.NonEmptyArray(Schema.String)) })
)

/** The addresses in the value of a domain. */
const addressesOf = ({ name, value }: NameRecord): Effect.Effect<ReadonlyArray<string>, NoAddress> =>
  Schema.decode(DomainValue)(value).pipe(
    Effect.map(({ ip }) => typeof ip === "string" ? [ip] : ip),
    Effect.mapError(() => new NoAddress({ domain: name }))
  )

/** The service of this application for domains. */
class Domains extends Context.Tag("Domains")<Domains, {
  /** Logs where a domain points to, or why it points nowhere. Other failures end the application. */
  readonly report: (domain: string) => Effect.Effect<void, Error>
  /** Logs changes of domains. Ends with the client. */
  readonly watch: Effect.Effect<void, Error>
}>() {
  static readonly layer: Layer.Layer<Domains, never, NameClient> = Layer.effect(
    Domains,
    Effect.gen(function*() {
      const client = yield* NameClient
      return {
        report: (domain) =>
          client.resolveName(domain).pipe(
            Effect.flatMap(addressesOf),
            Effect.flatMap((addresses) => Effect.log(`${domain} is at ${addresses.join(", ")}`)),
            Effect.catchTags({
              NameNotFound: () => Effect.log(`${domain} is free`),
              NameExpired: ({ updateHeight }) =>
                Effect.log(`${domain} expired; its last update is in block ${updateHeight}`),
              NoAddress: ({ message }) => Effect.log(message),
              NotSynced: ({ height }) => Effect.logWarning(`${domain}: not known yet, at block ${height}`)
            })
          ),
        watch: client.changes({ namespace: "d/" }).pipe(
          Stream.runForEach(({ height, name, record }) =>
            Effect.log(record === undefined ? `${name} was rolled back` : `${name} changed in block ${height}`)
          )
        )
      }
    })
  )
}

const clientConfig = Config.string("NAMES").pipe(
  Config.withDefault("{}"),
  Config.mapAttempt((text): ClientConfig => JSON.parse(text))
)

/** A client of the daemon where one answers, else of a node in this process, for as long as the application runs. */
const ClientLive = Layer.unwrapEffect(Effect.map(clientConfig, (config) => NameClient.layer(config)))

const program = Effect.gen(function*() {
  const domains = yield* Domains
  yield* Effect.forEach(process.argv.slice(2), domains.report, { discard: true })
  yield* Effect.log("watching domains")
  yield* domains.watch
}).pipe(Effect.onInterrupt(() => Effect.log("stopping")))

// A signal interrupts the program; then its layers close what they opened, and the process ends.
NodeRuntime.runMain(Effect.provide(program, Layer.provide(Domains.layer, ClientLive)))
