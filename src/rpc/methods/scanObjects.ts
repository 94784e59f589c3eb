import * as Either from "effect/Either"
import { TAIL_BYTES } from "../../chain/state/CoinReads.ts"
import { binaryString, type Bytes, fromBinaryString } from "../../protocol/bytes.ts"
import { descriptorOf } from "../../protocol/descriptor/descriptor.ts"
import type { Network } from "../../protocol/networks.ts"
import type { Steps } from "../../protocol/steps.ts"
import { type Descriptor, faultless, isRangedDescriptor, withChecksum } from "../../wallet/keys/descriptors.ts"
import type { DescribedScript } from "../../wallet/keys/descriptorScripts.ts"
import { DescriptorKnowledge, expandDescriptor } from "../../wallet/keys/expandDescriptor.ts"
import { maskedKeys } from "../../wallet/keys/keyExpression.ts"
import { parseDescriptors } from "../../wallet/keys/parseDescriptor.ts"
import type { SigningProvider } from "../../wallet/signing/SigningProvider.ts"
import { integerWithin, type Json, JsonNumber, JsonObject, typeOf } from "../json/json.ts"
import { array, costing, json, optional, type Param, shownAs } from "../method/params.ts"
import { type Read, RpcError } from "../method/RpcError.ts"

/**
 * The scan objects of methods that search for scripts: descriptors, or objects with a descriptor and a range. Source:
 * upstream `rpc/util.cpp`, `EvalDescriptorStringOrObject`.
 */

/** The scripts of scan objects. */
export interface ScanScripts {
  /** By `binaryString`. */
  readonly keys: ReadonlyMap<string, Source>
  readonly lengths: ReadonlySet<number>
  readonly tails: ReadonlyArray<Bytes>
}

/** What a script comes from: an index of a descriptor. */
interface Source {
  readonly descriptor: Descriptor
  readonly index: number
}

interface Range {
  readonly first: number
  readonly last: number
}

const SCAN_OBJECT = json(
  "A descriptor, or `{\"desc\": descriptor, \"range\": end or [begin, end]}`.",
  { words: "string or object" }
)

const DEFAULT_RANGE: Range = { first: 0, last: 1000 }

/** Bytes of a script and its place in a map. */
const SCRIPT_BYTES = 200

/** Bytes of a script with its keys: 200,000 of them are the most of one call. */
const KNOWN_SCRIPT_BYTES = 2_000

/** Bytes of a script that a wallet watches. */
const WATCHED_SCRIPT_BYTES = 1_000

/** The indexes of a range as it was sent; one where it will be refused, before any work and with a reason of its own. */
export const rangeLength = (value: Json | undefined, missing: number): number => {
  if (value === undefined || value === null) return missing
  return Either.match(readRange(value), { onLeft: () => 1, onRight: ({ first, last }) => last - first + 1 })
}

/** The scripts that a descriptor has at each index: `combo` has four, and each path of an alternative is a descriptor. */
const scriptsAt = (text: string): number =>
  (text.includes("combo(") ? 4 : 1) *
  Math.max(1, text.split("<").slice(1).reduce((most, part) => Math.max(most, part.split(";").length), 1))

/** The scripts that scan objects ask for. */
export const scriptsOf = (value: Json): number => {
  if (!Array.isArray(value)) return 0
  let scripts = 0
  for (const each of value) {
    const desc = each instanceof JsonObject ? each.get("desc") : each
    if (typeof desc !== "string") continue
    const range = each instanceof JsonObject ? each.get("range") : undefined
    scripts += scriptsAt(desc) * (desc.includes("*") ? rangeLength(range, DEFAULT_RANGE.last + 1) : 1)
  }
  return scripts
}

/** Descriptors that a method looks for scripts of. */
export const SCAN_OBJECTS = shownAs(
  costing((value) => SCRIPT_BYTES * scriptsOf(value), array(SCAN_OBJECT, "The descriptors.")),
  "[scanobjects,...]"
)

/** Descriptors of whose scripts a method needs the keys. */
export const knownDescriptors = <A>(param: Param<A>): Param<A> =>
  costing((value) => KNOWN_SCRIPT_BYTES * scriptsOf(value), param)

/** Descriptors whose scripts a wallet watches. */
export const watchedDescriptors = <A>(param: Param<A>): Param<A> =>
  costing((value) => WATCHED_SCRIPT_BYTES * scriptsOf(value), param)

export const OPTIONAL_SCAN_OBJECTS = optional(SCAN_OBJECTS, "required for `start`")

export const SCAN_ERRORS: ReadonlyArray<string> = [
  "-8 Descriptor needs to be provided in scan object",
  "-8 Scan object needs to be either a string or an object",
  "-8 Range must be specified as end or as [begin,end]",
  "-8 Range specified as [begin,end] must not have begin after end",
  "-8 Range should be greater or equal than 0",
  "-8 End of range is too high",
  "-8 Range is too large",
  "-5 <why the descriptor is invalid>",
  "-5 Cannot derive script without private keys: '<descriptor>'"
]

const MAX_RANGE = 1_000_000

const INT64 = [-(2 ** 63), 2 ** 63 - 1] as const

const refused = (error: RpcError): Read<never> => Either.left(error)

const invalid = (message: string): Read<never> => refused(RpcError.invalidParameter(message))

const endOf = (number: JsonNumber): Read<number> =>
  Either.fromNullable(integerWithin(number, ...INT64), () => RpcError.integerOutOfRange())

