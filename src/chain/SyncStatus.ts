import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Chain } from "./Chain.ts"

/** How far the node is behind the network, as those see it who ask it things. */
export class SyncStatus extends Context.Tag("svcd/SyncStatus")<SyncStatus, {
  /** Whether blocks that are known of, or are to be expected, are still missing. */
  readonly syncing: Effect.Effect<boolean>
  /** The reference node's latch: true until the tip is recent, then false for good. On regtest age is no matter. */
  readonly initialDownload: Effect.Effect<boolean>
  /** Whether the node loads or imports: no time to ask peers for blocks. */
  readonly loading: Effect.Effect<boolean>
  /** Ends the time in which the node loads, imports included. */
  readonly loaded: Effect.Effect<void>
  /** Some peer has told all headers that it has. */
  readonly answered: Effect.Effect<void>
}>() {}

/** Seconds that the tip may be old where nothing is missing. Upstream `kernel/chainstatemanager_opts.h`, `DEFAULT_MAX_TIP_AGE`. */
const MAX_TIP_AGE = 86_400

export interface SyncStatusOptions {
  /** Whether the node looks for no peers, so that nothing is to be expected. */
  readonly offline: boolean
  /**
   * Whether there are peers that the node calls, so that it cannot know what is missing before one has answered. False
   * on a private network where nobody is called.
   */
  readonly expectsPeers?: boolean
}

const make = (options: SyncStatusOptions) =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const { minimumChainWork, noRetargeting } = chain.params
    let loading = true
    let caughtUp = false
    let waitsForPeers = !options.offline && options.expectsPeers === true

    const initialDownload = Effect.gen(function*() {
      if (caughtUp || loading) return loading
      const tip = yield* chain.tip
      const now = (yield* Clock.currentTimeMillis) / 1000
      const recent = tip.header.time >= now - MAX_TIP_AGE && tip.chainwork >= minimumChainWork
      // The network without retargets is the private one, where blocks come when somebody makes them.
      if (noRetargeting || recent) caughtUp = true
      return !caughtUp
    })

    const syncing = Effect.gen(function*() {
      const { behind, importing } = yield* chain.progress
      if (loading || importing !== undefined || behind || waitsForPeers) return true
      return options.offline ? false : yield* initialDownload
    })

    return SyncStatus.of({
      initialDownload,
      syncing,
      loading: Effect.map(chain.progress, ({ importing }) => loading || importing !== undefined),
      loaded: Effect.sync(() => {
        loading = false
      }),
      answered: Effect.sync(() => {
        waitsForPeers = false
      })
    })
  })

export const layer = (options: SyncStatusOptions): Layer.Layer<SyncStatus, never, Chain> =>
  Layer.effect(SyncStatus, make(options))
