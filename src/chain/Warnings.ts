import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { blockWork } from "../consensus/difficulty.ts"
import { DataHealth, type Doubt } from "../storage/DataHealth.ts"
import { Chain } from "./Chain.ts"
import type { HeaderInfo } from "./index/headerInfo.ts"

/** Warnings to the operator about this node, as sentences. */
export class Warnings extends Context.Tag("svcd/Warnings")<Warnings, {
  readonly current: Effect.Effect<ReadonlyArray<string>>
  /** Each warning as it appears, starting with the current ones. */
  readonly raised: Stream.Stream<string>
}>() {}

/** Text of the reference node (`validation.cpp`, `Chainstate::CheckForkWarningConditions`). */
export const LONG_INVALID_CHAIN =
  "Warning: Found invalid chain more than 6 blocks longer than our best chain. This could be due to database " +
  "corruption or consensus incompatibility with peers."

/** By how many blocks of work an invalid chain must be ahead. */
const FAR_AHEAD = 6n

const isFarAhead = (invalid: HeaderInfo, tip: HeaderInfo): boolean =>
  invalid.chainwork > tip.chainwork + FAR_AHEAD * blockWork(tip.header.bits)

const shown = ({ reason, what }: Doubt): string => `${what}: ${reason}`

/** The delay of a warning that no event of the chain announces. */
const LATEST = "1 second"

const make = Effect.gen(function*() {
  const chain = yield* Chain
  const { doubts, notices } = yield* DataHealth
  const ofChain = Effect.map(
    Effect.all([chain.bestInvalid, chain.tip]),
    ([invalid, tip]) => invalid !== undefined && isFarAhead(invalid, tip) ? [LONG_INVALID_CHAIN] : []
  )
  const ofData = Effect.map(Effect.all([doubts, notices]), (all) => all.flat().map(shown))
  const current = Effect.map(Effect.all([ofChain, ofData]), (all) => [...new Set(all.flat())])
  return Warnings.of({
    current,
    raised: Stream.merge(chain.events, Stream.tick(LATEST)).pipe(
      Stream.mapEffect(() => current),
      Stream.mapAccum<ReadonlyArray<string>, ReadonlyArray<string>, ReadonlyArray<string>>(
        [],
        (before, now) => [now, now.filter((warning) => !before.includes(warning))]
      ),
      Stream.flattenIterables
    )
  })
})

export const layer: Layer.Layer<Warnings, never, Chain | DataHealth> = Layer.effect(Warnings, make)
