import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { displayHash, equal } from "../../protocol/bytes.ts"
import { Lifecycle } from "../Lifecycle.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { hash, int32, optional, withDefault } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"

/** Methods that wait for blocks (reference/rpc.md 3.2). They answer the tip, even at their timeout and when the node stops. */

const TIP = Schema.Struct({ hash: Result.hex("Hash of the tip"), height: Result.integer("Height of the tip") })

const NEGATIVE = "Negative timeout"

const TIMEOUT = withDefault(int32("Milliseconds to wait; 0 for no limit."), 0)

const COMMON = {
  group: "Blockchain",
  waits: true,
  answersAtStop: true,
  results: [{ schema: TIP }],
  errors: [`-1 ${NEGATIVE}`]
} as const

export const waitMethods: Effect.Effect<ReadonlyArray<Method>, never, Chain | Lifecycle> = Effect.gen(function*() {
  const chain = yield* Chain
  const lifecycle = yield* Lifecycle

  /** Waits until the followers know a tip that `isThere` accepts. */
  const reach = (isThere: (tip: HeaderInfo) => boolean): Effect.Effect<void> =>
    Stream.merge(chain.events, Stream.tick("1 second")).pipe(
      Stream.mapEffect(() => chain.toldTip),
      Stream.takeUntil(isThere),
      Stream.runDrain
    )

  const tipOnce = (isThere: (tip: HeaderInfo) => boolean, timeout: number) =>
    Effect.gen(function*() {
      if (timeout < 0) return yield* RpcError.misc(NEGATIVE)
      const reached = timeout === 0 ? reach(isThere) : Effect.timeoutOption(reach(isThere), Duration.millis(timeout))
      if (!isThere(yield* chain.toldTip)) yield* Effect.raceFirst(reached, lifecycle.stopRequested)
      const tip = yield* chain.tip
      return { hash: displayHash(tip.hash), height: tip.height }
    })

  const waitfornewblock = method({
    ...COMMON,
    name: "waitfornewblock",
    right: "read",
    summary: "Waits for a new tip, and returns it. Returns the current tip when the time is over or the node stops.",
    params: {
      timeout: TIMEOUT,
      current_tip: optional(hash("Waits for a tip other than this one."), "the tip at the time of the call")
    },
    examples: [[1000]],
    handler: ({ current_tip, timeout }) =>
      Effect.gen(function*() {
        const known = current_tip ?? (yield* chain.toldTip).hash
        return yield* tipOnce((tip) => !equal(tip.hash, known), timeout)
      })
  })

  const waitforblock = method({
    ...COMMON,
    name: "waitforblock",
    right: "read",
    summary:
      "Waits until a block is the tip, and returns the tip. Returns the current tip when the time is over or the " +
      "node stops.",
    params: { blockhash: hash("The block."), timeout: TIMEOUT },
    examples: [["0000000000079f8ef3d2c688c244eb7a4570b24c9ed7b4a8c619eb02596f8862", 1000]],
    handler: ({ blockhash, timeout }) => tipOnce((tip) => equal(tip.hash, blockhash), timeout)
  })

  const waitforblockheight = method({
    ...COMMON,
    name: "waitforblockheight",
    right: "read",
    summary:
      "Waits until the tip has at least a height, and returns the tip. Returns the current tip when the time is " +
      "over or the node stops.",
    params: { height: int32("The height."), timeout: TIMEOUT },
    examples: [[100, 1000]],
    handler: ({ height, timeout }) => tipOnce((tip) => tip.height >= height, timeout)
  })

  return [waitfornewblock, waitforblock, waitforblockheight]
})