const readEnds = (value: Json): Read<Range> => {
  if (value instanceof JsonNumber) return Either.map(endOf(value), (last) => ({ first: 0, last }))
  const [low, high, ...more] = Array.isArray(value) ? value : []
  if (!(low instanceof JsonNumber) || !(high instanceof JsonNumber) || more.length > 0) {
    return invalid("Range must be specified as end or as [begin,end]")
  }
  return Either.flatMap(Either.all({ first: endOf(low), last: endOf(high) }), (range) =>
    range.first > range.last
      ? invalid("Range specified as [begin,end] must not have begin after end")
      : Either.right(range))
}

/** Source: upstream `rpc/util.cpp`, `ParseDescriptorRange`. */
export const readRange = (value: Json): Read<Range> =>
  Either.flatMap(readEnds(value), (range) => {
    if (range.first < 0) return invalid("Range should be greater or equal than 0")
    if (range.last < 0 || range.last >= 2 ** 31) return invalid("End of range is too high")
    return range.last >= range.first + MAX_RANGE ? invalid("Range is too large") : Either.right(range)
  })

/** The descriptors of a text: several for alternative paths. */
export const readDescriptors = (
  network: Network,
  text: string,
  checksum: "required" | "optional"
): Read<ReadonlyArray<Descriptor>> =>
  Either.mapLeft(parseDescriptors(network, text, checksum), ({ reason }) => RpcError.invalidAddressOrKey(reason))

interface ScanObject {
  readonly text: string
  readonly descriptors: ReadonlyArray<Descriptor>
  readonly range: Range
}

const readObject = (network: Network, value: Json): Read<ScanObject> =>
  Either.gen(function*() {
    if (typeof value === "string") {
      return { text: value, descriptors: yield* readDescriptors(network, value, "optional"), range: DEFAULT_RANGE }
    }
    if (!(value instanceof JsonObject)) {
      return yield* invalid("Scan object needs to be either a string or an object")
    }
    const text = value.get("desc") ?? null
    if (text === null) return yield* invalid("Descriptor needs to be provided in scan object")
    if (typeof text !== "string") {
      return yield* refused(RpcError.wrongType({ actual: typeOf(text), expected: "string" }))
    }
    const given = value.get("range") ?? null
    const range = given === null ? DEFAULT_RANGE : yield* readRange(given)
    return { text, descriptors: yield* readDescriptors(network, text, "optional"), range }
  })

/** The last bytes of each script, each once; none if a script is shorter. */
const tailsOf = (keys: Iterable<string>): ReadonlyArray<Bytes> => {
  const tails = new Set<string>()
  for (const key of keys) {
    if (key.length < TAIL_BYTES) return []
    tails.add(key.slice(-TAIL_BYTES))
  }
  return Array.from(tails, fromBinaryString)
}

/** The scripts of one index of a descriptor. */
interface Expanded {
  readonly descriptor: Descriptor
  readonly index: number
  readonly scripts: ReadonlyArray<DescribedScript>
}

/** Expands scan objects, one index of a descriptor a step. How many there may be is bound before (`scriptsOf`). */
function* expandSteps(
  network: Network,
  objects: ReadonlyArray<Json>,
  use: (expanded: Expanded) => void
): Steps<Read<void>> {
  for (const value of objects) {
    const read = readObject(network, value)
    if (Either.isLeft(read)) return Either.left(read.left)
    const { descriptors, range, text } = read.right
    for (const descriptor of descriptors) {
      const expand = faultless(() => expandDescriptor(descriptor))
      if (Either.isLeft(expand)) {
        return refused(
          RpcError.invalidAddressOrKey(`Cannot derive script without private keys: '${maskedKeys(text)}'`)
        )
      }
      const { first, last } = isRangedDescriptor(descriptor) ? range : { first: 0, last: 0 }
      for (let index = first; index <= last; index++) {
        use({ descriptor, index, scripts: expand.right(index) })
        yield
      }
    }
  }
  return Either.void
}

/** Derives the scripts of scan objects. */
export function* scanScriptSteps(network: Network, objects: ReadonlyArray<Json>): Steps<Read<ScanScripts>> {
  const keys = new Map<string, Source>()
  const lengths = new Set<number>()
  const done = yield* expandSteps(network, objects, ({ descriptor, index, scripts }) => {
    for (const { script } of scripts) {
      const key = binaryString(script)
      if (!keys.has(key)) keys.set(key, { descriptor, index })
      lengths.add(script.length)
    }
  })
  return Either.map(done, () => ({ keys, lengths, tails: tailsOf(keys.keys()) }))
}

/**
 * Makes a signing provider of the descriptors of scan objects; refuses the first invalid one. Source: upstream
 * `rpc/util.cpp`, `EvalDescriptorStringOrObject`.
 */
export function* descriptorProviderSteps(
  network: Network,
  objects: ReadonlyArray<Json>
): Steps<Read<SigningProvider>> {
  const known = new DescriptorKnowledge()
  const done = yield* expandSteps(network, objects, ({ descriptor, index, scripts }) => {
    known.add(descriptor, index, scripts)
  })
  return Either.map(done, () => known.provider())
}

/** The descriptor of one script of scan objects. */
export const inferredDescriptor = (network: Network, { keys }: ScanScripts, script: Bytes): string => {
  const key = binaryString(script)
  const source = keys.get(key)
  const described = source === undefined
    ? undefined
    : expandDescriptor(source.descriptor)(source.index).find((each) => binaryString(each.script) === key)
  return described === undefined || described.keys.length === 0
    ? descriptorOf(network, fromBinaryString(key))
    : withChecksum(described.text())
}
