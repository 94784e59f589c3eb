import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { Height } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { BlocksPruned } from "../errors.ts"
import { lastUnneeded, refusePruned } from "../prune/pruneLocks.ts"
import { type BetweenSteps, followAlone } from "./followAlone.ts"
import type { Follower } from "./Follower.ts"
import { follow, type Following, type News, settle, startsBehind } from "./followers.ts"

/** From then on, a store that is found damaged is rebuilt. */
const noticing = (
  following: Following,
  work: Effect.Effect<void, StorageFailure>
): Effect.Effect<void, StorageFailure> =>
  Effect.catchIf(
    work,
    (failure) => following.follower.repair?.concerns(failure) === true,
    () => Effect.sync(() => void (following.rebuilding = true))
  )

/** The followers of a chain in the order of notification, those that are `last` at the end. */
export class FollowerList {
  readonly #between: BetweenSteps
  readonly #scope: Scope.Scope
  readonly #all: Array<Following> = []
  /** The fibers of those that move on their own. */
  readonly #alone = new Map<Following, Fiber.RuntimeFiber<void, StorageFailure>>()

  /** `scope` is for the followers that move on their own. */
  constructor(between: BetweenSteps, scope: Scope.Scope) {
    this.#between = between
    this.#scope = scope
  }

  #tell(following: Following, news: News): Effect.Effect<void, StorageFailure> {
    return following.rebuilding ? Effect.void : noticing(following, follow(this.#between.state, following, news))
  }

  readonly tell = (news: News): Effect.Effect<void, StorageFailure> =>
    Effect.forEach(this.#all, (following) => this.#tell(following, news), { discard: true })

  /** Makes all of them store what they keep in memory. */
  readonly settle: Effect.Effect<void, StorageFailure> = Effect.suspend(() =>
    Effect.forEach(this.#all, (following) => noticing(following, settle(following)), { discard: true })
  )

  lastUnneeded(): Height {
    return lastUnneeded(this.#between.state.active, this.#all)
  }

  /** Adds a follower and brings it to the tip, in the background if the way is long. */
  enlist(follower: Follower, recent: News["recent"]): Effect.Effect<void, BlocksPruned | StorageFailure> {
    const { state } = this.#between
    return Effect.gen(this, function*() {
      const following: Following = { follower, cursor: yield* follower.cursor, rebuilding: false }
      yield* refusePruned(state, following)
      const isBehind = startsBehind(state, following)
      following.rebuilding = isBehind
      if (!isBehind) yield* this.#tell(following, { recent, more: false })
      const before = follower.last === true ? -1 : this.#all.findIndex(({ follower: { last } }) => last === true)
      this.#all.splice(before < 0 ? this.#all.length : before, 0, following)
      if (isBehind || follower.repair !== undefined) {
        // Registering may be uninterruptible; its fiber must not be.
        const alone = Effect.interruptible(followAlone(this.#between, following, isBehind))
        this.#alone.set(following, yield* Effect.forkIn(alone, this.#scope))
      }
    })
  }

  /** Removes a follower and ends what it does on its own. */
  dismiss(follower: Follower): Effect.Effect<void> {
    return Effect.suspend(() => {
      const at = this.#all.findIndex((following) => following.follower === follower)
      const [following] = at < 0 ? [] : this.#all.splice(at, 1)
      const fiber = following === undefined ? undefined : this.#alone.get(following)
      if (following === undefined || fiber === undefined) return Effect.void
      this.#alone.delete(following)
      return Effect.asVoid(Fiber.interrupt(fiber))
    })
  }
}
