import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type { BindFailed } from "../../base/listening.ts"
import { type EmbeddedOpenFailure, InvalidConfig } from "../../client/errors.ts"
import { RPC_FIELDS } from "../../config/nodeFields.ts"
import type { OptionProblem, OptionsOf } from "../../config/nodeOptions.ts"
import { OPTIONS } from "../../config/options.ts"
import { isFreePath, type OwnRoute } from "../../http/ownRoute.ts"
import { RpcServer } from "../../http/RpcServer.ts"
import type { OwnMethod } from "../../rpc/method/ownMethod.ts"
import { inNode, openFailure } from "./base.ts"
import { optionsOfConfig } from "./fromConfig.ts"
import { listenerLayer } from "./listener.ts"
import { methodsLayer } from "./methods.ts"
import { NodeSettings } from "./NodeSettings.ts"
import type { NodeServices } from "./services.ts"

/** JSON-RPC of a node in a program. */

/** What an application adds to JSON-RPC. */
export interface OwnParts<R> {
  /** Methods beside those of the node: `help`, rights and counts apply to them too. */
  readonly methods?: ReadonlyArray<OwnMethod<R>> | undefined
  /** Documents beside `/`, `/rpc`, `/health` and `/ready`. */
  readonly routes?: ReadonlyArray<OwnRoute<R>> | undefined
}

/** The options of the listener. Without credentials each program of this machine may call everything, and no other machine may. */
export type RpcServerOptions = OptionsOf<typeof RPC_FIELDS>

const refusal = (problem: OptionProblem): Either.Either<never, InvalidConfig> => Either.left(new InvalidConfig(problem))

/** Names and paths can be checked before anything listens. */
const checkOwn = <R>({ methods = [], routes = [] }: OwnParts<R>): Either.Either<void, InvalidConfig> => {
  const names = methods.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) return refusal({ field: "methods", reason: `two methods have the name ${twice}` })
  const taken = routes.find(({ path }) => !isFreePath(path))
  if (taken !== undefined) {
    const reason = `${taken.path} has to begin with a slash, and be none of /, /rpc, /health, /ready and /wallet/`
    return refusal({ field: "routes", reason })
  }
  return Either.void
}

const NO_ACCESS = "RPC needs no credentials: every program of this machine may call it; give rpcUser and rpcPassword"

/** The default of the option, where the program gives no address: another one in its place is for nodes without a listener. */
const LISTEN_ADDR = OPTIONS.rpcaddr.default

const rpcLayer = <R>({ methods = [], routes = [], ...given }: RpcServerOptions & OwnParts<R>) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const node = yield* NodeSettings
    yield* checkOwn({ methods, routes })
    const settings = yield* node.with({
      fields: RPC_FIELDS,
      options: { listenAddr: LISTEN_ADDR, ...given },
      values: { rpccookiefile: undefined }
    })
    const services = yield* Effect.context<R>()
    const own = {
      methods: methods.map(({ withServices }) => withServices(services)),
      handlers: routes.map(({ withServices }) => withServices(services))
    }
    const { credentials } = settings.rpc
    if (credentials === undefined && settings.hashedUsers.length === 0) {
      yield* Effect.logWarning(NO_ACCESS).pipe(Effect.annotateLogs("subsystem", "rpc"))
    }
    return methodsLayer(settings, own).pipe(
      Layer.provideMerge(listenerLayer(settings, { credentials, showsCalls: () => false }))
    )
  })).pipe(inNode)

/** JSON-RPC over HTTP. */
export class NodeRpcServer extends RpcServer {
  /** Answers JSON-RPC for the node below. `RpcServer.address` is where it really listens, for port 0. */
  static layer<R = never>(
    options: RpcServerOptions & OwnParts<R> = {}
  ): Layer.Layer<RpcServer, BindFailed | EmbeddedOpenFailure, NodeServices | R> {
    return Layer.mapError(rpcLayer(options), (failure) => {
      switch (failure._tag) {
        case "BindFailed":
          return failure
        case "WebhookMisconfigured":
          return new InvalidConfig({ field: "webhooks", reason: failure.message })
        default:
          return openFailure(failure)
      }
    })
  }

  /** As `layer`, with options that the program reads. */
  static layerConfig<R = never>(
    options: Config.Config.Wrap<RpcServerOptions>,
    own: OwnParts<R> = {}
  ): Layer.Layer<RpcServer, BindFailed | ConfigError.ConfigError | EmbeddedOpenFailure, NodeServices | R> {
    return optionsOfConfig(options, (given) => NodeRpcServer.layer({ ...given, ...own }))
  }
}
