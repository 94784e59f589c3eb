import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { InvalidConfig } from "../../client/errors.ts"
import {
  decodeOptions,
  type GivenValues,
  type LayerName,
  type OptionProblem,
  type OptionsOf,
  settingsWith
} from "../../config/nodeOptions.ts"
import type { Settings } from "../../config/settings.ts"

/** A layer of options that the program reads with Effect's `Config`. */
export const optionsOfConfig = <Options, A, E, R>(
  options: Config.Config.Wrap<Options>,
  layerOf: (options: Options) => Layer.Layer<A, E, R>
): Layer.Layer<A, E | ConfigError.ConfigError, R> => Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerOf))

/**
 * The settings that the layers above a chain share, such as network and directory. Each layer may add its options; all
 * together are checked as one record.
 */
export class NodeSettings extends Context.Tag("svcd/NodeSettings")<NodeSettings, {
  readonly settings: Settings
  readonly with: (part: PartOptions) => Either.Either<Settings, InvalidConfig>
}>() {}

export interface PartOptions {
  readonly layer: LayerName
  readonly options: object
  readonly values?: GivenValues
  /** Whether the options are for one of several servers. */
  readonly isServer?: boolean
}

const invalid = (problem: OptionProblem): InvalidConfig => new InvalidConfig(problem)

class Known {
  #given: GivenValues
  #layers: ReadonlyArray<LayerName>

  constructor(given: GivenValues, layer: LayerName) {
    this.#given = given
    this.#layers = [layer]
  }

  get settings(): Either.Either<Settings, InvalidConfig> {
    return Either.mapLeft(settingsWith(this.#given, this.#layers), invalid)
  }

  readonly extend = (
    { isServer = false, layer, options, values }: PartOptions
  ): Either.Either<Settings, InvalidConfig> =>
    Either.gen(this, function*() {
      const given = { ...this.#given, ...values, ...yield* Either.mapLeft(decodeOptions(layer, options), invalid) }
      const layers = [...this.#layers, layer]
      const settings = yield* Either.mapLeft(settingsWith(given, layers), invalid)
      if (!isServer) {
        this.#given = given
        this.#layers = layers
      }
      return settings
    })

  /** The network exists from now on. */
  goOnline(): void {
    const { maxpeers: _, ...others } = this.#given
    this.#given = others
  }
}

const isEmpty = (options: object): boolean => Object.values(options).every((value) => value === undefined)

export const wholeSettings = (settings: Settings): typeof NodeSettings.Service => {
  const same = ({ options }: PartOptions): Either.Either<Settings, InvalidConfig> =>
    isEmpty(options)
      ? Either.right(settings)
      : Either.left(new InvalidConfig({ field: "options", reason: "are given where the settings of the node are" }))
  return NodeSettings.of({ settings, with: same })
}

/** For a node composed by hand. Nothing below a `PeerManager` waits for peers, and none is contacted without one. */
export const chainSettings = (options: ChainOptionsGiven): Either.Either<typeof NodeSettings.Service, InvalidConfig> =>
  Either.gen(function*() {
    const given = yield* Either.mapLeft(decodeOptions("Chain", options), invalid)
    const known = new Known({ ...given, maxpeers: 0 }, "Chain")
    return NodeSettings.of({
      settings: yield* known.settings,
      with: (part) => {
        if (part.layer === "PeerManager") known.goOnline()
        return known.extend(part)
      }
    })
  })

export type ChainOptionsGiven = OptionsOf<"Chain">

/** Decoded from one record. RPC and metrics may be added. */
export const nodeSettings = (options: object): Either.Either<typeof NodeSettings.Service, InvalidConfig> =>
  Either.gen(function*() {
    const given = yield* Either.mapLeft(decodeOptions("Node", options), invalid)
    const known = new Known(given, "Node")
    return NodeSettings.of({ settings: yield* known.settings, with: known.extend })
  })
