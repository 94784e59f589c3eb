import { isMoney, parseAmount } from "../../protocol/amount.ts"
import { RpcError } from "../method/RpcError.ts"
import { type Json, JsonNumber } from "./json.ts"

/**
 * Reads an amount in NMC, a number or text, into the smallest unit. Upstream `rpc/util.cpp`, `AmountFromValue`.
 *
 * @throws RpcError -3 with the three texts of reference/rpc.md 1.8
 */
export const decodeAmount = (value: Json): number => {
  if (typeof value !== "string" && !(value instanceof JsonNumber)) {
    throw RpcError.type("Amount is not a number or string")
  }
  const units = parseAmount(typeof value === "string" ? value : value.text)
  if (units === undefined) throw RpcError.type("Invalid amount")
  if (!isMoney(units)) throw RpcError.type("Amount out of range")
  return units
}
