import { AMOUNT_DECIMALS, isMoney, parseFixedPoint } from "../../protocol/amount.ts"
import { RpcError } from "../method/RpcError.ts"
import { type Json, JsonNumber } from "./json.ts"

/** Reads a number or text into its smallest unit. Upstream `rpc/util.cpp`, `AmountFromValue`; reference/rpc.md 1.8. */
export const readAmount = (value: Json, decimals = AMOUNT_DECIMALS): number | RpcError => {
  if (typeof value !== "string" && !(value instanceof JsonNumber)) {
    return RpcError.type("Amount is not a number or string")
  }
  const units = parseFixedPoint(typeof value === "string" ? value : value.text, decimals)
  if (units === undefined) return RpcError.type("Invalid amount")
  return isMoney(units) ? units : RpcError.type("Amount out of range")
}
