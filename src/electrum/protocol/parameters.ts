import * as Either from "effect/Either"
import { fromHex } from "../../protocol/bytes.ts"
import type { ScriptKey } from "../../protocol/keys.ts"
import { type Json, JsonNumber, JsonObject } from "../../rpc/json/json.ts"
import { badRequest, type ElectrumError, invalidArguments } from "./ElectrumError.ts"
import type { ElectrumRequest } from "./envelope.ts"
import { shownValue } from "./pythonText.ts"
import { readScriptHash } from "./status.ts"

/** Arguments of calls, and ElectrumX's texts for wrong ones (aiorpcX `handler_invocation`; `server/session.py`). */

/** The parameters of a method, those with a default behind the others. */
export interface Signature {
  readonly required: ReadonlyArray<string>
  readonly optional: ReadonlyArray<string>
  /** Whether unknown ones are ignored. */
  readonly isOpen?: boolean
}

type Read<A> = Either.Either<A, ElectrumError>

const plural = (count: number): string => count === 1 ? "" : "s"

const quotedNames = (names: ReadonlyArray<string>): string => names.toSorted().map((name) => `"${name}"`).join(", ")

const byPosition = (
  { required }: Signature,
  given: ReadonlyArray<Json>,
  { method, most }: { readonly method: string; readonly most: number }
): ElectrumError | undefined => {
  const passed = `${given.length} argument${plural(given.length)} passed to method`
  if (given.length < required.length) {
    return invalidArguments(`${passed} "${method}" but it requires ${required.length}`)
  }
  return given.length > most ? invalidArguments(`${passed} ${method} taking at most ${most}`) : undefined
}

const byName = ({ isOpen, optional, required }: Signature, given: JsonObject, method: string) => {
  const missing = required.filter((name) => given.get(name) === undefined)
  if (missing.length > 0) {
    return invalidArguments(
      `method "${method}" requires parameter${plural(missing.length)} ${quotedNames(missing)}`
    )
  }
  const known = new Set([...required, ...optional])
  const excess = isOpen === true ? [] : given.keys.filter((name) => !known.has(name))
  return excess.length > 0
    ? invalidArguments(`method "${method}" does not take parameter${plural(excess.length)} ${quotedNames(excess)}`)
    : undefined
}

/** The arguments in the order of the signature; `undefined` for one that is not given. */
export const bindArguments = (
  signature: Signature,
  { method, params }: ElectrumRequest
): Read<ReadonlyArray<Json | undefined>> => {
  const { isOpen, optional, required } = signature
  if (params instanceof JsonObject) {
    const wrong = byName(signature, params, method)
    if (wrong !== undefined) return Either.left(wrong)
    return Either.right([...required, ...optional].map((name) => params.get(name)))
  }
  const most = isOpen === true ? Infinity : required.length + optional.length
  const wrong = byPosition(signature, params, { method, most })
  return wrong === undefined ? Either.right(params) : Either.left(wrong)
}

const INTEGER_TEXT = /^\s*\+?[0-9](?:_?[0-9])*\s*$/

/** What Python's `int` makes of a value, if that is not negative. */
const integerOf = (value: Json): number | undefined => {
  if (typeof value === "boolean") return value ? 1 : 0
  if (value instanceof JsonNumber) {
    const whole = Math.trunc(value.value)
    return Number.isFinite(whole) && whole >= 0 ? whole : undefined
  }
  return typeof value === "string" && INTEGER_TEXT.test(value) ? Number(value.replaceAll("_", "")) : undefined
}

export const nonNegativeInteger = (value: Json = null): Read<number> => {
  const whole = integerOf(value)
  return whole === undefined
    ? Either.left(badRequest(`${shownValue(value)} should be a non-negative integer`))
    : Either.right(whole)
}

export const scriptHash = (value: Json = null): Read<ScriptKey> =>
  Either.fromNullable(
    typeof value === "string" ? readScriptHash(value) : undefined,
    () => badRequest(`${shownValue(value)} is not a valid script hash`)
  )

/** The text as given, 64 hexadecimal digits. */
export const transactionHash = (value: Json = null): Read<string> =>
  typeof value === "string" && value.length === 64 && fromHex(value) !== undefined
    ? Either.right(value)
    : Either.left(badRequest(`${shownValue(value)} should be a transaction hash`))

export const hexArgument = (value: Json = null): Read<string> =>
  typeof value === "string" && fromHex(value) !== undefined
    ? Either.right(value)
    : Either.left(badRequest(`${shownValue(value)} should be a hex string`))

export const hexArguments = (value: Json = null): Read<ReadonlyArray<string>> => {
  if (!Array.isArray(value)) return Either.left(badRequest(`${shownValue(value)} should be a list`))
  const items: ReadonlyArray<Json> = value
  return Either.all(items.map(hexArgument))
}

/** 0 and 1 are false and true. */
export const flag = (name: string, value: Json = false): Read<boolean> => {
  if (typeof value === "boolean") return Either.right(value)
  const number = value instanceof JsonNumber ? value.value : undefined
  return number === 0 || number === 1
    ? Either.right(number === 1)
    : Either.left(badRequest(`"${name}" must be a boolean`))
}
