import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { monotonic } from "../base/clock.ts"
import { expectedHeight, type KnownHeaders } from "../chain/expectedHeight.ts"
import { expirationDepth } from "../consensus/expiry.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { decodeBlock } from "../protocol/block.ts"
import type { Height, UnixTime } from "../protocol/keys.ts"
import { BLOCK_WEIGHT, Forecast, HEADER_WEIGHT, type Outlook, type Stage } from "./Forecast.ts"
import type { LightNode } from "./LightPart.ts"
import type { SyncPhase, SyncReport } from "./syncReport.ts"
import { firstOfWindow } from "./windowStart.ts"

/** Below 100 %, as remaining work may not be known yet. */
export const unfinished = ({ percent, secondsLeft }: Outlook): Outlook =>
  percent < 100 ? { percent, secondsLeft } : { percent: 99.9, secondsLeft: undefined }

export const DONE: Outlook = { percent: 100, secondsLeft: 0 }

/** The expected end of a chain. An anchor has no time, so blocks since then are assumed on schedule. */
export const expectedTip = (
  { headerTime, headers }: Pick<KnownHeaders, "headers" | "headerTime">,
  { network, noRetargeting, targetSpacing: spacing }: ConsensusParams,
  now: UnixTime
): Height =>
  expectedHeight({
    headers,
    headerTime: headerTime === 0 ? decodeBlock(network.genesisBlock).header.time + headers * spacing : headerTime,
    now,
    spacing,
    onDemand: noRetargeting
  })

export interface ReportedLight extends Pick<LightNode, "complete" | "params" | "progress"> {
  readonly chain: { readonly tree: Pick<LightNode["chain"]["tree"], "best" | "time"> }
}

/** The headers of a light chain from its first one, and the blocks of its window. */
const stagesOf = ({ chain: { tree }, params, progress }: ReportedLight, now: UnixTime) =>
  Effect.map(progress, ({ blocks, headers, of, phase }): ReadonlyArray<Stage> => {
    const root = params.anchors[0]?.height ?? 0
    const expected = expectedTip({ headers, headerTime: tree.time(tree.best()) }, params, now)
    const size = expected - firstOfWindow(expected, expirationDepth(expected, params)) + 1
    return phase === "headers"
      ? [
        { done: headers - root, of: expected - root, weight: HEADER_WEIGHT },
        { done: 0, of: Math.max(0, size), weight: BLOCK_WEIGHT }
      ]
      : [
        { done: headers - root, of: headers - root, weight: HEADER_WEIGHT },
        { done: blocks, of, weight: BLOCK_WEIGHT }
      ]
  })

/** The effect that reports a light node's progress. Its forecast starts now. */
export const makeLightReport = (light: ReportedLight): Effect.Effect<SyncReport> => {
  const window = new Forecast()
  const signatures = new Forecast()
  let mostUnchecked = 0

  const outlookOf = (phase: SyncPhase, unchecked: number): Effect.Effect<Outlook> => {
    switch (phase) {
      case "headers":
      case "window":
        return Effect.gen(function*() {
          const now: UnixTime = (yield* Clock.currentTimeMillis) / 1000
          return unfinished(window.note({ at: monotonic(), stages: yield* stagesOf(light, now) }))
        })
      case "signatures":
        return Effect.sync(() => {
          mostUnchecked = Math.max(mostUnchecked, unchecked)
          const stage = { done: mostUnchecked - unchecked, of: mostUnchecked, weight: 1 }
          return unfinished(signatures.note({ at: monotonic(), stages: [stage] }))
        })
      case "blocks":
      case "ready":
        return Effect.succeed(DONE)
    }
  }

  return Effect.gen(function*() {
    const { blocks, headers, names, of, phase: step, tip, unchecked } = yield* light.progress
    const synced = yield* light.complete
    const phase: SyncPhase = !synced
      ? step === "headers" ? "headers" : "window"
      : unchecked > 0
      ? "signatures"
      : "ready"
    return {
      phase,
      proof: synced && unchecked === 0 ? "signatures" : "work",
      height: tip.height,
      headers,
      synced,
      ...yield* outlookOf(phase, unchecked),
      window: { blocks, of, names, unchecked }
    }
  })
}
