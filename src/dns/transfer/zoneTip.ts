import * as Effect from "effect/Effect"
import { LightPart } from "../../light/LightPart.ts"
import { NameDb } from "../../names/NameDb.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { ZoneTip } from "./ZoneSerials.ts"

/** How long to wait for a commit before the light part is looked at again. */
const WAIT = { milliseconds: 10_000 }

/** A window is not held for its next block, as it could not close then. */
const LOOK_MILLIS = 200

/** Where the names stand: those of the window while it answers, then those of the whole chain. */
export const zoneTip: Effect.Effect<
  Effect.Effect<ZoneTip, StorageFailure>,
  never,
  LightPart | NameDb
> = Effect.gen(function*() {
  const names = yield* NameDb
  const part = yield* LightPart
  const commits = yield* names.commits

  const ofChain: Effect.Effect<ZoneTip, StorageFailure> = Effect.suspend(() => {
    const { count } = commits
    return Effect.map(names.cursor, (tip) => ({ tip, passed: Effect.asVoid(commits.behind(count, WAIT)) }))
  })

  const ofWindow = Effect.gen(function*() {
    const light = yield* part.hold
    if (light === undefined) return yield* ofChain
    const { high } = light.span.filled()
    const { blocks, tip } = yield* light.progress
    const isSame = (): boolean => part.current() === light && light.span.filled().high === high
    const passed: Effect.Effect<void> = Effect.suspend(() =>
      isSame() ? Effect.zipRight(Effect.sleep(LOOK_MILLIS), passed) : Effect.void
    )
    return { tip: blocks === 0 ? undefined : tip, passed }
  })

  return Effect.suspend(() => part.current() === undefined ? ofChain : Effect.scoped(ofWindow))
})
