import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { LightNode, LightPart } from "./LightPart.ts"

/** Maximum concurrent calls to the light part. */
const HOLDERS = 10_000

export interface HeldLight extends Pick<typeof LightPart.Service, "current" | "hold"> {
  /** Hides it from new calls and closes it after the current ones. */
  readonly stop: Effect.Effect<void>
}

export const holdLight = (light: LightNode, close: Effect.Effect<void>): Effect.Effect<HeldLight> =>
  Effect.map(Effect.makeSemaphore(HOLDERS), (holders) => {
    let current: LightNode | undefined = light
    const taken = Effect.acquireRelease(holders.take(1), () => holders.release(1))
    return {
      current: () => current,
      hold: Effect.suspend((): Effect.Effect<LightNode | undefined, never, Scope.Scope> =>
        current === undefined ? Effect.succeed(undefined) : Effect.map(taken, () => current)
      ),
      stop: Effect.suspend(() => {
        current = undefined
        // A call may have seen the node before and waited. It finds none then.
        return Effect.zipRight(holders.take(HOLDERS), Effect.ensuring(close, holders.release(HOLDERS)))
      })
    }
  })
