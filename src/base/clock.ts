import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Where time comes from. Only `useVirtual` replaces it. */
export interface TimeSource {
  /** Milliseconds from any start. Never goes back. */
  readonly monotonic: () => number
  /** Milliseconds since 1970. */
  readonly wallTime: () => number
}

let source: TimeSource = { monotonic: () => performance.now(), wallTime: () => Date.now() }

export const replaceTime = (other: TimeSource): TimeSource => {
  const replaced = source
  source = other
  return replaced
}

/** Milliseconds from any start, for measurements, slices of work and deadlines of plain code. Never goes back. */
export const monotonic = (): number => source.monotonic()

/** Milliseconds since 1970, for plain code. Effects use `Clock`, which a node may set (`NodeClock`). */
export const wallTime = (): number => source.wallTime()

/** Whole seconds since 1970, as in block headers and JSON-RPC. */
export const unixTime: Effect.Effect<number> = Effect.map(
  Clock.currentTimeMillis,
  (milliseconds) => Math.floor(milliseconds / 1000)
)
