import * as Effect from "effect/Effect"
import type { PeerUnreachable } from "../errors.ts"
import type { Outcome } from "./Connections.ts"

/** Pauses between calls of a peer that the operator named, milliseconds. */
const FIRST_PAUSE = 1_000
const LONGEST_PAUSE = 60_000

/** A connection that lasted as long as this counts as a good one, milliseconds. */
const LASTING = 60_000

/** The pause after a call, from the one before. */
export const nextPause = (pause: number, outcome: Outcome | undefined): number =>
  outcome !== undefined && outcome.hello !== undefined && !outcome.disconnection.misbehaving &&
    outcome.lasted >= LASTING
    ? FIRST_PAUSE
    : Math.min(LONGEST_PAUSE, 2 * pause)

export interface ManualOptions {
  /** As the operator wrote it. */
  readonly name: string
  /** Calls it, and returns what came of that; `undefined` where it is connected anyway. */
  readonly call: Effect.Effect<Outcome | undefined, PeerUnreachable>
  /** Waits until the network is on. */
  readonly whenActive: Effect.Effect<void>
  /** Whether it is still to be called. */
  readonly wanted: () => boolean
}

/**
 * Calls a peer that the operator named, again and again. Ends where it is not wanted any more, or turns out to be this
 * node. The first failure in a row is a warning: nobody would look for the others.
 */
export const callForever = ({ call, name, wanted, whenActive }: ManualOptions): Effect.Effect<void> =>
  Effect.gen(function*() {
    let pause = FIRST_PAUSE
    let failures = 0
    while (wanted()) {
      yield* whenActive
      const outcome = yield* call.pipe(
        Effect.catchTag("PeerUnreachable", ({ reason }) => {
          failures += 1
          const facts = { peer: name, reason }
          const entry = failures === 1
            ? Effect.logWarning("peer cannot be reached", facts)
            : Effect.logDebug("peer cannot be reached", facts)
          return Effect.as(entry, undefined)
        })
      )
      if (outcome?.self === true) {
        return yield* Effect.logWarning("self connection: this peer is the node itself, not connecting again", {
          peer: name
        })
      }
      if (outcome?.hello !== undefined) failures = 0
      const lasting = nextPause(pause, outcome)
      // After a good connection the first pause comes first; else they grow from one call to the next.
      yield* Effect.sleep(lasting === FIRST_PAUSE ? FIRST_PAUSE : pause)
      pause = lasting
    }
  })
