import * as Either from "effect/Either"
import { Sighash } from "../../consensus/sighash.ts"
import { decodeAddress, scriptOf } from "../../protocol/address.ts"
import { concat, EMPTY, fromHex, toHex } from "../../protocol/bytes.ts"
import type { Network } from "../../protocol/networks.ts"
import { Op, pushData } from "../../protocol/script.ts"
import { runSteps, type Steps } from "../../protocol/steps.ts"
import {
  makeTransaction,
  NO_WITNESS,
  outpoint,
  type Transaction,
  type TransactionInput,
  type TransactionOutput
} from "../../protocol/transaction.ts"
import { readAmount } from "../json/amounts.ts"
import { integerWithin, type Json, JsonNumber, JsonObject, typeOf } from "../json/json.ts"
import { readSteps } from "../method/inTurns.ts"
import { decodedValue, hash } from "../method/params.ts"
import { type Read, readOf, RpcError } from "../method/RpcError.ts"

/** Upstream `rpc/rawtransaction_util.cpp` (reference/rpc.md 3.4). */

const SEQUENCE_FINAL = 0xffffffff

/** The highest sequence that signals replacement (BIP 125). */
const SEQUENCE_REPLACEABLE = 0xfffffffd

/** The highest sequence that keeps the lock time in force. */
const SEQUENCE_NOT_FINAL = 0xfffffffe

const MAX_LOCK_TIME = 0xffffffff
const MIN_VERSION = 1
const MAX_VERSION = 3

export interface TransactionRequest {
  readonly inputs: ReadonlyArray<Json>
  readonly outputs: Json
  readonly locktime: number
  readonly replaceable: boolean | undefined
  readonly version: number
}

const isArray = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

const TXID = hash("The transaction of the spent output.")

const refused = (why: string): Read<never> => Either.left(RpcError.invalidParameter(`Invalid parameter, ${why}`))

const integerOf = (value: JsonNumber, min: number, max: number): Read<number> =>
  readOf(integerWithin(value, min, max) ?? RpcError.integerOutOfRange())

const readSequence = (given: Json | undefined, otherwise: number): Read<number> =>
  given instanceof JsonNumber
    ? Either.filterOrLeft(
      integerOf(given, -(2 ** 63), 2 ** 63 - 1),
      (sequence) => sequence >= 0 && sequence <= SEQUENCE_FINAL,
      () => RpcError.invalidParameter("Invalid parameter, sequence number is out of range")
    )
    : Either.right(otherwise)

/** Without `Either.gen`, which with many inputs takes longer than the reading itself. */
export const readTransactionInput = (value: Json, defaultSequence: number): Read<TransactionInput> => {
  if (!(value instanceof JsonObject)) {
    return Either.left(RpcError.wrongType({ actual: typeOf(value), expected: "object" }))
  }
  const txid = decodedValue(TXID, value.get("txid") ?? null, "txid")
  if (Either.isLeft(txid)) return Either.left(txid.left)
  const vout = value.get("vout")
  if (!(vout instanceof JsonNumber)) return refused("missing vout key")
  const index = integerOf(vout, -(2 ** 31), 2 ** 31 - 1)
  if (Either.isLeft(index)) return Either.left(index.left)
  if (index.right < 0) return refused("vout cannot be negative")
  return Either.map(readSequence(value.get("sequence"), defaultSequence), (sequence) => ({
    prevout: outpoint(txid.right, index.right),
    scriptSig: EMPTY,
    sequence,
    witness: NO_WITNESS
  }))
}

function readInputs({ inputs, locktime, replaceable }: TransactionRequest) {
  const sequence = replaceable ?? true
    ? SEQUENCE_REPLACEABLE
    : locktime === 0
    ? SEQUENCE_FINAL
    : SEQUENCE_NOT_FINAL
  return readSteps(inputs, (input) => readTransactionInput(input, sequence))
}

type Member = readonly [name: string, value: Json]

const membersOf = ({ keys, values }: JsonObject): ReadonlyArray<Member> =>
  keys.map((key, at) => [key, values[at] ?? null] as const)

