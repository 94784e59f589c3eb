import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Chain } from "../chain/Chain.ts"
import { expectedHeight } from "../chain/expectedHeight.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import { expirationDepth } from "../consensus/expiry.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { decodeBlock } from "../protocol/block.ts"
import type { Height, UnixTime } from "../protocol/keys.ts"
import { firstOfWindow } from "./anchors.ts"
import { BLOCK_WEIGHT, Forecast, HEADER_WEIGHT, type Outlook, type Stage } from "./Forecast.ts"
import type { LightNode } from "./LightPart.ts"
import { LightPart } from "./LightPart.ts"
import { NameAnswers } from "./NameAnswers.ts"
import type { SyncPhase, SyncReport } from "./syncReport.ts"

/** How far the node is, for all that tell it: there is no other source. */
export class SyncReporter extends Context.Tag("svcd/SyncReporter")<SyncReporter, {
  readonly report: Effect.Effect<SyncReport>
}>() {}

/** Headers behind the expected ones from which on the node is said to fetch headers. */
const FEW_HEADERS = 2_000

/** The expected end of a chain with a best header. An anchor has no time: it is as old as blocks in time would make it. */
const expectedTip = (
  { height, time }: { readonly height: Height; readonly time: UnixTime },
  { network, noRetargeting, targetSpacing: spacing }: ConsensusParams,
  now: UnixTime
): Height =>
  expectedHeight({
    headers: height,
    headerTime: time === 0 ? decodeBlock(network.genesisBlock).header.time + height * spacing : time,
    now,
    spacing,
    onDemand: noRetargeting
  })

/** Less than everything is done: what remains may not be known yet. */
const unfinished = ({ percent, secondsLeft }: Outlook): Outlook =>
  percent < 100 ? { percent, secondsLeft } : { percent: 99.9, secondsLeft: undefined }

const DONE: Outlook = { percent: 100, secondsLeft: 0 }

/** The forecasts of a run: of the first answers, of their signatures, and of the whole chain. */
class Outlooks {
  private readonly window = new Forecast()
  private readonly signatures = new Forecast()
  private readonly chain = new Forecast()
  private mostUnchecked = 0

  ofWindow(stages: ReadonlyArray<Stage>): Outlook {
    return unfinished(this.window.note({ at: performance.now(), stages }))
  }

  ofSignatures(unchecked: number): Outlook {
    this.mostUnchecked = Math.max(this.mostUnchecked, unchecked)
    const of = this.mostUnchecked
    return unfinished(
      this.signatures.note({ at: performance.now(), stages: [{ done: of - unchecked, of, weight: 1 }] })
    )
  }

  ofChain(stages: ReadonlyArray<Stage>): Outlook {
    return unfinished(this.chain.note({ at: performance.now(), stages }))
  }
}

const make = Effect.gen(function*() {
  const chain = yield* Chain
  const status = yield* SyncStatus
  const answers = yield* NameAnswers
  const part = yield* LightPart
  const outlooks = new Outlooks()
  const { params } = chain
  const seconds = Effect.map(Clock.currentTimeMillis, (now): UnixTime => now / 1000)

  /** How far the whole chain is. */
  const ofChain = Effect.gen(function*() {
    const { headers, tip } = yield* chain.progress
    const { header } = yield* chain.headerTip
    const expected = expectedTip({ height: headers, time: header.time }, params, yield* seconds)
    const phase: SyncPhase = expected - headers > FEW_HEADERS ? "headers" : "blocks"
    const outlook = outlooks.ofChain([
      { done: headers, of: expected, weight: HEADER_WEIGHT },
      { done: tip.height, of: expected, weight: BLOCK_WEIGHT }
    ])
    return { phase, headers, tip, outlook }
  })

  const whole: Effect.Effect<SyncReport> = Effect.gen(function*() {
    const { headers, outlook, phase, tip } = yield* ofChain
    // A file that cannot be read says nothing about names: the node stops, or repairs it.
    const height = yield* Effect.orElseSucceed(answers.height, () => 0)
    const synced = yield* Effect.orElseSucceed(answers.complete, () => false)
    const busy = (yield* status.syncing) || height !== tip.height
    return {
      phase: busy ? phase : "ready",
      proof: "full",
      height,
      headers,
      synced,
      ...busy ? outlook : DONE,
      window: undefined
    }
  })

  /** The headers of a light chain, counted from its first one, and the blocks of its window. */
  const windowStages = (light: LightNode, now: UnixTime) =>
    Effect.map(light.progress, ({ blocks, headers, of, phase }) => {
      const { tree } = light.chain
      const root = params.anchors[0]?.height ?? 0
      const expected = expectedTip({ height: headers, time: tree.time(tree.best()) }, params, now)
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

  /** What a light node works on, and how far that is. */
  const lightPhase = (light: LightNode, synced: boolean) =>
    Effect.gen(function*() {
      const { phase, unchecked } = yield* light.progress
      if (!synced) {
        const stages = yield* windowStages(light, yield* seconds)
        return { phase: phase === "headers" ? "headers" : "window", ...outlooks.ofWindow(stages) } as const
      }
      if (unchecked > 0) return { phase: "signatures", ...outlooks.ofSignatures(unchecked) } as const
      if (part.stays) return { phase: "ready", ...DONE } as const
      return { phase: "blocks", ...(yield* ofChain).outlook } as const
    })

  const ofLight = (light: LightNode): Effect.Effect<SyncReport> =>
    Effect.gen(function*() {
      const { blocks, headers, names, of, tip, unchecked } = yield* light.progress
      const synced = yield* light.complete
      return {
        ...(yield* lightPhase(light, synced)),
        proof: synced && unchecked === 0 ? "signatures" : "work",
        height: tip.height,
        headers,
        synced,
        window: { blocks, of, names, unchecked }
      }
    })

  const report = Effect.suspend(() =>
    part.current() === undefined
      ? whole
      : Effect.scoped(Effect.flatMap(part.hold, (light) => light === undefined ? whole : ofLight(light)))
  )
  return SyncReporter.of({ report })
})

export const layer: Layer.Layer<SyncReporter, never, Chain | SyncStatus | NameAnswers | LightPart> = Layer.effect(
  SyncReporter,
  make
)
