import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Coin, NameClaim } from "../consensus/view.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { Height, NameKey, OutpointKey } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { attempt } from "./attempt.ts"
import { type ChainParts, settledTipOf } from "./ChainParts.ts"
import { type HeaderInfo, headerInfo } from "./index/headerInfo.ts"
import type { CoinsFound, WantedScripts } from "./state/CoinReads.ts"
import type { TipState } from "./state/TipState.ts"
import { searchCoins, visit, VISIT_ROWS } from "./state/visitCoins.ts"

export interface StateAtRest {
  readonly tip: HeaderInfo
  /** The coin database. A new connection to it now sees the same state. */
  readonly file: string
  /** Passes all coins to `use` in lists, in (txid, index) order. */
  readonly visitCoins: (
    use: (coins: ReadonlyArray<readonly [outpoint: string, coin: Coin]>) => void
  ) => Effect.Effect<void, StorageFailure>
  /** Searches all coins for scripts. `goOn` gets the coins of each step, and ends the search by returning false. */
  readonly searchCoins: (
    scripts: WantedScripts,
    goOn: (step: CoinsFound) => boolean
  ) => Effect.Effect<void, StorageFailure>
  /** Passes the claims of all names to `use` in lists, in byte order. */
  readonly visitClaims: (
    use: (claims: ReadonlyArray<readonly [name: NameKey, claim: NameClaim]>) => void
  ) => Effect.Effect<void, StorageFailure>
}

/** Reads the coins and name claims of the best chain. */
export class ChainCoins extends Context.Tag("svcd/ChainCoins")<ChainCoins, {
  /** The unspent output at an outpoint key, and the tip at that time. */
  readonly coin: (
    outpoint: OutpointKey
  ) => Effect.Effect<{ readonly coin: Coin | undefined; readonly tip: HeaderInfo }, StorageFailure>
  readonly coinOf: (txid: Bytes) => Effect.Effect<Coin | undefined, StorageFailure>
  /** Runs `work` on the stored state. Blocks wait meanwhile, so keep it short. */
  readonly atRest: <A, E>(work: (state: StateAtRest) => Effect.Effect<A, E>) => Effect.Effect<A, E | StorageFailure>
  /**
   * Runs `work` at the tip. Followers know it, except during an import or with more than a day of blocks missing, where
   * they lag anyway. Blocks wait meanwhile, so keep it short. Followers use `tipState`.
   */
  readonly atTip: <A, E>(work: (state: TipState) => Effect.Effect<A, E>) => Effect.Effect<A, E | StorageFailure>
  /** The state at the tip, for the steps of a follower. */
  readonly tipState: Effect.Effect<TipState>
}>() {}

/** Maximum missing blocks with which a call may make followers catch up. Each time costs a flush. */
const NEAR_TIP = 144

export const make = ({ imports, state, writer }: ChainParts): Context.Tag.Service<ChainCoins> => {
  const isNear = (): boolean => {
    const { active, forks: { best }, index } = state
    return imports.progress() === undefined && index.height(best.reachable) - active.settledHeight <= NEAR_TIP
  }
  const tipState = (): TipState => {
    const tip = settledTipOf(state)
    const { claim, coin } = state.view
    const medianTimePastAt = (height: Height) => state.index.medianTimePast(state.active.at(height))
    return { tip, coin, claim, medianTimePastAt }
  }
  return {
    coin: (outpoint) =>
      writer.undisturbed(
        attempt(() => ({ coin: state.view.coin(outpoint), tip: headerInfo(state, state.active.tip) }))
      ),
    coinOf: (txid) => writer.stored(attempt(() => state.database.coinOf(txid))),
    atRest: (work) =>
      writer.stored(Effect.suspend(() =>
        work({
          tip: headerInfo(state, state.active.tip),
          file: state.database.file,
          visitCoins: (use) => visit((after) => state.database.coinsAfter(after, VISIT_ROWS), use),
          searchCoins: (scripts, goOn) => searchCoins((search) => state.database.coinsPaying(search), scripts, goOn),
          visitClaims: (use) => visit((after) => state.database.claimsAfter(after, VISIT_ROWS), use)
        })
      )),
    atTip: (work) => {
      const judged = Effect.suspend(() => work(tipState()))
      return Effect.suspend(() => isNear() ? writer.followed(judged) : writer.undisturbed(judged))
    },
    tipState: Effect.sync(tipState)
  }
}
