import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type * as Schema from "effect/Schema"
import type { JsonValue } from "../json/encodeJson.ts"
import { type Json, JsonObject, typeOf } from "../json/json.ts"
import type { Contract, Result } from "./contract.ts"
import { methodHelp } from "./help.ts"
import type { CallContext, GivenParams, Method } from "./methodTable.ts"
import { type Decoded, type Param, type Params, recordReader } from "./params.ts"
import { refusalOf } from "./refusal.ts"
import type { Encodable } from "./results.ts"
import { rightsReader } from "./rights.ts"
import { RpcError } from "./RpcError.ts"
import type { Refusable } from "./schema.ts"
import { workReader } from "./work.ts"

/** The values that the encoder writes in one of the documented forms. */
export type AnswerOf<R extends ReadonlyArray<Result>> = Encodable<Schema.Schema.Type<R[number]["schema"]>>

/** An immediate result is returned as an `Exit`, which saves a fiber, a quarter of the request's cost. */
export type Handler<P extends Params, R extends ReadonlyArray<Result>> = (
  params: Decoded<P>,
  context: CallContext
) => Effect.Effect<AnswerOf<R>, RpcError>

/** With aliases, as in messages. */
const pattern = (name: string, param: Param<unknown>): string => [name, ...param.aliases].join("|")

/** Prepares everything once. */
export const method = <P extends Params, R extends ReadonlyArray<Result>>(
  contract: Contract<P, R>,
  handler: Handler<P, R>
): Method => {
  const { params } = contract
  const names = Object.keys(params)
  const read = recordReader(params)
  const specs = names.flatMap((name) => {
    const param = params[name]
    return param === undefined ? [] : [{ name, pattern: pattern(name, param), param }]
  })
  const required = specs.findLastIndex(({ param }) => param.fallback === undefined) + 1

  const call = (given: GivenParams, context: CallContext): Effect.Effect<JsonValue, RpcError> => {
    const positions = positionsOf(given)
    if (positions instanceof RpcError) return Exit.fail(positions)
    if (positions.length < required || positions.length > names.length) {
      return Exit.fail(RpcError.misc(methodHelp(self)))
    }
    const wrong = wrongTypes(positions, specs)
    if (wrong !== undefined) return Exit.fail(wrong)
    const decoded = read((_, position) => positions[position])
    if (Either.isLeft(decoded)) return Exit.fail(refusalOf(decoded.left.issue, String(decoded.left.path)))
    return handler(decoded.right, context)
  }

  const positionsOf = (given: GivenParams) => given instanceof JsonObject ? toPositions(given, specs) : given
  const self: Method = {
    ...contract,
    rightsFor: rightsReader(contract.right, params, positionsOf),
    workOf: workReader(params, positionsOf),
    call
  }
  return self
}

interface Spec {
  readonly name: string
  readonly pattern: string
  readonly param: Param<unknown>
}

/** Reports every parameter of a wrong type. Upstream `rpc/util.cpp`, `HandleRequest`. */
const wrongTypes = (positions: ReadonlyArray<Json>, specs: ReadonlyArray<Spec>): RpcError | undefined => {
  let wrong: Record<string, string> | undefined
  for (let at = 0; at < specs.length; at++) {
    const spec = specs[at]
    const expected = spec?.param.expected
    if (spec === undefined || expected === undefined) continue
    const value = positions[at] ?? null
    if (value === null && spec.param.fallback !== undefined) continue
    const type = typeOf(value)
    if (type === expected) continue
    wrong ??= {}
    wrong[`Position ${at + 1} (${spec.pattern})`] = `JSON value of type ${type} is not of expected type ${expected}`
  }
  return wrong === undefined ? undefined : RpcError.type(`Wrong type passed:\n${JSON.stringify(wrong, null, 4)}`)
}

/** `null` fills omitted parameters before given ones. Upstream `rpc/server.cpp`, `transformNamedArguments`. */
const toPositions = (given: JsonObject, specs: ReadonlyArray<Spec>): Refusable<ReadonlyArray<Json>> => {
  const repeated = given.repeatedKey()
  if (repeated !== undefined) return RpcError.invalidParameter(`Parameter ${repeated} specified multiple times`)
  const left = new Map(given.keys.map((key) => [key, given.get(key) ?? null]))

  const take = (names: ReadonlyArray<string>): readonly [name: string, value: Json] | undefined => {
    for (const name of names) {
      const value = left.get(name)
      if (value !== undefined) {
        left.delete(name)
        return [name, value]
      }
    }
    return undefined
  }

  const positions: Array<Json> = []
  let first: Spec | undefined
  /** Positions at the front for `args`. */
  let free = 0
  for (const [at, spec] of specs.entries()) {
    const options = spec.param.membersByName ? takeMembers(spec.param, take) : undefined
    const own = take([spec.name, ...spec.param.aliases])
    if (options !== undefined && own !== undefined) {
      return RpcError.invalidParameter(`Parameter ${own[0]} conflicts with parameter ${options.keys[0]}`)
    }
    const value = options ?? own?.[1]
    if (value === undefined) {
      if (first === undefined) free = at + 1
      continue
    }
    first ??= spec
    while (positions.length < at) positions.push(null)
    positions.push(value)
  }

  const args = left.get("args")
  left.delete("args")
  const stranger = left.keys().next()
  if (Array.isArray(args)) {
    if (first !== undefined && free < args.length) {
      return RpcError.invalidParameter(
        `Parameter ${first.pattern} specified twice both as positional and named argument`
      )
    }
    if (stranger.done === true) return [...args, ...positions.slice(args.length)]
  }
  if (stranger.done !== true) return RpcError.invalidParameter(`Unknown named parameter ${stranger.value}`)
  return positions
}

/** Collects members given by name; `undefined` if there are none. */
const takeMembers = (
  param: Param<unknown>,
  take: (names: ReadonlyArray<string>) => readonly [name: string, value: Json] | undefined
): JsonObject | undefined => {
  const options = new JsonObject()
  for (const [name, member] of Object.entries(param.members ?? {})) {
    const found = take([name, ...member.aliases])
    if (found === undefined) continue
    options.keys.push(name)
    options.values.push(found[1])
  }
  return options.keys.length === 0 ? undefined : options
}
