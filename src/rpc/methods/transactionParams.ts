import { Sighash } from "../../consensus/sighash.ts"
import { decodeAddress, scriptOf } from "../../protocol/address.ts"
import { EMPTY, fromHex, toHex } from "../../protocol/bytes.ts"
import { concat } from "../../protocol/bytes.ts"
import type { Network } from "../../protocol/networks.ts"
import { Op, pushData } from "../../protocol/script.ts"
import { mapSteps, runSteps, type Steps } from "../../protocol/steps.ts"
import {
  makeTransaction,
  NO_WITNESS,
  outpoint,
  type Transaction,
  type TransactionInput,
  type TransactionOutput
} from "../../protocol/transaction.ts"
import { decodeAmount } from "../json/amounts.ts"
import { integerWithin, type Json, JsonNumber, JsonObject, typeOf } from "../json/json.ts"
import { array, boolean, decode, hash, int64, json, optional, string, uint32, withDefault } from "../method/params.ts"
import { RpcError } from "../method/RpcError.ts"

/**
 * Transactions as parameters: their inputs and outputs (reference/rpc.md 3.4). Upstream `rpc/rawtransaction_util.cpp`.
 */

const SEQUENCE_FINAL = 0xffffffff

/** The highest sequence number that signals replacement (BIP 125). */
const SEQUENCE_REPLACEABLE = 0xfffffffd

/** The highest sequence number that keeps the lock time in force. */
const SEQUENCE_NOT_FINAL = 0xfffffffe

const MAX_LOCK_TIME = 0xffffffff
const MIN_VERSION = 1
const MAX_VERSION = 3

/** Parameters of the methods that make a transaction, in their order. */
export const TRANSACTION_PARAMS = {
  inputs: array(json("Object with txid, vout and optionally sequence.", "json object"), "The outputs to spend."),
  outputs: json(
    "Objects with one member each: an address and its amount in NMC, or data and hexadecimal digits; or one " +
      "object with all members.",
    "json array or object"
  ),
  locktime: withDefault(int64("Lock time."), 0),
  replaceable: optional(boolean("Whether the transaction may be replaced (BIP 125)."), "true"),
  version: withDefault(uint32("Version of the transaction."), 1)
}

export interface TransactionRequest {
  readonly inputs: ReadonlyArray<Json>
  readonly outputs: Json
  readonly locktime: number
  readonly replaceable: boolean | undefined
  readonly version: number
}

const isArray = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

const TXID = hash("The transaction of the spent output.")

const arrayOf = (value: Json): ReadonlyArray<Json> => {
  if (!isArray(value)) throw RpcError.wrongType(typeOf(value), "array")
  return value
}

const integerOf = (value: JsonNumber, min: number, max: number): number => {
  const integer = integerWithin(value, min, max)
  if (integer === undefined) throw RpcError.integerOutOfRange()
  return integer
}

const readInput = (value: Json, defaultSequence: number): TransactionInput => {
  if (!(value instanceof JsonObject)) throw RpcError.wrongType(typeOf(value), "object")
  const txid = decode(TXID, value.get("txid") ?? null, "txid")
  const vout = value.get("vout")
  if (!(vout instanceof JsonNumber)) throw RpcError.invalidParameter("Invalid parameter, missing vout key")
  const index = integerOf(vout, -(2 ** 31), 2 ** 31 - 1)
  if (index < 0) throw RpcError.invalidParameter("Invalid parameter, vout cannot be negative")
  const given = value.get("sequence")
  const sequence = given instanceof JsonNumber ? integerOf(given, -(2 ** 63), 2 ** 63 - 1) : defaultSequence
  if (sequence < 0 || sequence > SEQUENCE_FINAL) {
    throw RpcError.invalidParameter("Invalid parameter, sequence number is out of range")
  }
  return { prevout: outpoint(txid, index), scriptSig: EMPTY, sequence, witness: NO_WITNESS }
}

function* readInputs({ inputs, locktime, replaceable }: TransactionRequest): Steps<ReadonlyArray<TransactionInput>> {
  const sequence = replaceable ?? true
    ? SEQUENCE_REPLACEABLE
    : locktime === 0
    ? SEQUENCE_FINAL
    : SEQUENCE_NOT_FINAL
  return yield* mapSteps(inputs, (input) => readInput(input, sequence))
}

