import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { StorageFailure } from "../storage/errors.ts"
import type { Light } from "./Light.ts"

export type LightNode = Context.Tag.Service<Light>

/** The light part of a node, which answers about names until the whole chain is checked, or always in a light node. */
export class LightPart extends Context.Tag("svcd/LightPart")<LightPart, {
  /** `undefined` where the whole chain answers. It may close at any time unless held. */
  readonly current: () => LightNode | undefined
  /** The same, kept open for the scope. */
  readonly hold: Effect.Effect<LightNode | undefined, never, Scope.Scope>
  /** Whether the node stays light instead of syncing the whole chain. */
  readonly stays: boolean
  /** Why the node must stop. It never succeeds. */
  readonly failure: Effect.Effect<never, StorageFailure>
}>() {}

/** For a node whose whole chain answers from the start. */
export const NO_LIGHT: Context.Tag.Service<LightPart> = {
  current: () => undefined,
  hold: Effect.succeed(undefined),
  stays: false,
  failure: Effect.never
}

export const layerWhole: Layer.Layer<LightPart> = Layer.succeed(LightPart, NO_LIGHT)
