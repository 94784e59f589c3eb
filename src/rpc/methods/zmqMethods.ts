import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Publishers } from "../../publish/Publishers.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import * as Result from "../method/results.ts"

/** The ZeroMQ publishers (reference/rpc.md 3.8). Source: upstream `zmq/zmqrpc.cpp`. */
export const zmqMethods: Effect.Effect<ReadonlyArray<Method>, never, Publishers> = Effect.map(
  Publishers,
  ({ active }) => [
    method({
      name: "getzmqnotifications",
      right: "read",
      group: "Util",
      summary: "Returns the ZeroMQ publishers of the node (-zmqpubhashblock and others).",
      params: {},
      results: [{
        schema: Schema.Array(Schema.Struct({
          type: Result.string("pubhashblock, pubhashtx, pubrawblock, pubrawtx or pubsequence"),
          address: Result.string("Address of the publisher"),
          hwm: Result.integer("Messages that are kept for a slow subscriber")
        }))
      }],
      examples: [[]],
      handler: () => Effect.succeed(active.map(({ address, hwm, topic }) => ({ type: `pub${topic}`, address, hwm })))
    })
  ]
)
