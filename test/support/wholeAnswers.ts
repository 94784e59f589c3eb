import { Layer } from "effect"
import * as LightPart from "../../src/light/LightPart.ts"
import * as NameAnswers from "../../src/light/NameAnswers.ts"
import * as SyncReporter from "../../src/light/SyncReporter.ts"

/** The answers about names of a node without a light part, over the chain and the names that a test provides. */
export const wholeAnswers = SyncReporter.layer.pipe(
  Layer.provideMerge(NameAnswers.layer()),
  Layer.provideMerge(LightPart.layerWhole)
)
