import * as Effect from "effect/Effect"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import { GETSYNCSTATUS } from "../contract/chain/sync.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"

/** How far the node is (reference/rpc.md 3.2). */

export const syncMethods: Effect.Effect<ReadonlyArray<Method>, never, SyncReporter | SyncStatus> = Effect.gen(
  function*() {
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
  }
)
