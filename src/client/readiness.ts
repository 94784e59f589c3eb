import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { isDeepStrictEqual } from "node:util"
import { isProved, type ProofLevel } from "../light/proof.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { InvalidRequest, NotSynced } from "./errors.ts"
import type { ResolveOptions } from "./options.ts"
import { type Freshness, freshnessOf } from "./records.ts"

/** The proof that callers get unless they ask for one. */
export type Requirement = Pick<ResolveOptions, "requireProof">

export const requiring = <A extends Requirement>(options: A, { requireProof }: Requirement): A =>
  requireProof === undefined || options.requireProof !== undefined ? options : { ...options, requireProof }

export const isTooWeak = (
  asOf: Freshness,
  { minHeight, requireProof = "work", requireSynced }: ResolveOptions
): boolean =>
  requireSynced === true && !asOf.synced || minHeight !== undefined && asOf.height < minHeight ||
  !isProved(asOf, requireProof)

export const notSynced = (
  asOf: Pick<Freshness, "height" | "proof">,
  { percent, phase, secondsLeft }: Pick<SyncReport, "percent" | "phase" | "secondsLeft">,
  { requireProof = "work" }: Requirement = {}
): NotSynced =>
  new NotSynced({
    height: asOf.height,
    ...isProved(asOf, requireProof) ? {} : { reason: `the answer does not rest on "${requireProof}"` },
    phase,
    percent,
    ...secondsLeft === undefined ? {} : { secondsLeft }
  })

/** Milliseconds between two reports of a node in this process. */
export const REPORT_INTERVAL = 250

export interface ReportSource<E, R> {
  /** Makes the effect that reports. It may keep measurements between two reports. */
  readonly report: Effect.Effect<SyncReport, E, R>
  readonly interval: number
  /** The strongest proof that the node can reach in its configuration. */
  readonly best: ProofLevel
}

export const progressOf = <E, R>({ interval, report }: ReportSource<E, R>): Stream.Stream<SyncReport, E, R> =>
  Stream.repeatEffectWithSchedule(report, Schedule.spaced(interval)).pipe(
    Stream.changesWith((before: SyncReport, now: SyncReport) => isDeepStrictEqual(before, now)),
    Stream.takeUntil(({ phase }) => phase === "ready")
  )

export const readyOf = <E, R>(
  source: ReportSource<E, R>,
  level: ProofLevel
): Effect.Effect<Freshness, E | InvalidRequest, R> =>
  Effect.gen(function*() {
    const never = new InvalidRequest({
      field: "level",
      reason: `this node does not reach "${level}": it needs the whole chain, as with sync: "full"`
    })
    if (!isProved({ proof: source.best }, level)) return yield* never
    const reached = yield* progressOf(source).pipe(
      Stream.filter((report) => report.synced && isProved(report, level)),
      Stream.runHead
    )
    // The daemon may be a light node: it has nothing more to wait for.
    if (Option.isNone(reached)) return yield* never
    return freshnessOf(reached.value)
  })
