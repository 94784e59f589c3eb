import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { formatHostPort } from "../base/addresses.ts"
import { askHealth } from "../rpc/askHealth.ts"
import { GETBLOCKCHAININFO } from "../rpc/contract/chain/chain.ts"
import type { DecodedConfig } from "./config.ts"
import * as DaemonRpc from "./DaemonRpc.ts"
import type { InvalidConfig, Unauthorized } from "./errors.ts"
import { chainInfo, reading } from "./replies.ts"

/** Milliseconds for each answer of a daemon. */
const PATIENCE = 500

export type Found =
  | { readonly _tag: "Daemon" }
  /** No server, another kind of server, or a daemon of another network. */
  | { readonly _tag: "None"; readonly reason: string }

const none = (reason: string): Found => ({ _tag: "None", reason })

const sameNetwork = (config: DecodedConfig, isOurs: boolean): Effect.Effect<Found, InvalidConfig | Unauthorized> =>
  Effect.scoped(Effect.gen(function*() {
    const address = formatHostPort(config.daemon)
    const rpc = yield* DaemonRpc.make({ ...config.daemon, timeout: Math.min(config.daemon.timeout, PATIENCE) })
    const outcome = yield* Effect.either(Effect.flatMap(
      rpc.call(GETBLOCKCHAININFO, {}),
      (reply) => reading(GETBLOCKCHAININFO, reply, chainInfo)
    ))
    if (Either.isRight(outcome)) {
      const { chain, network } = outcome.right
      return network === config.network
        ? { _tag: "Daemon" }
        : none(`the daemon at ${address} is on ${network ?? chain}, not ${config.network}`)
    }
    const failure = outcome.left
    // A daemon runs there, and the credentials are wrong. A second node beside it would hide that.
    if (failure._tag === "Unauthorized") return yield* failure
    // Opening the client checks the network of a starting daemon.
    if (failure._tag === "DaemonNotReady" || isOurs) return { _tag: "Daemon" }
    return none(`what answers at ${address} is not a daemon: ${failure.message}`)
  }))

/**
 * Detects a daemon of the configured network: svcd by its health report, the reference node by its answer to a call.
 */
export const detect = (config: DecodedConfig): Effect.Effect<Found, InvalidConfig | Unauthorized> =>
  Effect.gen(function*() {
    const address = formatHostPort(config.daemon)
    const { basePath, host, port, secure } = config.daemon
    const answer = yield* Effect.timeoutTo(askHealth({ address: { host, port }, basePath, secure }), {
      duration: PATIENCE,
      onSuccess: (answer) => answer,
      onTimeout: () => undefined
    })
    if (answer === undefined) return none(`no daemon answers at ${address}`)
    if (!answer.isReport && ![401, 403, 404, 405].includes(answer.status)) {
      return none(`what answers at ${address} is not a daemon`)
    }
    return yield* sameNetwork(config, answer.isReport)
  })
