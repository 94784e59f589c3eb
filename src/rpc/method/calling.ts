import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { JsonValue } from "../json/encodeJson.ts"
import type { Json } from "../json/json.ts"
import type { Contract } from "./contract.ts"
import type { GivenOf } from "./params.ts"
import { plainAnswer } from "./results.ts"

/** Parameters by name. */
export type CallOf<C extends Contract> = GivenOf<C["params"]>

/** Decoded results, without members that only other callers see. */
export type ResultOf<C extends Contract> = Schema.Schema.Type<C["results"][number]["schema"]>

/** Parameters by position, which every daemon takes, up to the last given one. */
export const positionsOf = <C extends Contract>({ params }: C, given: CallOf<C>): ReadonlyArray<JsonValue> => {
  const byName = given as { readonly [name: string]: JsonValue | undefined }
  const values = Object.keys(params).map((name) => byName[name])
  return values.slice(0, values.findLastIndex((value) => value !== undefined) + 1).map((value) => value ?? null)
}

export interface MethodCall {
  readonly method: string
  readonly params: ReadonlyArray<JsonValue>
  /** Whether the daemon may receive it twice. */
  readonly mayRepeat: boolean
}

export const callOf = <C extends Contract>(contract: C, given: CallOf<C>): MethodCall => ({
  method: contract.name,
  params: positionsOf(contract, given),
  mayRepeat: !contract.writes
})

const decoders = new WeakMap<Contract, (answer: unknown) => Option.Option<unknown>>()

/** `undefined` if the answer matches no documented result. */
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
