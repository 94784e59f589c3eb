import * as Effect from "effect/Effect"
import { MockTime } from "../../base/NodeClock.ts"
import { Scheduler } from "../../base/Scheduler.ts"
import { Chain } from "../../chain/Chain.ts"
import { ChainSink } from "../../chain/ChainSink.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { int64 } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import { storageError } from "./errors.ts"

/** Methods for tests of the node (reference/rpc.md 3.10). */

/** The last second whose nanoseconds fit into 63 bits. */
const MAX_MOCK_TIME = 9_223_372_036

const MAX_FORWARD_SECONDS = 3_600

const onRegtest = (name: string) => `${name} is for regression testing (-regtest mode) only`

const NULL = [{ schema: Result.nothing("") }]

export const testMethods: Effect.Effect<ReadonlyArray<Method>, never, Chain | ChainSink | MockTime | Scheduler> = Effect
  .gen(
    function*() {
      const chain = yield* Chain
      const sink = yield* ChainSink
      const clock = yield* MockTime
      const scheduler = yield* Scheduler
      const isPrivate = chain.params.network.name === "regtest"

      const setmocktime = method({
        name: "setmocktime",
        writes: true,
        group: "Hidden",
        summary: "Sets the clock of the node to a fixed time. Only on regtest.",
        params: { timestamp: int64("Seconds since 1970; 0 returns to the real time.") },
        results: NULL,
        examples: [[1_700_000_000]],
        errors: [`-1 ${onRegtest("setmocktime")}`, `-8 Mocktime must be in the range [0, ${MAX_MOCK_TIME}], not <n>.`],
        handler: ({ timestamp }) =>
          Effect.suspend(() => {
            if (!isPrivate) return RpcError.misc(onRegtest("setmocktime"))
            if (timestamp < 0 || timestamp > MAX_MOCK_TIME) {
              const range = `[0, ${MAX_MOCK_TIME}]`
              return RpcError.invalidParameter(`Mocktime must be in the range ${range}, not ${timestamp}.`)
            }
            return Effect.as(clock.set(timestamp === 0 ? undefined : timestamp), null)
          })
      })

      const mockscheduler = method({
        name: "mockscheduler",
        writes: true,
        group: "Hidden",
        summary: "Moves the schedule of periodic tasks forward. Only on regtest.",
        params: { delta_time: int64("Seconds, 1 to 3600.") },
        results: NULL,
        examples: [[600]],
        errors: [`-1 ${onRegtest("mockscheduler")}`, "-1 delta_time must be between 1 and 3600 seconds (1 hr)"],
        handler: ({ delta_time: seconds }) =>
          Effect.suspend(() => {
            if (!isPrivate) return RpcError.misc(onRegtest("mockscheduler"))
            if (seconds <= 0 || seconds > MAX_FORWARD_SECONDS) {
              return RpcError.misc("delta_time must be between 1 and 3600 seconds (1 hr)")
            }
            return Effect.as(scheduler.forward(1000 * seconds), null)
          })
      })

      const syncwithvalidationinterfacequeue = method({
        name: "syncwithvalidationinterfacequeue",
        right: "read",
        group: "Hidden",
        summary: "Waits until names, indexes, mempool and wallet have processed all blocks so far.",
        params: {},
        results: NULL,
        examples: [[]],
        // Delivers no new block, and so the events of earlier blocks that were delayed.
        handler: () => Effect.mapBoth(sink.deliver([], false), { onFailure: storageError, onSuccess: () => null })
      })

      return [setmocktime, mockscheduler, syncwithvalidationinterfacequeue]
    }
  )
