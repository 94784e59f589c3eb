import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { monotonic } from "../base/clock.ts"
import { BLOCK_WEIGHT, Forecast } from "../light/Forecast.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { GETBLOCKCHAININFO, GETSYNCSTATUS } from "../rpc/contract/chain/chain.ts"
import type { Json } from "../rpc/json/json.ts"
import { type CallOf, callOf } from "../rpc/method/calling.ts"
import type { Contract } from "../rpc/method/contract.ts"
import { RPC_CODE } from "../rpc/method/RpcError.ts"
import type { BatchedCall, RpcFailure } from "../rpc/RpcClient.ts"
import { type DaemonRpc, refused } from "./DaemonRpc.ts"
import type { DaemonFailure } from "./errors.ts"
import { type ChainInfo, chainInfo, reading, syncReply } from "./replies.ts"

/** From `getsyncstatus` of svcd, or for other daemons from `getblockchaininfo` with a local forecast. */

const INFO = callOf(GETBLOCKCHAININFO, {})
const STATUS = callOf(GETSYNCSTATUS, {})

export interface Answered {
  readonly report: SyncReport
  readonly outcome: Either.Either<Json, RpcFailure>
}

const NO_REPLY = "a batch has as many replies as calls"

export const make = (rpc: DaemonRpc) =>
  Effect.gen(function*() {
    const forecast = new Forecast()

    const reportOf = ({ asOf: { height, synced }, headers, progress }: ChainInfo): SyncReport => {
      const weight = BLOCK_WEIGHT
      const stages = progress === undefined
        ? [{ done: height, of: headers, weight }]
        : [{ done: progress, of: 1, weight }]
      const outlook = forecast.note({ at: monotonic(), stages })
      return {
        phase: synced ? "ready" : "blocks",
        proof: "full",
        height,
        headers,
        synced,
        ...synced ? { percent: 100, secondsLeft: 0 } : { ...outlook, percent: Math.min(99.9, outlook.percent) },
        window: undefined
      }
    }

    const read = (outcome: Either.Either<Json, RpcFailure>): Effect.Effect<Json, DaemonFailure> =>
      Either.isLeft(outcome) ? Effect.fail(refused(outcome.left)) : Effect.succeed(outcome.right)

    const infoIn = (outcome: Either.Either<Json, RpcFailure>): Effect.Effect<ChainInfo, DaemonFailure> =>
      Effect.flatMap(read(outcome), (reply) => reading(GETBLOCKCHAININFO, reply, chainInfo))

    const info = yield* Effect.flatMap(
      Effect.mapError(rpc.call(GETBLOCKCHAININFO, {}), refused),
      (reply) => reading(GETBLOCKCHAININFO, reply, chainInfo)
    )
    let tells = yield* rpc.call(GETSYNCSTATUS, {}).pipe(
      Effect.as(true),
      Effect.catchTags({ RpcFailure: () => Effect.succeed(false), DaemonRefused: () => Effect.succeed(false) })
    )

    /** Makes calls in one round trip, after asking for the sync state. */
    const ask = (calls: ReadonlyArray<BatchedCall>) =>
      Effect.gen(function*() {
        for (;;) {
          const question = tells ? STATUS : INFO
          const [told, ...outcomes] = yield* rpc.readAll([question, ...calls])
          if (told === undefined) return yield* Effect.dieMessage(NO_REPLY)
          if (question === INFO) return { report: reportOf(yield* infoIn(told)), outcomes }
          if (Either.isLeft(told) && told.left.code === RPC_CODE.methodNotFound) {
            // A different daemon now runs at the address.
            tells = false
            continue
          }
          const reply = yield* read(told)
          return { report: yield* reading(GETSYNCSTATUS, reply, syncReply), outcomes }
        }
      })

    return {
      /** As of opening the client. */
      info,
      /** Whether the daemon reports proof levels. The answers of others rest on the whole chain. */
      tells: (): boolean => tells,
      report: Effect.map(ask([]), ({ report }) => report),
      withReport: <C extends Contract>(contract: C, given: CallOf<C>): Effect.Effect<Answered, DaemonFailure> =>
        Effect.flatMap(
          ask([callOf(contract, given)]),
          ({ outcomes: [outcome], report }) =>
            outcome === undefined ? Effect.dieMessage(NO_REPLY) : Effect.succeed({ report, outcome })
        )
    }
  })

export type DaemonSync = Effect.Effect.Success<ReturnType<typeof make>>
