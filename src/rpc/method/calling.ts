import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { JsonValue } from "../json/encodeJson.ts"
import type { Json } from "../json/json.ts"
import type { Contract } from "./contract.ts"
import type { GivenOf } from "./params.ts"
import { plainAnswer } from "./results.ts"

/** Calls from the caller's side, typed by the contract of the method. */

/** What a caller gives: the parameters by name. */
export type CallOf<C extends Contract> = GivenOf<C["params"]>

/** What a caller gets, decoded: one of the results, without the members that only other callers see. */
export type ResultOf<C extends Contract> = Schema.Schema.Type<C["results"][number]["schema"]>

/**
 * The parameters by position, as every daemon takes them; those after the last given one are left out. The keys of `given` are
 * the names of the contract: its type is made of them.
 */
export const positionsOf = <C extends Contract>({ params }: C, given: CallOf<C>): ReadonlyArray<JsonValue> => {
  const byName = given as { readonly [name: string]: JsonValue | undefined }
  const values = Object.keys(params).map((name) => byName[name])
  return values.slice(0, values.findLastIndex((value) => value !== undefined) + 1).map((value) => value ?? null)
}

/** A call as a client sends it. */
export interface MethodCall {
  readonly method: string
  readonly params: ReadonlyArray<JsonValue>
  /** Whether the daemon may get it twice. */
  readonly mayRepeat: boolean
}

export const callOf = <C extends Contract>(contract: C, given: CallOf<C>): MethodCall => ({
  method: contract.name,
  params: positionsOf(contract, given),
  mayRepeat: !contract.writes
})

const decoders = new WeakMap<Contract, (answer: unknown) => Option.Option<unknown>>()

/** Decodes an answer; `undefined` if it has none of the described forms. */
export const resultOf = <C extends Contract>(
  contract: C,
  answer: Json
): { readonly value: ResultOf<C> } | undefined => {
  let decode = decoders.get(contract)
  if (decode === undefined) {
    decode = Schema.decodeUnknownOption(Schema.Union(...contract.results.map(({ schema }) => schema)))
    decoders.set(contract, decode)
  }
  return Option.match(decode(plainAnswer(answer)), {
    onNone: () => undefined,
    onSome: (value) => ({ value: value as ResultOf<C> })
  })
}