const outputMembers = (value: Json): ReadonlyArray<readonly [name: string, value: Json]> => {
  if (value === null) throw RpcError.invalidParameter("Invalid parameter, output argument must be non-null")
  const objects = value instanceof JsonObject ? [value] : arrayOf(value).map((item) => {
    if (!(item instanceof JsonObject)) {
      throw RpcError.invalidParameter("Invalid parameter, key-value pair not an object as expected")
    }
    if (item.keys.length !== 1) {
      throw RpcError.invalidParameter("Invalid parameter, key-value pair must contain exactly one key")
    }
    return item
  })
  return objects.flatMap(({ keys, values }) => keys.map((key, at) => [key, values[at] ?? null] as const))
}

const dataScript = (value: Json): Uint8Array => {
  const text = value instanceof JsonNumber ? value.text : typeof value === "string" ? value : ""
  const data = text === "" ? undefined : fromHex(text)
  if (data === undefined) throw RpcError.invalidParameter(`Data must be hexadecimal string (not '${text}')`)
  return concat(Uint8Array.of(Op.OP_RETURN), pushData(data))
}

/** Reads the outputs of a new transaction: at most one with data, and each address once. */
export function* readOutputsSteps(network: Network, value: Json): Steps<ReadonlyArray<TransactionOutput>> {
  const seen = new Set<string>()
  let hasData = false
  const members = outputMembers(value)
  yield
  return yield* mapSteps(members, ([name, given]) => {
    if (name === "data") {
      if (hasData) throw RpcError.invalidParameter("Invalid parameter, duplicate key: data")
      hasData = true
      return { value: 0, script: dataScript(given) }
    }
    const amount = decodeAmount(given)
    const parsed = decodeAddress(network, name)
    if ("error" in parsed) throw RpcError.invalidAddressOrKey(`Invalid address: ${name}`)
    const script = scriptOf(parsed.destination)
    if (seen.size === seen.add(toHex(script)).size) {
      throw RpcError.invalidParameter(`Invalid parameter, duplicated address: ${name}`)
    }
    return { value: amount, script }
  })
}

/** The same in one step. */
export const readOutputs = (network: Network, value: Json): ReadonlyArray<TransactionOutput> =>
  runSteps(readOutputsSteps(network, value))

/** Makes the unsigned transaction of a request. Throws RpcError. Source: upstream `ConstructTransaction`. */
export function* constructTransactionSteps(network: Network, request: TransactionRequest): Steps<Transaction> {
  const { locktime, replaceable, version } = request
  if (locktime < 0 || locktime > MAX_LOCK_TIME) {
    throw RpcError.invalidParameter("Invalid parameter, locktime out of range")
  }
  if (version < MIN_VERSION || version > MAX_VERSION) {
    throw RpcError.invalidParameter(`Invalid parameter, version out of range(${MIN_VERSION}~${MAX_VERSION})`)
  }
  const inputs = yield* readInputs(request)
  const outputs = yield* readOutputsSteps(network, request.outputs)
  const signals = inputs.some(({ sequence }) => sequence <= SEQUENCE_REPLACEABLE)
  if (replaceable === true && inputs.length > 0 && !signals) {
    throw RpcError.invalidParameter(
      "Invalid parameter combination: Sequence number(s) contradict replaceable option"
    )
  }
  return makeTransaction({ version, inputs, outputs, lockTime: locktime })
}

const HASH_TYPES: ReadonlyMap<string, number> = new Map([
  ["DEFAULT", Sighash.DEFAULT],
  ["ALL", Sighash.ALL],
  ["NONE", Sighash.NONE],
  ["SINGLE", Sighash.SINGLE],
  ["ALL|ANYONECANPAY", Sighash.ALL | Sighash.ANYONECANPAY],
  ["NONE|ANYONECANPAY", Sighash.NONE | Sighash.ANYONECANPAY],
  ["SINGLE|ANYONECANPAY", Sighash.SINGLE | Sighash.ANYONECANPAY]
])

/** The signature hash type as a word; `undefined` if omitted. */
export const SIGHASH_PARAM = optional(
  string(
    "Signature hash type: DEFAULT, ALL, NONE, SINGLE, ALL|ANYONECANPAY, NONE|ANYONECANPAY or SINGLE|ANYONECANPAY."
  ),
  "DEFAULT for taproot, ALL otherwise"
)

/** Reads `SIGHASH_PARAM`. Throws RpcError -8. */
export const readHashType = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const hashType = HASH_TYPES.get(text)
  if (hashType === undefined) throw RpcError.invalidParameter(`'${text}' is not a valid sighash parameter.`)
  return hashType
}

/** The word for a hash type; empty for a type without a word. */
export const hashTypeText = (hashType: number): string =>
  [...HASH_TYPES].find(([, value]) => value === hashType && value !== Sighash.DEFAULT)?.[0] ?? ""
