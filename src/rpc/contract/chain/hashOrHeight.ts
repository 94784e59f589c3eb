import type { Bytes } from "../../../protocol/bytes.ts"
import { integerWithin, type Json, JsonNumber, typeOf } from "../../json/json.ts"
import { json, type Param, readHash, refined } from "../../method/params.ts"
import { RpcError } from "../../method/RpcError.ts"
import type { Refusable } from "../../method/schema.ts"

const MAX_INT32 = 2 ** 31 - 1

export const readHashOrHeight = (value: Json): Refusable<number | Bytes> => {
  if (value instanceof JsonNumber) {
    return integerWithin(value, -MAX_INT32 - 1, MAX_INT32) ?? RpcError.integerOutOfRange()
  }
  return typeof value === "string"
    ? readHash(value, { label: "hash_or_height" })
    : RpcError.wrongType({ actual: typeOf(value), expected: "string" })
}

export const hashOrHeight = (description: string): Param<number | Bytes> =>
  refined(json(description, { words: "string or numeric" }), readHashOrHeight)

/** The errors of `findBlock`, for the help. */
export const BLOCK_ERRORS: ReadonlyArray<string> = [
  "-8 Target block height <n> is negative",
  "-8 Target block height <n> after current tip <m>",
  "-5 Block not found"
]
