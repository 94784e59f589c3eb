/**
 * An HTTP API with a description in OpenAPI: `HttpApi` of @effect/platform over `NameClient`.
 *
 *     npm install effect@3.22 @effect/platform@0.97 @effect/platform-node@0.108
 *     PORT=3000 node http-api.js
 *     curl http://127.0.0.1:3000/name?name=d/example
 *     curl http://127.0.0.1:3000/names?namespace=d/
 *     curl http://127.0.0.1:3000/openapi.json
 *
 * svcd's records and errors are schemas, and its errors carry their HTTP status: the API only lists them. A client made from
 * `NamesApi` (`HttpApiClient.make`) fails with the same classes. The environment variable NAMES may hold the configuration of the
 * client of names, as JSON. SIGTERM and SIGINT end the service.
 */

import {
  HttpApi,
  HttpApiBuilder,
  HttpApiEndpoint,
  HttpApiError,
  HttpApiGroup,
  HttpMiddleware,
  HttpServer
} from "@effect/platform"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Config, Effect, Layer, Schema } from "effect"
import { createServer } from "node:http"
import {
  type ClientConfig,
  InvalidRequest,
  isTransient,
  NameClient,
  NameExpired,
  NameNotFound,
  NameRecord,
  NotSynced,
  type SvcdError
} from "svcd"

const resolve = HttpApiEndpoint.get("resolve", "/name")
  .setUrlParams(Schema.Struct({ name: Schema.String }))
  .addSuccess(NameRecord)
  .addError(NameNotFound)
  .addError(NameExpired)

const list = HttpApiEndpoint.get("list", "/names")
  .setUrlParams(Schema.Struct({
    namespace: Schema.optional(Schema.String),
    limit: Schema.optional(Schema.NumberFromString)
  }))
  .addSuccess(Schema.Array(NameRecord))

export class NamesApi extends HttpApi.make("names").add(
  HttpApiGroup.make("names").add(resolve).add(list)
    .addError(InvalidRequest)
    .addError(NotSynced)
    .addError(HttpApiError.ServiceUnavailable)
) {}

const isForCallers = Schema.is(Schema.Union(InvalidRequest, NameNotFound, NameExpired, NotSynced))

/** Leaves to callers the failures that they can act on. For the others the answer is 503 if they pass, else 500; the log has the reason. */
const answered = <A, E extends SvcdError>(call: Effect.Effect<A, E>) =>
  Effect.catchAll(call, (error) =>
    Effect.gen(function*() {
      if (isForCallers(error)) return yield* error
      if (!isTransient(error)) return yield* Effect.die(error)
      yield* Effect.logWarning(error.message)
      return yield* new HttpApiError.ServiceUnavailable()
    }))

const NamesGroup = HttpApiBuilder.group(NamesApi, "names", (handlers) =>
  Effect.map(NameClient, (names) =>
    handlers
      .handle("resolve", ({ urlParams }) => answered(names.resolveName(urlParams.name)))
      .handle("list", ({ urlParams }) => answered(names.listNames(urlParams)))))

/** The API over a client of names, for `HttpApiBuilder.serve`. */
export const NamesApiLive = Layer.provide(HttpApiBuilder.api(NamesApi), NamesGroup)

const ServerLive = HttpApiBuilder.serve(HttpMiddleware.logger).pipe(
  Layer.provide(HttpApiBuilder.middlewareOpenApi()),
  Layer.provide(NamesApiLive),
  HttpServer.withLogAddress,
  Layer.provide(NodeHttpServer.layerConfig(() => createServer(), {
    host: Config.succeed("127.0.0.1"),
    port: Config.integer("PORT").pipe(Config.withDefault(3000))
  }))
)

const clientConfig = Config.string("NAMES").pipe(
  Config.withDefault("{}"),
  Config.mapAttempt((text): ClientConfig => ({ disableWallet: true, ...JSON.parse(text) }))
)

/** Serves until a signal comes, or until the node in this process has to stop, because the disk is full for instance. */
const program = Effect.flatMap(NameClient, ({ failure }) => Effect.raceFirst(Layer.launch(ServerLive), failure))

// A test imports the API and provides `layerMemory` of svcd/testing.
if (/http-api\.[jt]s$/.test(process.argv[1] ?? "")) {
  const NamesLive = Layer.unwrapEffect(Effect.map(clientConfig, NameClient.layer))
  NodeRuntime.runMain(Effect.provide(program, NamesLive))
}
