import { isMoney } from "../../protocol/amount.ts"
import { RpcError } from "../method/RpcError.ts"
import { type Json, JsonNumber } from "./json.ts"

const DECIMAL = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

/** More digits than any value in range has. It also keeps untrusted exponents away from `repeat`. */
const MAX_DIGITS = 18

/**
 * Returns the integer that a decimal number becomes when its point moves right by `decimals`. Returns `undefined` for a
 * text that is not a number, leaves a fraction or is out of range. Exact: only the last step uses a double. Upstream
 * `util/strencodings.cpp`, `ParseFixedPoint`.
 */
export const parseFixedPoint = (text: string, decimals: number): number | undefined => {
  const match = DECIMAL.exec(text)
  if (match === null) return undefined
  const [, sign = "", whole = "", fraction = "", power = "0"] = match
  const digits = (whole + fraction).replace(/^0+/, "")
  const significant = digits.replace(/0+$/, "")
  const scale = Number(power) + decimals
  if (significant === "") return scale >= 0 && scale < MAX_DIGITS ? 0 : undefined
  const exponent = scale - fraction.length + digits.length - significant.length
  if (exponent < 0 || significant.length + exponent > MAX_DIGITS) return undefined
  const value = Number(significant + "0".repeat(exponent))
  return sign === "-" ? -value : value
}

const AMOUNT_DECIMALS = 8

/**
 * Reads an amount, a number or text, into its smallest unit, of which `decimals` digits make one. Upstream
 * `rpc/util.cpp`, `AmountFromValue`. The errors are the three of reference/rpc.md 1.8.
 */
export const readAmount = (value: Json, decimals = AMOUNT_DECIMALS): number | RpcError => {
  if (typeof value !== "string" && !(value instanceof JsonNumber)) {
    return RpcError.type("Amount is not a number or string")
  }
  const units = parseFixedPoint(typeof value === "string" ? value : value.text, decimals)
  if (units === undefined) return RpcError.type("Invalid amount")
  return isMoney(units) ? units : RpcError.type("Amount out of range")
}

/**
 * The same for code that reads a parameter itself.
 *
 * @throws RpcError -3
 */
export const decodeAmount = (value: Json): number => {
  const units = readAmount(value)
  if (units instanceof RpcError) throw units
  return units
}
