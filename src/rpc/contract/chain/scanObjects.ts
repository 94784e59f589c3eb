import * as Either from "effect/Either"
import { integerWithin, type Json, JsonNumber, JsonObject } from "../../json/json.ts"
import { array, costing, json, optional, type Param, shownAs } from "../../method/params.ts"
import { type Read, RpcError } from "../../method/RpcError.ts"

export interface Range {
  readonly first: number
  readonly last: number
}

const SCAN_OBJECT = json(
  "A descriptor, or `{\"desc\": descriptor, \"range\": end or [begin, end]}`.",
  { words: "string or object" }
)

export const DEFAULT_RANGE: Range = { first: 0, last: 1000 }

/** Bytes of a script and its place in a map. */
const SCRIPT_BYTES = 200

/** Bytes of a script with its keys, which limits a call to 200,000 of them. */
const KNOWN_SCRIPT_BYTES = 2_000

const WATCHED_SCRIPT_BYTES = 1_000

/** Length of a range as sent; 1 for a range that `readRange` refuses later, before any work and with its own reason. */
export const rangeLength = (value: Json | undefined, missing: number): number => {
  if (value === undefined || value === null) return missing
  return Either.match(readRange(value), { onLeft: () => 1, onRight: ({ first, last }) => last - first + 1 })
}

/** Scripts of a descriptor at each index: `combo` has four, and each path of an alternative is a descriptor. */
const scriptsAt = (text: string): number =>
  (text.includes("combo(") ? 4 : 1) *
  Math.max(1, text.split("<").slice(1).reduce((most, part) => Math.max(most, part.split(";").length), 1))

const scriptsOf = (value: Json): number => {
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

export const SCAN_OBJECTS = shownAs(
  costing((value) => SCRIPT_BYTES * scriptsOf(value), array(SCAN_OBJECT, "The descriptors.")),
  "[scanobjects,...]"
)

/** Descriptors whose keys a method needs, too. */
export const knownDescriptors = <A>(param: Param<A>): Param<A> =>
  costing((value) => KNOWN_SCRIPT_BYTES * scriptsOf(value), param)

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

export const refusedRead = (error: RpcError): Read<never> => Either.left(error)

export const invalid = (message: string): Read<never> => refusedRead(RpcError.invalidParameter(message))

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

export const SCAN_RUNS = "Scan already in progress, use action \"abort\" or \"status\""
