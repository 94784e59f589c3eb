import * as Effect from "effect/Effect"
import { MockTime } from "../../base/NodeClock.ts"
import { Scheduler } from "../../base/Scheduler.ts"
import { Chain } from "../../chain/Chain.ts"
import { ChainSink } from "../../chain/ChainSink.ts"
import {
  MAX_MOCK_TIME,
  MOCKSCHEDULER,
  onRegtest,
  SETMOCKTIME,
  SYNCWITHVALIDATIONINTERFACEQUEUE
} from "../contract/control/control.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { storageError } from "./errors.ts"

/** reference/rpc.md 3.10. */

const MAX_FORWARD_SECONDS = 3_600

export const testMethods: Methods<
  Chain | ChainSink | MockTime | Scheduler
> = Effect.gen(
  function*() {
    const chain = yield* Chain
    const sink = yield* ChainSink
    const clock = yield* MockTime
    const scheduler = yield* Scheduler
    const isPrivate = chain.params.network.name === "regtest"

    const setmocktime = method(SETMOCKTIME, ({ timestamp }) =>
      Effect.suspend(() => {
        if (!isPrivate) return RpcError.misc(onRegtest("setmocktime"))
        if (timestamp < 0 || timestamp > MAX_MOCK_TIME) {
          const range = `[0, ${MAX_MOCK_TIME}]`
          return RpcError.invalidParameter(`Mocktime must be in the range ${range}, not ${timestamp}.`)
        }
        return Effect.as(clock.set(timestamp === 0 ? undefined : timestamp), null)
      }))

    const mockscheduler = method(MOCKSCHEDULER, ({ delta_time: seconds }) =>
      Effect.suspend(() => {
        if (!isPrivate) return RpcError.misc(onRegtest("mockscheduler"))
        if (seconds <= 0 || seconds > MAX_FORWARD_SECONDS) {
          return RpcError.misc("delta_time must be between 1 and 3600 seconds (1 hr)")
        }
        return Effect.as(scheduler.forward(1000 * seconds), null)
      }))

    const syncwithvalidationinterfacequeue = method(
      SYNCWITHVALIDATIONINTERFACEQUEUE,
      () => Effect.mapBoth(sink.deliver([], false), { onFailure: storageError, onSuccess: () => null })
    )

    return [setmocktime, mockscheduler, syncwithvalidationinterfacequeue]
  }
)