const onlyMember = (item: Json): Read<Member> => {
  if (!(item instanceof JsonObject)) return refused("key-value pair not an object as expected")
  // Without `membersOf`, which would make a pair for each member of a huge object.
  const [key] = item.keys
  return key === undefined || item.keys.length > 1
    ? refused("key-value pair must contain exactly one key")
    : Either.right([key, item.values[0] ?? null])
}

function* outputMembers(value: Json): Steps<Read<ReadonlyArray<Member>>> {
  if (value === null) return refused("output argument must be non-null")
  if (value instanceof JsonObject) return Either.right(membersOf(value))
  return isArray(value)
    ? yield* readSteps(value, onlyMember)
    : Either.left(RpcError.wrongType({ actual: typeOf(value), expected: "array" }))
}

const dataScript = (value: Json): Read<Uint8Array> => {
  const text = value instanceof JsonNumber ? value.text : typeof value === "string" ? value : ""
  const data = text === "" ? undefined : fromHex(text)
  return data === undefined
    ? Either.left(RpcError.invalidParameter(`Data must be hexadecimal string (not '${text}')`))
    : Either.right(concat(Uint8Array.of(Op.OP_RETURN), pushData(data)))
}

const readPayment = (network: Network, address: string, given: Json): Read<TransactionOutput> => {
  const value = readAmount(given)
  if (value instanceof RpcError) return Either.left(value)
  const parsed = decodeAddress(network, address)
  return "error" in parsed
    ? Either.left(RpcError.invalidAddressOrKey(`Invalid address: ${address}`))
    : Either.right({ value, script: scriptOf(parsed.destination) })
}

/** At most one output has data, and each address occurs once. */
export function* readOutputsSteps(network: Network, value: Json): Steps<Read<ReadonlyArray<TransactionOutput>>> {
  const seen = new Set<string>()
  let hasData = false
  const members = yield* outputMembers(value)
  if (Either.isLeft(members)) return Either.left(members.left)
  yield
  return yield* readSteps(members.right, ([name, given]) => {
    if (name === "data") {
      if (hasData) return refused("duplicate key: data")
      hasData = true
      return Either.map(dataScript(given), (script) => ({ value: 0, script }))
    }
    return Either.filterOrLeft(
      readPayment(network, name, given),
      ({ script }) => seen.size < seen.add(toHex(script)).size,
      () => RpcError.invalidParameter(`Invalid parameter, duplicated address: ${name}`)
    )
  })
}

export const readOutputs = (network: Network, value: Json): Read<ReadonlyArray<TransactionOutput>> =>
  runSteps(readOutputsSteps(network, value))

/** Source: upstream `ConstructTransaction`. */
export function* constructTransactionSteps(network: Network, request: TransactionRequest): Steps<Read<Transaction>> {
  const { locktime, replaceable, version } = request
  if (locktime < 0 || locktime > MAX_LOCK_TIME) return refused("locktime out of range")
  if (version < MIN_VERSION || version > MAX_VERSION) {
    return refused(`version out of range(${MIN_VERSION}~${MAX_VERSION})`)
  }
  const inputs = yield* readInputs(request)
  if (Either.isLeft(inputs)) return Either.left(inputs.left)
  const outputs = yield* readOutputsSteps(network, request.outputs)
  return Either.flatMap(outputs, (outputs) => {
    const signals = inputs.right.some(({ sequence }) => sequence <= SEQUENCE_REPLACEABLE)
    return replaceable === true && inputs.right.length > 0 && !signals
      ? Either.left(RpcError.invalidParameter(
        "Invalid parameter combination: Sequence number(s) contradict replaceable option"
      ))
      : Either.right(makeTransaction({ version, inputs: inputs.right, outputs, lockTime: locktime }))
  })
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

export const readHashType = (text: string | undefined): Read<number | undefined> => {
  if (text === undefined) return Either.right(undefined)
  return readOf(
    HASH_TYPES.get(text) ?? RpcError.invalidParameter(`'${text}' is not a valid sighash parameter.`)
  )
}

/** Empty for a type without a word. */
export const hashTypeText = (hashType: number): string =>
  [...HASH_TYPES].find(([, value]) => value === hashType && value !== Sighash.DEFAULT)?.[0] ?? ""
