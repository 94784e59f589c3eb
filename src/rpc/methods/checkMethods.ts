import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { ChainControl } from "../../chain/ChainControl.ts"
import { DataHealth } from "../../storage/DataHealth.ts"
import { GETCHECKINFO, VERIFYCHAIN } from "../contract/chain/check.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { storageError } from "./errors.ts"

/** Methods that check the integrity of the data on disk. */

const LAST_LEVEL = 4

export const checkMethods: Effect.Effect<ReadonlyArray<Method>, never, Chain | ChainControl | DataHealth> = Effect.gen(
  function*() {
    const { tree } = yield* Chain
    const control = yield* ChainControl
    const health = yield* DataHealth

    const verifychain = method(
      VERIFYCHAIN,
      ({ checklevel, nblocks }) =>
        control.verify({ level: Math.max(0, Math.min(checklevel, LAST_LEVEL)), blocks: Math.max(0, nblocks) }).pipe(
          Effect.map(({ damaged }) => damaged === 0),
          Effect.catchTag("StorageCorrupted", (damage) => Effect.as(Effect.logError(damage.message), false)),
          Effect.mapError(storageError)
        )
    )

    const getcheckinfo = method(GETCHECKINFO, () =>
      Effect.gen(function*() {
        const parts = (yield* health.progress).map(({ checked, damaged, passes, total, unit, what }) =>
          [what, { unit, checked, total, passes, damaged }] as const
        )
        return {
          parts: Object.fromEntries(parts),
          missing_blocks: tree.losses.count,
          doubts: (yield* health.doubts).map(({ reason, what }) => ({ what, reason })),
          notices: (yield* health.notices).map(({ reason, what }) => ({ what, reason }))
        }
      }))

    return [verifychain, getcheckinfo]
  }
)
