import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { UnixTime } from "../protocol/keys.ts"
import { type BlocksAhead, Chain, type ChainProgress } from "./Chain.ts"

/** The sync state of the node, as callers see it. */
export class SyncStatus extends Context.Tag("svcd/SyncStatus")<SyncStatus, {
  /** Whether the node connects to no peers, as its operator chose. */
  readonly offline: Effect.Effect<boolean>
  /** Whether known or expected blocks are missing, besides one or two that are on their way. */
  readonly syncing: Effect.Effect<boolean>
  /** The reference node's latch: true until the tip is recent (any tip on regtest), then false permanently. */
  readonly initialDownload: Effect.Effect<boolean>
  /** Whether the node loads or imports. It requests no blocks from peers then. */
  readonly loading: Effect.Effect<boolean>
  readonly loaded: Effect.Effect<void>
  /** Does work of the start in the background. The node counts as loading from now until it is done. */
  readonly load: <R>(work: Effect.Effect<void, never, R>) => Effect.Effect<void, never, R | Scope.Scope>
  /** Called when a peer has sent all its headers. */
  readonly answered: Effect.Effect<void>
  /** Sets what to expect of peers, in place of what the options say. */
  readonly expect: (peers: ExpectedPeers) => Effect.Effect<void>
}>() {}

/** Default of `maxTipAge`. Upstream `kernel/chainstatemanager_opts.h`, `DEFAULT_MAX_TIP_AGE`. */
export const MAX_TIP_AGE = 86_400

export interface ExpectedPeers {
  /** Whether the node connects to no peers: then no blocks are expected after those of a whole chain. */
  readonly offline: boolean
  /** Whether to count as syncing until a peer has answered. False on a private network without peers to connect to. */
  readonly expectsPeers?: boolean
}

export interface SyncStatusOptions extends ExpectedPeers {
  /** Largest age of the tip of a node that has caught up, seconds. */
  readonly maxTipAge?: number
}

/**
 * The blocks of new headers arrive seconds later, so a node with few and fresh ones missing still counts as synced: at most
 * two blocks, for at most ten minutes after the time in the first of their headers.
 */
const GRACE = { blocks: 2, seconds: 600 }

const isOnItsWay = ({ count, since }: BlocksAhead, now: UnixTime): boolean =>
  count <= GRACE.blocks && now - since <= GRACE.seconds

/** What the status follows: of a whole chain, or of a light one. */
export interface StatusChain extends Pick<typeof Chain.Service, "params" | "tip"> {
  readonly progress: Effect.Effect<Pick<ChainProgress, "importing" | "missing">>
}

export const statusOver = (chain: StatusChain, options: SyncStatusOptions): Effect.Effect<typeof SyncStatus.Service> =>
  Effect.sync(() => {
    const { minimumChainWork, noRetargeting } = chain.params
    /** The works of the start that are not done; the first is the start itself. */
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
      // Only the private network has no retargets: there a block is mined only on demand.
      if (tip.chainwork >= minimumChainWork && (noRetargeting || recent)) caughtUp = true
      return !caughtUp
    })

    const syncing = Effect.gen(function*() {
      const { importing, missing } = yield* chain.progress
      if (works > 0 || importing !== undefined || waitsForPeers) return true
      if (missing !== undefined && !isOnItsWay(missing, (yield* Clock.currentTimeMillis) / 1000)) return true
      if (!offline) return yield* initialDownload
      // The tip may be of any age, but a chain without the least work is only the beginning of one.
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
