import { decodeAddress, scriptOf } from "../../../protocol/address.ts"
import type { Bytes } from "../../../protocol/bytes.ts"
import type { Network } from "../../../protocol/networks.ts"
import type { TransactionOutput } from "../../../protocol/transaction.ts"
import { decodeAmount } from "../../json/amounts.ts"
import { integerWithin, type Json, JsonNumber, JsonObject, typeOf } from "../../json/json.ts"
import { array, json } from "../../method/params.ts"
import { RpcError } from "../../method/RpcError.ts"

/** The outputs of a payment (reference/rpc.md 3.9, 5.7): addresses with amounts, and the outputs that pay the fee. */

/**
 * The script of an address.
 *
 * @throws RpcError -5
 */
export const addressScriptOf = (network: Network, address: string, message = `Invalid address: ${address}`): Bytes => {
  const parsed = decodeAddress(network, address)
  if ("error" in parsed) throw RpcError.invalidAddressOrKey(message)
  return scriptOf(parsed.destination)
}

/**
 * Reads the plain outputs beside a name: `sendCoins`. An address may occur twice. Upstream
 * `wallet/rpc/walletnames.cpp`, `SendNameOutput`.
 *
 * @throws RpcError -3, -5
 */
export const readSendCoins = (network: Network, given: Json): ReadonlyArray<TransactionOutput> => {
  if (!(given instanceof JsonObject)) throw RpcError.wrongType(typeOf(given), "object")
  return given.keys.map((address, at) => {
    const script = addressScriptOf(network, address)
    const value = decodeAmount(given.values[at] ?? null)
    if (value === 0) throw RpcError.type("Invalid amount for send")
    return { value, script }
  })
}

/** The names of outputs (addresses or `data`) in order, from the input of `readOutputs`. */
export const outputNames = (outputs: Json): ReadonlyArray<string> => {
  if (outputs instanceof JsonObject) return outputs.keys
  if (!Array.isArray(outputs)) return []
  return outputs.flatMap((item: Json) => item instanceof JsonObject ? item.keys : [])
}

export const feePayers = (description: string) => array(json("The index of an output, or its address."), description)

const FEE_PAYER = "Invalid parameter 'subtract fee from output'"

const INT32 = [-(2 ** 31), 2 ** 31 - 1] as const

const payerIndex = (given: Json, names: ReadonlyArray<string>): number => {
  if (typeof given === "string") {
    const index = names.indexOf(given)
    if (index < 0) throw RpcError.invalidParameter(`${FEE_PAYER}, destination ${given} not found in tx outputs`)
    return index
  }
  if (!(given instanceof JsonNumber)) {
    throw RpcError.invalidParameter(`${FEE_PAYER}, invalid value type: ${typeOf(given)}`)
  }
  const index = integerWithin(given, ...INT32)
  if (index === undefined) throw RpcError.integerOutOfRange()
  return index
}

/**
 * Reads the outputs that pay the fee; `names` are the names of all outputs. Upstream
 * `InterpretSubtractFeeFromOutputInstructions`.
 *
 * @throws RpcError -8
 */
export const readFeePayers = (
  given: ReadonlyArray<Json> | undefined,
  names: ReadonlyArray<string>
): ReadonlyArray<number> => {
  const found = new Set<number>()
  for (const item of given ?? []) {
    const index = payerIndex(item, names)
    if (found.has(index)) throw RpcError.invalidParameter(`${FEE_PAYER}, duplicated position: ${index}`)
    if (index < 0) throw RpcError.invalidParameter(`${FEE_PAYER}, negative position: ${index}`)
    if (index >= names.length) throw RpcError.invalidParameter(`${FEE_PAYER}, position too large: ${index}`)
    found.add(index)
  }
  return [...found]
}
