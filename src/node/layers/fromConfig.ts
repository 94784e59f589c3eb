import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A layer of options that the program reads with Effect's `Config`. */
export const optionsOfConfig = <Options, A, E, R>(
  options: Config.Config.Wrap<Options>,
  layerOf: (options: Options) => Layer.Layer<A, E, R>
): Layer.Layer<A, E | ConfigError.ConfigError, R> => Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerOf))
