import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import { displayHash, equal } from "../../protocol/bytes.ts"
import { GETSYNCSTATUS } from "../contract/chain/chain.ts"
import { NEGATIVE, WAITFORBLOCK, WAITFORBLOCKHEIGHT, WAITFORNEWBLOCK } from "../contract/chain/wait.ts"
import { Lifecycle } from "../Lifecycle.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"

/** reference/rpc.md 3.2. */

export const syncMethods: Methods<SyncReporter | SyncStatus> = Effect.gen(function*() {
  const { report } = yield* SyncReporter
  const { offline } = yield* SyncStatus
  const getsyncstatus = method(GETSYNCSTATUS, () =>
    Effect.gen(function*() {
      const { headers, height, percent, phase, proof, secondsLeft, synced, window } = yield* report
      return {
        phase,
        proof,
        height,
        headers,
        synced,
        percent,
        secondsleft: secondsLeft ?? null,
        ...((yield* offline) ? { offline: true } : {}),
        window: window ?? null
      }
    }))
  return [getsyncstatus]
})

/** Waiting methods answer with the tip, even at their timeout or when the node stops (reference/rpc.md 3.2). */

export const waitMethods: Methods<Chain | Lifecycle> = Effect.gen(function*() {
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

  return [
    method(WAITFORNEWBLOCK, ({ current_tip, timeout }) =>
      Effect.gen(function*() {
        const known = current_tip ?? (yield* chain.toldTip).hash
        return yield* tipOnce((tip) => !equal(tip.hash, known), timeout)
      })),
    method(WAITFORBLOCK, ({ blockhash, timeout }) => tipOnce((tip) => equal(tip.hash, blockhash), timeout)),
    method(WAITFORBLOCKHEIGHT, ({ height, timeout }) => tipOnce((tip) => tip.height >= height, timeout))
  ]
})
