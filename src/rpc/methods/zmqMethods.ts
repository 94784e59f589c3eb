import * as Effect from "effect/Effect"
import { Publishers } from "../../publish/Publishers.ts"
import { GETZMQNOTIFICATIONS } from "../contract/network/zmq.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"

/** The ZeroMQ publishers (reference/rpc.md 3.8). Source: upstream `zmq/zmqrpc.cpp`. */
export const zmqMethods: Effect.Effect<ReadonlyArray<Method>, never, Publishers> = Effect.map(
  Publishers,
  ({ active }) => [
    method(
      GETZMQNOTIFICATIONS,
      () => Effect.succeed(active.map(({ address, hwm, topic }) => ({ type: `pub${topic}`, address, hwm })))
    )
  ]
)
