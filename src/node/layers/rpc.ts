import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type { BindFailed } from "../../base/listening.ts"
import { type EmbeddedOpenFailure, InvalidConfig } from "../../client/errors.ts"
import type { OptionProblem, OptionsOf } from "../../config/nodeOptions.ts"
import { OPTIONS } from "../../config/options.ts"
import { credentialsOf } from "../../config/settings.ts"
import { isFreePath, type OwnRoute } from "../../http/ownRoute.ts"
import { RpcServer } from "../../http/RpcServer.ts"
import type { Dispatch } from "../../rpc/Dispatch.ts"
import { isMethodName, type OwnMethod } from "../../rpc/method/ownMethod.ts"
import { inNode, openFailure } from "./base.ts"
import { listenerLayer } from "./listener.ts"
import { methodsLayer } from "./methods.ts"
import type { NodeServices } from "./node.ts"
import { NodeSettings, optionsOfConfig } from "./NodeSettings.ts"

type AnyMethods = ReadonlyArray<OwnMethod<unknown>>
type AnyRoutes = ReadonlyArray<OwnRoute<unknown>>

/** An application's additions to JSON-RPC. */
export interface OwnParts<M extends AnyMethods = AnyMethods, T extends AnyRoutes = AnyRoutes> {
  /** Methods besides those of the node. `help`, rights and counts include them. */
  readonly methods?: M | undefined
  /** Documents besides `/`, `/rpc`, `/health` and `/ready`. */
  readonly routes?: T | undefined
}

type NeedsOf<T> = T extends OwnMethod<infer R> ? R : T extends OwnRoute<infer R> ? R : never

/** The services of all handlers. */
export type OwnNeeds<M extends AnyMethods, T extends AnyRoutes> = NeedsOf<M[number]> | NeedsOf<T[number]>

/**
 * The options of the listener. Without credentials, every program of this machine may call everything, and no other
 * machine may.
 */
export type RpcServerOptions = OptionsOf<"RpcServer">

const refusal = (problem: OptionProblem): Either.Either<never, InvalidConfig> => Either.left(new InvalidConfig(problem))

const repeatedIn = (values: ReadonlyArray<string>): string | undefined =>
  values.find((value, at) => values.indexOf(value) !== at)

const checkOwn = ({ methods = [], routes = [] }: OwnParts): Either.Either<void, InvalidConfig> => {
  const [names, paths] = [methods.map(({ name }) => name), routes.map(({ path }) => path)]
  const wrong = names.find((name) => !isMethodName(name))
  if (wrong !== undefined) {
    return refusal({
      field: "methods",
      reason: `"${wrong}" is not the name of a method: use letters, digits and underscores`
    })
  }
  const [twice, both] = [repeatedIn(names), repeatedIn(paths)]
  if (twice !== undefined) return refusal({ field: "methods", reason: `two methods have the name ${twice}` })
  if (both !== undefined) return refusal({ field: "routes", reason: `two routes have the path ${both}` })
  const taken = paths.find((path) => !isFreePath(path))
  if (taken !== undefined) {
    const reason = `${taken} has to begin with a slash, and cannot be /, /rpc, /health, /ready or below /wallet/`
    return refusal({ field: "routes", reason })
  }
  return Either.void
}

const NO_ACCESS = "RPC needs no credentials: every program of this machine may call it; give rpcUser and rpcPassword"

/** Marks a missing address: a different default is for nodes without a listener. */
const LISTEN_ADDR = OPTIONS.rpcaddr.default

interface RpcParts<R> {
  readonly given: RpcServerOptions
  readonly methods: ReadonlyArray<OwnMethod<R>>
  readonly routes: ReadonlyArray<OwnRoute<R>>
}

const rpcLayer = <R>({ given, methods, routes }: RpcParts<R>) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const node = yield* NodeSettings
    const settings = yield* node.with({
      layer: "RpcServer",
      options: { ...given, listenAddr: given.listenAddr ?? LISTEN_ADDR },
      values: { rpccookiefile: undefined },
      isServer: true
    })
    const services = yield* Effect.context<R>()
    const own = {
      methods: methods.map(({ withServices }) => withServices(services)),
      handlers: routes.map(({ withServices }) => withServices(services))
    }
    const credentials = credentialsOf(settings.rpc)
    if (credentials === undefined && settings.rpc.rpcAuth.length === 0) {
      yield* Effect.logWarning(NO_ACCESS).pipe(Effect.annotateLogs("subsystem", "rpc"))
    }
    return methodsLayer(settings, own).pipe(
      Layer.provideMerge(listenerLayer(settings, { credentials, showsCalls: () => false }))
    )
  })).pipe(inNode)

type ListenerFailure = BindFailed | EmbeddedOpenFailure

/** JSON-RPC over HTTP. */
export class NodeRpcServer extends RpcServer {
  /**
   * Answers JSON-RPC for the node below. `RpcServer.address` is the actual address, for port 0. `Dispatch` is for
   * servers of other protocols that use its methods.
   */
  static layer<const M extends AnyMethods = readonly [], const T extends AnyRoutes = readonly []>(
    { methods, routes, ...given }: RpcServerOptions & OwnParts<M, T> = {}
  ): Layer.Layer<Dispatch | RpcServer, ListenerFailure, NodeServices | OwnNeeds<M, T>> {
    // Each handler has some of these services; TypeScript does not see this for lists of a bounded type.
    const parts = { given, methods: methods ?? [], routes: routes ?? [] } as RpcParts<OwnNeeds<M, T>>
    return Layer.unwrapEffect(Effect.map(checkOwn({ methods, routes }), () => rpcLayer(parts))).pipe(
      Layer.mapError((failure) => {
        switch (failure._tag) {
          case "BindFailed":
            return failure
          case "MethodExists":
            return new InvalidConfig({ field: "methods", reason: failure.message })
          case "WebhookMisconfigured":
            return new InvalidConfig({ field: "webhooks", reason: failure.message })
          default:
            return openFailure(failure)
        }
      })
    )
  }

  /** As `layer`, with options that the program reads. */
  static layerConfig<const M extends AnyMethods = readonly [], const T extends AnyRoutes = readonly []>(
    options: Config.Config.Wrap<RpcServerOptions>,
    own: OwnParts<M, T> = {}
  ): Layer.Layer<Dispatch | RpcServer, ConfigError.ConfigError | ListenerFailure, NodeServices | OwnNeeds<M, T>> {
    return optionsOfConfig(options, (given) => NodeRpcServer.layer<M, T>({ ...given, ...own }))
  }
}
