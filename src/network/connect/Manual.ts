import * as Effect from "effect/Effect"
import type { PeerUnreachable } from "../errors.ts"
import type { ConnectionOutcome } from "./Connections.ts"

/** Shortest and longest pause between connections to a manual peer, milliseconds. */
const FIRST_PAUSE = 1_000
const LONGEST_PAUSE = 60_000

/** Duration of a good connection, milliseconds. */
const LASTING = 60_000

/** The pause after a connection, computed from the previous pause. */
export const nextPause = (pause: number, outcome: ConnectionOutcome | undefined): number =>
  outcome !== undefined && outcome.hello !== undefined && !outcome.disconnection.misbehaving &&
    outcome.lasted >= LASTING
    ? FIRST_PAUSE
    : Math.min(LONGEST_PAUSE, 2 * pause)

export interface ManualOptions {
  /** The operator's spelling. */
  readonly name: string
  /** Connects and returns the result; `undefined` if the peer is already connected. */
  readonly call: Effect.Effect<ConnectionOutcome | undefined, PeerUnreachable>
  /** Waits until network activity is enabled. */
  readonly whenActive: Effect.Effect<void>
  readonly wanted: () => boolean
}

/** Connects repeatedly, until the peer is removed or is this node. Only the first failure in a row is a warning. */
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
      // After a good connection, starts with the first pause. Otherwise the pause grows each time.
      yield* Effect.sleep(lasting === FIRST_PAUSE ? FIRST_PAUSE : pause)
      pause = lasting
    }
  })
