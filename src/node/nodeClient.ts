import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Chain } from "../chain/Chain.ts"
import { unreadBlocks } from "../chain/errors.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import { type ClientFailure, InternalError } from "../client/errors.ts"
import { endWithScope, Lifespan } from "../client/Lifespan.ts"
import { changesBy } from "../client/liveChanges.ts"
import { NameClient } from "../client/NameClient.ts"
import { orNotSynced, provingNames } from "../client/proveName.ts"
import { progressOf, readyOf, REPORT_INTERVAL } from "../client/readiness.ts"
import { resolvingDomains } from "../client/resolveDomain.ts"
import { LightPart } from "../light/LightPart.ts"
import { makeNameAnswers } from "../light/NameAnswers.ts"
import { makeNameProofs } from "../light/NameProofs.ts"
import type { ProofLevel } from "../light/proof.ts"
import { SyncReporter } from "../light/SyncReporter.ts"
import { completeNames } from "../names/completeNames.ts"
import { PeerManager } from "../network/PeerManager.ts"
import { Lifecycle, type NodeFailure } from "../rpc/Lifecycle.ts"
import * as EmbeddedNames from "./embeddedNames.ts"
import * as EmbeddedOperations from "./embeddedOperations.ts"

/** A `NameClient` over the services of a node in this process. */

/** Why the node ended, in the client's terms: a file that cannot be imported, a failed store, or a defect. */
export const asClientFailure = (ended: Effect.Effect<void, NodeFailure>) =>
  ended.pipe(
    Effect.catchTag("ImportFailed", (failure): Effect.Effect<never, ClientFailure> => unreadBlocks(failure)),
    Effect.catchAllDefect((defect) =>
      Effect.zipRight(
        Effect.logError("internal error: the embedded node stops", defect),
        new InternalError({ reason: String(defect) })
      )
    )
  )

const ending = (lifespan: Lifespan) =>
  Effect.flatMap(Lifecycle, ({ ended }) =>
    asClientFailure(ended).pipe(
      Effect.catchAll((failure) =>
        Effect.zipRight(
          Effect.logError("node stops", { reason: failure.message }),
          Effect.sync(() => lifespan.end(failure))
        )
      ),
      Effect.forkScoped
    ))

/** When offline, a complete chain can answer for all names before the mempool is loaded. */
const missingBlocks = Effect.gen(function*() {
  const chain = yield* Chain
  const status = yield* SyncStatus
  return (yield* status.offline)
    ? Effect.zipWith(
      chain.progress,
      chain.tip,
      ({ behind, importing }, { chainwork }) =>
        behind || importing !== undefined || chainwork < chain.params.minimumChainWork
    )
    : status.syncing
})

const make = ({ requireProof, wallet }: NodeClientOptions) =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const lifespan = new Lifespan()
    yield* ending(lifespan)
    const missing = yield* missingBlocks
    const reporter = yield* SyncReporter
    const part = yield* LightPart
    const answers = yield* makeNameAnswers(missing)
    const names = yield* EmbeddedNames.make({ answers, report: reporter.report, requireProof })
    const { count } = yield* PeerManager
    const source = {
      report: reporter.report,
      interval: REPORT_INTERVAL,
      best: part.stays ? "signatures" : "full",
      peers: Effect.map(count, ({ inbound, outbound }) => inbound + outbound),
      requireProof
    } as const
    const operations = yield* EmbeddedOperations.make({
      walletName: wallet,
      names: yield* completeNames(missing),
      lifespan,
      scope
    })
    const proofs = yield* makeNameProofs(answers)
    const proveName = provingNames({
      resolveName: names.resolveName,
      prove: (name, wanted) => orNotSynced(proofs.prove(name, wanted), reporter.report)
    })
    const resolveDomain = resolvingDomains(names)
    yield* endWithScope(lifespan)
    return NameClient.of({
      mode: "embedded",
      // Without `guard`: programs call it a hundred thousand times a second.
      resolveName: (name, options) => Effect.suspend(() => lifespan.reason() ?? names.resolveName(name, options)),
      proveName: (name, options) => lifespan.during(proveName(name, options)),
      resolveDomain: (host, type, options) => lifespan.during(resolveDomain(host, type, options)),
      listNames: (filter) => lifespan.during(names.listNames(filter)),
      findNames: (filter) => lifespan.stream(names.findNames(filter)),
      changes: changesBy((filter) => lifespan.stream(names.changes(filter))),
      freshness: lifespan.guard(names.freshness),
      progress: lifespan.stream(progressOf(source)),
      ready: (wanted) => lifespan.during(readyOf(source, wanted)),
      failure: lifespan.failure,
      ...operations
    })
  })

export interface NodeClientOptions {
  readonly requireProof?: ProofLevel | undefined
  readonly wallet?: string | undefined
}

export const nameClientLayer = (options: NodeClientOptions = {}) => Layer.scoped(NameClient, make(options))
