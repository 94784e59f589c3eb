import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { UnixTime } from "../protocol/keys.ts"
import { type BlocksAhead, Chain, type ChainProgress } from "./Chain.ts"

/** The sync state of the node, as callers see it. */
export class SyncStatus extends Context.Tag("svcd/SyncStatus")<SyncStatus, {
  /** Whether the operator chose to connect to no peers. */
  readonly offline: Effect.Effect<boolean>
  /** Whether known or expected blocks are missing, except for one or two on their way. */
  readonly syncing: Effect.Effect<boolean>
  /** The reference node's latch: true until the tip is recent (any tip on regtest), then false for good. */
  readonly initialDownload: Effect.Effect<boolean>
  /** Whether the node loads or imports, and so requests no blocks from peers. */
  readonly loading: Effect.Effect<boolean>
  readonly loaded: Effect.Effect<void>
  /** Runs startup work in the background. The node counts as loading until it is done. */
  readonly load: <R>(work: Effect.Effect<void, never, R>) => Effect.Effect<void, never, R | Scope.Scope>
  /** To be called when a peer has sent all its headers. */
  readonly answered: Effect.Effect<void>
  /** Overrides what the options say about peers. */
  readonly expect: (peers: ExpectedPeers) => Effect.Effect<void>
}>() {}

/** Default of `maxTipAge`. Upstream `kernel/chainstatemanager_opts.h`, `DEFAULT_MAX_TIP_AGE`. */
export const MAX_TIP_AGE = 86_400

export interface ExpectedPeers {
  /** Whether the node connects to no peers, so that no further blocks are expected. */
  readonly offline: boolean
  /** Whether to count as syncing until a peer answers. False on a private network without peers to connect to. */
  readonly expectsPeers?: boolean
}

export interface SyncStatusOptions extends ExpectedPeers {
  /** The oldest tip of a synced node, in seconds. */
  readonly maxTipAge?: number
}

/**
 * Blocks arrive seconds after their headers. So a node still counts as synced with at most two missing blocks, for at
 * most ten minutes after the time in the first of their headers.
 */
const GRACE = { blocks: 2, seconds: 600 }

const isOnItsWay = ({ count, since }: BlocksAhead, now: UnixTime): boolean =>
  count <= GRACE.blocks && now - since <= GRACE.seconds

/** The part of a whole or light chain that the status follows. */
export interface StatusChain extends Pick<typeof Chain.Service, "params" | "tip"> {
  readonly progress: Effect.Effect<Pick<ChainProgress, "importing" | "missing">>
}

export const statusOver = (chain: StatusChain, options: SyncStatusOptions): Effect.Effect<typeof SyncStatus.Service> =>
  Effect.sync(() => {
    const { minimumChainWork, noRetargeting } = chain.params
    /** Pending startup work; the first is the start itself. */
    let works = 1
    let started = false
    let caughtUp = false
    let { offline } = options
    let waitsForPeers = !offline && options.expectsPeers === true

    const initialDownload = Effect.gen(function*() {
      if (caughtUp || works > 0) return works > 0
      const tip = yield* chain.tip
      const now = (yield* Clock.currentTimeMillis) / 1000
      const recent = tip.header.time >= now - (options.maxTipAge ?? MAX_TIP_AGE)
      // Only the private network has no retargets. It mines on demand.
      if (tip.chainwork >= minimumChainWork && (noRetargeting || recent)) caughtUp = true
      return !caughtUp
    })

    const syncing = Effect.gen(function*() {
      const { importing, missing } = yield* chain.progress
      if (works > 0 || importing !== undefined || waitsForPeers) return true
      if (missing !== undefined && !isOnItsWay(missing, (yield* Clock.currentTimeMillis) / 1000)) return true
      if (!offline) return yield* initialDownload
      // The tip may be old, but a chain below the minimum work is incomplete.
      return (yield* chain.tip).chainwork < minimumChainWork
    })

    return SyncStatus.of({
      offline: Effect.sync(() => offline),
      initialDownload,
      syncing,
      loading: Effect.map(chain.progress, ({ importing }) => works > 0 || importing !== undefined),
      loaded: Effect.sync(() => {
        if (!started) works--
        started = true
      }),
      load: (work) =>
        Effect.suspend(() => {
          works++
          return Effect.asVoid(Effect.forkScoped(Effect.ensuring(work, Effect.sync(() => void works--))))
        }),
      answered: Effect.sync(() => {
        waitsForPeers = false
      }),
      expect: (peers) =>
        Effect.sync(() => {
          offline = peers.offline
          waitsForPeers = !offline && peers.expectsPeers === true
        })
    })
  })

export const layer = (options: SyncStatusOptions): Layer.Layer<SyncStatus, never, Chain> =>
  Layer.effect(SyncStatus, Effect.flatMap(Chain, (chain) => statusOver(chain, options)))
