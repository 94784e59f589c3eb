import * as Either from "effect/Either"
import { decodeAddress, scriptOf } from "../../../protocol/address.ts"
import type { Bytes } from "../../../protocol/bytes.ts"
import type { Network } from "../../../protocol/networks.ts"
import type { TransactionOutput } from "../../../protocol/transaction.ts"
import { readAmount } from "../../json/amounts.ts"
import { integerWithin, type Json, JsonNumber, JsonObject, typeOf } from "../../json/json.ts"
import { type Read, readOf, RpcError } from "../../method/RpcError.ts"

/** reference/rpc.md 3.9, 5.7. */

/** Fails with -5 for an invalid address. */
export const addressScriptOf = (
  network: Network,
  address: string,
  message = `Invalid address: ${address}`
): Read<Bytes> => {
  const parsed = decodeAddress(network, address)
  return "error" in parsed
    ? Either.left(RpcError.invalidAddressOrKey(message))
    : Either.right(scriptOf(parsed.destination))
}

/** `sendCoins`: an address may occur twice. Upstream `wallet/rpc/walletnames.cpp`, `SendNameOutput`. */
export const readSendCoins = (network: Network, given: Json): Read<ReadonlyArray<TransactionOutput>> =>
  Either.gen(function*() {
    if (!(given instanceof JsonObject)) {
      return yield* Either.left(RpcError.wrongType({ actual: typeOf(given), expected: "object" }))
    }
    const outputs: Array<TransactionOutput> = []
    for (const [at, address] of given.keys.entries()) {
      const script = yield* addressScriptOf(network, address)
      const value = yield* readOf(readAmount(given.values[at] ?? null))
      if (value === 0) return yield* Either.left(RpcError.type("Invalid amount for send"))
      outputs.push({ value, script })
    }
    return outputs
  })

/** Addresses or `data` in order, from the input of `readOutputs`. */
export const outputNames = (outputs: Json): ReadonlyArray<string> => {
  if (outputs instanceof JsonObject) return outputs.keys
  if (!Array.isArray(outputs)) return []
  return outputs.flatMap((item: Json) => item instanceof JsonObject ? item.keys : [])
}

const FEE_PAYER = "Invalid parameter 'subtract fee from output'"

const INT32 = [-(2 ** 31), 2 ** 31 - 1] as const

const payerIndex = (given: Json, names: ReadonlyArray<string>): Read<number> => {
  if (typeof given === "string") {
    const index = names.indexOf(given)
    return index < 0
      ? Either.left(RpcError.invalidParameter(`${FEE_PAYER}, destination ${given} not found in tx outputs`))
      : Either.right(index)
  }
  if (!(given instanceof JsonNumber)) {
    return Either.left(RpcError.invalidParameter(`${FEE_PAYER}, invalid value type: ${typeOf(given)}`))
  }
  return readOf(integerWithin(given, ...INT32) ?? RpcError.integerOutOfRange())
}

/** `names` are the names of all outputs. Upstream `InterpretSubtractFeeFromOutputInstructions`. */
export const readFeePayers = (
  given: ReadonlyArray<Json> | undefined,
  names: ReadonlyArray<string>
): Read<ReadonlyArray<number>> =>
  Either.gen(function*() {
    const found = new Set<number>()
    for (const item of given ?? []) {
      const index = yield* payerIndex(item, names)
      const fault = found.has(index)
        ? "duplicated position"
        : index < 0
        ? "negative position"
        : index >= names.length
        ? "position too large"
        : undefined
      if (fault !== undefined) {
        return yield* Either.left(RpcError.invalidParameter(`${FEE_PAYER}, ${fault}: ${index}`))
      }
      found.add(index)
    }
    return [...found]
  })
