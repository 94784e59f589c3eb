import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { DataHealth } from "../../storage/DataHealth.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { Follower } from "../write/Follower.ts"
import { type CoinStatsIndex, openCoinStatsIndex } from "./CoinStatsIndex.ts"
import { type FilterIndex, openFilterIndex } from "./FilterIndex.ts"
import type { IndexPlace } from "./IndexStore.ts"
import { openScriptIndex, type ScriptIndex } from "./ScriptIndex.ts"
import { openSpenderIndex, type SpenderIndex } from "./SpenderIndex.ts"

/** The optional indexes that the operator enabled; the others are `undefined`. They follow the chain. */
export class Indexes extends Context.Tag("svcd/Indexes")<Indexes, {
  readonly filters: FilterIndex | undefined
  readonly spenders: SpenderIndex | undefined
  readonly coinStats: CoinStatsIndex | undefined
  readonly scripts: ScriptIndex | undefined
  readonly followers: ReadonlyArray<Follower>
}>() {}

export interface IndexesOptions extends IndexPlace {
  readonly params: ConsensusParams
  readonly filters: boolean
  readonly spenders: boolean
  readonly coinStats: boolean
  readonly scripts: boolean
}

const make = (
  options: IndexesOptions
): Effect.Effect<typeof Indexes.Service, StorageFailure, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const filters = options.filters ? yield* openFilterIndex(options) : undefined
    const spenders = options.spenders ? yield* openSpenderIndex(options) : undefined
    const coinStats = options.coinStats ? yield* openCoinStatsIndex(options, options.params) : undefined
    const scripts = options.scripts ? yield* openScriptIndex(options) : undefined
    const followers = [coinStats, spenders, filters, scripts].flatMap((index) => index?.follower ?? [])
    return { filters, spenders, coinStats, scripts, followers }
  })

export const layer = (options: IndexesOptions): Layer.Layer<Indexes, StorageFailure, DataHealth> =>
  Layer.scoped(Indexes, make(options))

export const layerNone: Layer.Layer<Indexes> = Layer.succeed(Indexes, {
  filters: undefined,
  spenders: undefined,
  coinStats: undefined,
  scripts: undefined,
  followers: []
})
