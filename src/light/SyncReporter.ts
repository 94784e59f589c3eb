import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { monotonic } from "../base/clock.ts"
import { Chain } from "../chain/Chain.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import { makeVerified } from "../chain/VerifiedPart.ts"
import type { UnixTime } from "../protocol/keys.ts"
import { BLOCK_WEIGHT, Forecast, HEADER_WEIGHT } from "./Forecast.ts"
import { type LightNode, LightPart } from "./LightPart.ts"
import { DONE, expectedTip, makeLightReport, unfinished } from "./lightReport.ts"
import { NameAnswers } from "./NameAnswers.ts"
import type { SyncPhase, SyncReport } from "./syncReport.ts"

/** The only source of the node's progress. */
export class SyncReporter extends Context.Tag("svcd/SyncReporter")<SyncReporter, {
  readonly report: Effect.Effect<SyncReport>
  /** The checked share of the whole chain by transactions, 0 to 1: an estimate until the end is known. */
  readonly verified: Effect.Effect<number>
}>() {}

/** With more headers missing than this, the node reports that it fetches headers. */
const FEW_HEADERS = 2_000

const make = Effect.gen(function*() {
  const chain = yield* Chain
  const status = yield* SyncStatus
  const answers = yield* NameAnswers
  const part = yield* LightPart
  const forecast = new Forecast()
  const { params } = chain
  const verified = makeVerified(chain)
  const seconds = Effect.map(Clock.currentTimeMillis, (now): UnixTime => now / 1000)

  const ofChain = Effect.gen(function*() {
    const { headers, tip } = yield* chain.progress
    const { header } = yield* chain.headerTip
    const expected = expectedTip({ headers, headerTime: header.time }, params, yield* seconds)
    const phase: SyncPhase = expected - headers > FEW_HEADERS ? "headers" : "blocks"
    const stages = [
      { done: headers, of: expected, weight: HEADER_WEIGHT },
      { done: expected * (yield* verified), of: expected, weight: BLOCK_WEIGHT }
    ]
    return { phase, headers, tip, outlook: unfinished(forecast.note({ at: monotonic(), stages })) }
  })

  const whole: Effect.Effect<SyncReport> = Effect.gen(function*() {
    const { headers, outlook, phase, tip } = yield* ofChain
    // An unreadable file tells nothing about names: the node stops or repairs it.
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

  let ofWindow: { readonly light: LightNode; readonly report: Effect.Effect<SyncReport> } | undefined

  /** Progress of a light part and the whole chain behind it. */
  const ofLight = (light: LightNode): Effect.Effect<SyncReport> =>
    Effect.gen(function*() {
      if (ofWindow?.light !== light) ofWindow = { light, report: makeLightReport(light) }
      const report = yield* ofWindow.report
      if (report.phase !== "ready" || part.stays) return report
      const { outlook } = yield* ofChain
      return { ...report, phase: "blocks", ...outlook }
    })

  const report = Effect.suspend(() =>
    part.current() === undefined
      ? whole
      : Effect.scoped(Effect.flatMap(part.hold, (light) => light === undefined ? whole : ofLight(light)))
  )
  return SyncReporter.of({ report, verified })
})

export const layer: Layer.Layer<SyncReporter, never, Chain | SyncStatus | NameAnswers | LightPart> = Layer.effect(
  SyncReporter,
  make
)
