import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { paramsOf } from "../consensus/params.ts"
import { networks } from "../protocol/networks.ts"
import { GETCONNECTIONCOUNT } from "../rpc/contract/network/connection.ts"
import { wantedChanges, withoutLive, withoutSubjects } from "./changeFilter.ts"
import type { DecodedConfig } from "./config.ts"
import * as DaemonBlocks from "./daemonBlocks.ts"
import * as DaemonEvents from "./daemonEvents.ts"
import { makeDaemonNames } from "./daemonNames.ts"
import * as DaemonOperations from "./daemonOperations.ts"
import * as DaemonRpc from "./DaemonRpc.ts"
import * as DaemonSync from "./daemonSync.ts"
import type { ChangesFailure, DaemonOpenFailure } from "./errors.ts"
import { endWithScope, Lifespan } from "./Lifespan.ts"
import { changesBy } from "./liveChanges.ts"
import { NameClient } from "./NameClient.ts"
import type { ChangeFilter, LiveChange, LiveFilter } from "./options.ts"
import { askForProof, provingNames } from "./proveName.ts"
import { progressOf, readyOf } from "./readiness.ts"
import { freshnessOf, type NameChange } from "./records.ts"
import { REGISTER_WAITS, UPDATE_WAITS } from "./registering.ts"
import { countReply } from "./replies.ts"
import { resolvingDomains } from "./resolveDomain.ts"
import { operationBytes, registrationBytes } from "./text.ts"

/** A `NameClient` over the JSON-RPC of a daemon: svcd or the reference node (reference/rpc.md 8). */

/** Milliseconds between two polls for blocks. */
const INTERVAL = 1_000

export interface DaemonClientOptions {
  readonly interval?: number
  /** Milliseconds before the first retry of a call. */
  readonly firstPause?: number
}

export type DaemonClientConfig = Pick<DecodedConfig, "daemon" | "network" | "requireProof">

const NO_SUBJECTS = "the daemon has no events: it is not svcd, or it is an older version"

export const make = (
  { daemon, network: wanted, requireProof }: DaemonClientConfig,
  { firstPause, interval = INTERVAL }: DaemonClientOptions = {}
): Effect.Effect<typeof NameClient.Service, DaemonOpenFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const params = paramsOf(networks[wanted])
    const lifespan = new Lifespan()
    const rpc = yield* DaemonRpc.make({ ...daemon, network: wanted }, firstPause)
    yield* rpc.confirm
    const sync = yield* DaemonSync.make(rpc)

    const { current, findNames, listNames, resolveName } = makeDaemonNames({
      rpc,
      sync,
      network: params.network,
      requireProof
    })

    const peers = rpc.call(GETCONNECTIONCOUNT, {}).pipe(
      Effect.map(countReply),
      Effect.orElseSucceed(() => undefined)
    )
    const source = { report: sync.report, interval, best: "full", peers, requireProof } as const

    const ofEvents = DaemonEvents.make({ rpc, params, report: sync.report })
    const ofBlocks = DaemonBlocks.make({ rpc, params, interval, current })
    const changes = (
      filter: ChangeFilter | LiveFilter = {}
    ): Stream.Stream<NameChange | LiveChange, ChangesFailure> =>
      Stream.unwrap(Effect.map(wantedChanges(filter, params.network), (wanted) =>
        Stream.catchTag(ofEvents(wanted), "NoEvents", ({ from }) =>
          Stream.unwrap(Effect.map(
            Either.flatMap(withoutSubjects(wanted, NO_SUBJECTS), () =>
              withoutLive(wanted, NO_SUBJECTS)),
            () =>
              ofBlocks({ ...wanted, from })
          )))))
    const operations = DaemonOperations.make({ rpc, lifespan, scope, interval })

    const freshness = Effect.map(sync.report, freshnessOf)
    const proveName = provingNames({
      resolveName,
      prove: (name, wanted) =>
        askForProof(rpc, name, wanted)
    })
    const resolveDomain = resolvingDomains({ resolveName, freshness })

    yield* endWithScope(lifespan)
    return NameClient.of({
      mode: "daemon",
      resolveName: (name, options) => lifespan.during(resolveName(name, options)),
      proveName: (name, options) => lifespan.during(proveName(name, options)),
      resolveDomain: (host, type, options) => lifespan.during(resolveDomain(host, type, options)),
      listNames: (filter) => lifespan.during(listNames(filter)),
      registerName: (name, value, options = {}) =>
        Effect.suspend(() =>
          Effect.flatMap(
            registrationBytes({ name, value, waitFor: options.waitFor, anyName: options.anyName }, REGISTER_WAITS),
            (given) => operations.register({ name, nameBytes: given.name, value: given.value }, options)
          )
        ),
      updateName: (name, value, options = {}) =>
        Effect.suspend(() =>
          Effect.flatMap(
            operationBytes({ name, value, waitFor: options.waitFor }, UPDATE_WAITS),
            (given) => operations.update({ name, nameBytes: given.name, value: given.value }, options)
          )
        ),
      findNames: (filter) => lifespan.stream(findNames(filter)),
      changes: changesBy((filter) => lifespan.stream(changes(filter))),
      freshness: lifespan.during(freshness),
      progress: lifespan.stream(progressOf(source)),
      ready: (wanted) => lifespan.during(readyOf(source, wanted)),
      failure: lifespan.failure
    })
  })

export const layer = (config: DaemonClientConfig): Layer.Layer<NameClient, DaemonOpenFailure> =>
  Layer.scoped(NameClient, make(config))
