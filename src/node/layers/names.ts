import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as WatchList from "../../alerts/WatchList.ts"
import { withoutSpan } from "../../base/spans.ts"
import { Snapshots } from "../../chain/Snapshots.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import type { EmbeddedOpenFailure } from "../../client/errors.ts"
import { watchedNames } from "../../config/alertSettings.ts"
import { DataDirectory } from "../../config/DataDirectory.ts"
import type { OptionsOf } from "../../config/nodeOptions.ts"
import type { Settings } from "../../config/settings.ts"
import { LightPart } from "../../light/LightPart.ts"
import * as NameAnswers from "../../light/NameAnswers.ts"
import * as SyncReporter from "../../light/SyncReporter.ts"
import { Samples } from "../../metrics/Samples.ts"
import * as NameEvents from "../../names/events/NameEvents.ts"
import * as Names from "../../names/NameDb.ts"
import { NameDb } from "../../names/NameDb.ts"
import * as LightStart from "../lightStart.ts"
import { collectGarbage, isLightSettled, releaseMemory } from "../releaseMemory.ts"
import { logSync } from "../reportSync.ts"
import { following, inBackground, openFailure, partLayer, starting } from "./base.ts"
import type { ProvidedByChain } from "./chain.ts"
import { optionsOfConfig } from "./NodeSettings.ts"
import { sampleNames, sampleSync } from "./samples.ts"

/** The names of a chain: their file, answers and progress. */

/** Empties names from a removed or invalid snapshot. Runs before their follower is registered. */
export const restartNames = Effect.gen(function*() {
  const { beganAt } = yield* Snapshots
  const { beginning, follower } = yield* NameDb
  const height = yield* beginning
  if (height === undefined || (yield* beganAt(height))) return
  yield* Effect.logWarning("names began with a snapshot that is not in use: they are read again from the blocks", {
    height
  })
  yield* follower.repair?.begin ?? Effect.void
})

const namesOf = ({ chain: { pageSize }, names: { reindexNames } }: Settings) =>
  Layer.unwrapEffect(Effect.map(DataDirectory, (directory) =>
    Names.layer({
      filename: directory.file("names.db"),
      pageSize,
      rebuildSearch: reindexNames,
      searchBuilt: collectGarbage
    }).pipe(Layer.annotateLogs("subsystem", "names"))))

const watchedOf = (settings: Settings) =>
  Layer.unwrapEffect(
    Effect.map(DataDirectory, (directory) =>
      WatchList.layer({ filename: directory.file("watched.json"), configured: watchedNames(settings) }).pipe(
        Layer.annotateLogs("subsystem", "names")
      ))
  )

/** Whether the node has nothing to fetch or check. A light part beside the whole chain ends with the handover. */
const isSettled = Effect.gen(function*() {
  const status = yield* SyncStatus
  const part = yield* LightPart
  return Effect.suspend(() => {
    const light = part.current()
    if (light === undefined) return Effect.negate(status.syncing)
    return part.stays ? isLightSettled(light) : Effect.succeed(false)
  })
})

const catchingUp = Layer.scopedDiscard(
  Effect.gen(function*() {
    const { follower } = yield* Names.NameDb
    yield* starting("Loading names…")
    yield* restartNames
    yield* following(follower)
  }).pipe(Effect.annotateLogs("subsystem", "chain"))
)

const running = Layer.scopedDiscard(
  Effect.gen(function*() {
    const part = yield* LightPart
    const { add } = yield* Samples
    yield* inBackground(part.failure)
    yield* Effect.forkScoped(withoutSpan(logSync))
    yield* Effect.forkScoped(withoutSpan(releaseMemory(yield* isSettled)))
    yield* add(yield* sampleNames)
    yield* add(yield* sampleSync)
  }).pipe(Effect.annotateLogs("subsystem", "chain"))
)

/** The services that a `NameDb` includes: answers, events, progress, and the list of watched names. */
export type ProvidedByNameDb =
  | LightPart
  | NameAnswers.NameAnswers
  | Names.NameDb
  | NameEvents.NameEvents
  | SyncReporter.SyncReporter
  | WatchList.WatchList

/** The options of the names. */
export type NameDbOptionsGiven = OptionsOf<"NameDb">

export const nameDbLayer = (options: NameDbOptionsGiven = {}) =>
  partLayer(
    { layer: "NameDb", options },
    (settings) =>
      running.pipe(
        Layer.provideMerge(SyncReporter.layer),
        Layer.provideMerge(Layer.merge(NameAnswers.layer(), NameEvents.layer)),
        Layer.provideMerge(Layer.merge(LightStart.layer(settings), watchedOf(settings))),
        Layer.provideMerge(Layer.provideMerge(catchingUp, namesOf(settings)))
      )
  )

/** The names of the chain. */
export class NodeNames extends Names.NameDb {
  /**
   * Opens the names of the chain below, running or not, and brings them to its tip. They follow it until the layer
   * closes.
   */
  static layer(
    options: NameDbOptionsGiven = {}
  ): Layer.Layer<ProvidedByNameDb, EmbeddedOpenFailure, ProvidedByChain> {
    return Layer.mapError(nameDbLayer(options), openFailure)
  }

  /** As `layer`, with options that the program reads. */
  static layerConfig(
    options: Config.Config.Wrap<NameDbOptionsGiven>
  ): Layer.Layer<ProvidedByNameDb, ConfigError.ConfigError | EmbeddedOpenFailure, ProvidedByChain> {
    return optionsOfConfig(options, NodeNames.layer)
  }
}
