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
 * The settings of a node, which the layers above its chain take from it: its network, its directory, and what else was given there. Each layer
 * may add the options of its part; what all of them say together is checked as if one record had it.
 */
export class NodeSettings extends Context.Tag("svcd/NodeSettings")<NodeSettings, {
  /** The settings of the parts below the network. */
  readonly settings: Settings
  /** The same with the options of a part. */
  readonly with: (part: PartOptions) => Either.Either<Settings, InvalidConfig>
  /** The settings of the network. */
  readonly withPeers: (part: PartOptions) => Either.Either<Settings, InvalidConfig>
}>() {}

/** The options of a layer. */
export interface PartOptions {
  readonly layer: LayerName
  readonly options: object
  /** Values that the part has whatever is given below it. */
  readonly values?: GivenValues
  /** Whether the options are those of a server alone, of which a node may have several. */
  readonly isServer?: boolean
}

const invalid = (problem: OptionProblem): InvalidConfig => new InvalidConfig(problem)

/** What the parts of a node have said so far. A part that is built later sees it. */
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

  /** Reads the options of a part behind what is known. */
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

  /** The network is there from now on. */
  goOnline(): void {
    const { maxpeers: _, ...others } = this.#given
    this.#given = others
  }
}

const isEmpty = (options: object): boolean => Object.values(options).every((value) => value === undefined)

/** Settings that were decoded as a whole: no part adds to them. */
export const wholeSettings = (settings: Settings): typeof NodeSettings.Service => {
  const same = ({ options }: PartOptions): Either.Either<Settings, InvalidConfig> =>
    isEmpty(options)
      ? Either.right(settings)
      : Either.left(new InvalidConfig({ field: "options", reason: "are given where the settings of the node are" }))
  return NodeSettings.of({ settings, with: same, withPeers: same })
}

/**
 * The settings of a chain whose node is composed by hand. It connects to no peer until a `PeerManager` is built over it, so that nothing below
 * waits for peers.
 */
export const chainSettings = (options: ChainOptionsGiven): Either.Either<typeof NodeSettings.Service, InvalidConfig> =>
  Either.gen(function*() {
    const given = yield* Either.mapLeft(decodeOptions("Chain", options), invalid)
    const known = new Known({ ...given, maxpeers: 0 }, "Chain")
    return NodeSettings.of({
      settings: yield* known.settings,
      with: known.extend,
      withPeers: (part) => {
        known.goOnline()
        return known.extend(part)
      }
    })
  })

/** The options of a chain. */
export type ChainOptionsGiven = OptionsOf<"Chain">

/** The settings of a whole node, decoded from one record. RPC and metrics may be added to it. */
export const nodeSettings = (options: object): Either.Either<typeof NodeSettings.Service, InvalidConfig> =>
  Either.gen(function*() {
    const given = yield* Either.mapLeft(decodeOptions("Node", options), invalid)
    const known = new Known(given, "Node")
    return NodeSettings.of({ settings: yield* known.settings, with: known.extend, withPeers: known.extend })
  })
