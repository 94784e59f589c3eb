import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { isDeepStrictEqual } from "node:util"
import { isProved, PROOF_LEVELS, type ProofLevel } from "../light/proof.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { InvalidRequest, NotSynced } from "./errors.ts"
import type { ReadyOptions, ResolveOptions } from "./options.ts"
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
  /** The number of connected peers; `undefined` where that is unknown, or none are needed. */
  readonly peers: Effect.Effect<number | undefined>
}

export const progressOf = <E, R>({ interval, report }: ReportSource<E, R>): Stream.Stream<SyncReport, E, R> =>
  Stream.repeatEffectWithSchedule(report, Schedule.spaced(interval)).pipe(
    Stream.changesWith((before: SyncReport, now: SyncReport) => isDeepStrictEqual(before, now)),
    Stream.takeUntil(({ phase }) => phase === "ready")
  )

/** Without a peer for so long, a first start says why it does not get on. */
const ALONE_AFTER = "10 seconds"

const NO_PEERS = "no peer is connected: check the network, the firewall and the proxy"

const warnAlone = <E, R>({ peers }: ReportSource<E, R>): Effect.Effect<void> =>
  Effect.delay(
    Effect.flatMap(
      peers,
      (count) => count === 0 ? Effect.logWarning(`names are not ready: ${NO_PEERS}`) : Effect.void
    ),
    ALONE_AFTER
  )

/** Why names are not ready in time. */
const lateFailure = <E, R>(
  { peers, report }: ReportSource<E, R>,
  limit: Duration.Duration
): Effect.Effect<NotSynced, E, R> =>
  Effect.zipWith(report, peers, ({ height, percent, phase, secondsLeft }, count) =>
    new NotSynced({
      height,
      reason: count === 0 ? NO_PEERS : `names were not ready within ${Duration.format(limit)}`,
      phase,
      percent,
      ...secondsLeft === undefined ? {} : { secondsLeft }
    }))

interface Wanted {
  readonly level: ProofLevel | undefined
  readonly limit: Duration.Duration | undefined
}

const wantedOf = (given: ProofLevel | ReadyOptions): Effect.Effect<Wanted, InvalidRequest> => {
  const { proof, within } = typeof given === "string" ? { proof: given, within: undefined } : given
  if (proof !== undefined && !PROOF_LEVELS.includes(proof)) {
    return new InvalidRequest({ field: "level", reason: `has to be one of ${PROOF_LEVELS.join(", ")}` })
  }
  if (within === undefined) return Effect.succeed({ level: proof, limit: undefined })
  const limit = Option.getOrUndefined(Duration.decodeUnknown(within))
  return limit === undefined || !Duration.isFinite(limit)
    ? new InvalidRequest({ field: "within", reason: "has to be a time such as \"30 seconds\", or milliseconds" })
    : Effect.succeed({ level: proof, limit })
}

/** `requireProof`: of the configuration. */
export const readyOf = <E, R>(
  source: ReportSource<E, R> & Requirement,
  given: ProofLevel | ReadyOptions = {}
): Effect.Effect<Freshness, E | InvalidRequest | NotSynced, R> =>
  Effect.gen(function*() {
    const { level = source.requireProof ?? "work", limit } = yield* wantedOf(given)
    const never = new InvalidRequest({
      field: "level",
      reason: `this node does not reach "${level}": it needs the whole chain, as with sync: "full"`
    })
    if (!isProved({ proof: source.best }, level)) return yield* never
    yield* Effect.forkScoped(warnAlone(source))
    const waiting = progressOf(source).pipe(
      Stream.filter((report) => report.synced && isProved(report, level)),
      Stream.runHead
    )
    const reached = yield* limit === undefined
      ? waiting
      : Effect.flatMap(
        Effect.timeoutOption(waiting, limit),
        Option.match({
          onNone: () => Effect.flatMap(lateFailure(source, limit), Effect.fail),
          onSome: Effect.succeed
        })
      )
    // The daemon may be a light node: it has nothing more to wait for.
    if (Option.isNone(reached)) return yield* never
    return freshnessOf(reached.value)
  }).pipe(Effect.scoped)
