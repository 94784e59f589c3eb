import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../base/turnOfEventLoop.ts"
import type { Coin, NameClaim } from "../consensus/view.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { NameKey, OutpointKey } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { attempt } from "./attempt.ts"
import { type ChainParts, settledTipOf } from "./ChainParts.ts"
import { type HeaderInfo, headerInfo } from "./index/headerInfo.ts"
import { type CoinsFound, rowsAtOnce, type WantedScripts } from "./state/ChainDatabase.ts"
import type { TipState } from "./state/TipState.ts"

export interface StateAtRest {
  readonly tip: HeaderInfo
  /** Passes all coins to `use` in lists, in the order of (txid, index). */
  readonly visitCoins: (
    use: (coins: ReadonlyArray<readonly [outpoint: string, coin: Coin]>) => void
  ) => Effect.Effect<void, StorageFailure>
  /**
   * Searches all coins for some scripts. `goOn` gets the coins found in each step; the search ends when it returns false.
   */
  readonly searchCoins: (
    scripts: WantedScripts,
    goOn: (step: CoinsFound) => boolean
  ) => Effect.Effect<void, StorageFailure>
  /** Passes the claims of all names to `use` in lists, in the order of their bytes. */
  readonly visitClaims: (
    use: (claims: ReadonlyArray<readonly [name: NameKey, claim: NameClaim]>) => void
  ) => Effect.Effect<void, StorageFailure>
}

/** Reads the coins and the name claims of the best chain. */
export class ChainCoins extends Context.Tag("svcd/ChainCoins")<ChainCoins, {
  /** The unspent output at an outpoint key, and the tip at the time of the lookup. */
  readonly coin: (
    outpoint: OutpointKey
  ) => Effect.Effect<{ readonly coin: Coin | undefined; readonly tip: HeaderInfo }, StorageFailure>
  readonly coinOf: (txid: Bytes) => Effect.Effect<Coin | undefined, StorageFailure>
  /** Runs `work` on the stored state. No block is connected or disconnected meanwhile: keep it short. */
  readonly atRest: <A, E>(work: (state: StateAtRest) => Effect.Effect<A, E>) => Effect.Effect<A, E | StorageFailure>
  /** Runs `work` on the state at the tip, which does not change meanwhile: keep it short. Followers use `tipState`. */
  readonly atTip: <A, E>(work: (state: TipState) => Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** The state at the tip, for the steps of a follower. */
  readonly tipState: Effect.Effect<TipState>
}>() {}

const VISIT_ROWS = 250

const visit = <Key extends string, A>(
  page: (after: Key | undefined) => ReadonlyArray<readonly [key: Key, value: A]>,
  use: (rows: ReadonlyArray<readonly [key: Key, value: A]>) => void
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    for (let rows = yield* attempt(() => page(undefined)); rows.length > 0;) {
      const seen = rows
      yield* Effect.sync(() => use(seen))
      yield* turnOfEventLoop
      rows = yield* attempt(() => page(seen[seen.length - 1]?.[0]))
    }
  })

const NO_KEY = Buffer.alloc(0)

const search = (
  step: (after: Buffer) => CoinsFound,
  goOn: (found: CoinsFound) => boolean
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    for (let after: Buffer | undefined = NO_KEY; after !== undefined;) {
      const from: Buffer = after
      const found = yield* attempt(() => step(from))
      if (!goOn(found)) return
      after = found.last
      yield* turnOfEventLoop
    }
  })

export const make = ({ state, writer }: ChainParts): Context.Tag.Service<ChainCoins> => {
  const tipState = (): TipState => {
    const tip = settledTipOf(state)
    const { claim, coin } = state.view
    return { tip, coin, claim, medianTimePastAt: (height) => state.medianTimePastAt(height) }
  }
  return {
    coin: (outpoint) =>
      writer.undisturbed(attempt(() => ({ coin: state.view.coin(outpoint), tip: headerInfo(state, state.tip) }))),
    coinOf: (txid) => writer.stored(attempt(() => state.storedCoinOf(txid))),
    atRest: (work) =>
      writer.stored(Effect.suspend(() =>
        work({
          tip: headerInfo(state, state.tip),
          visitCoins: (use) => visit((after) => state.storedCoins(after, VISIT_ROWS), use),
          searchCoins: (scripts, goOn) =>
            search((after) => state.storedCoinsPaying({ after, limit: rowsAtOnce(scripts), scripts }), goOn),
          visitClaims: (use) => visit((after) => state.storedClaims(after, VISIT_ROWS), use)
        })
      )),
    atTip: (work) => writer.undisturbed(Effect.suspend(() => work(tipState()))),
    tipState: Effect.sync(tipState)
  }
}
