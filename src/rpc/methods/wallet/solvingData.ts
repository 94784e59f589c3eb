import * as Either from "effect/Either"
import { MAX_STANDARD_WEIGHT } from "../../../mempool/policy/limits.ts"
import { scriptOf } from "../../../protocol/address.ts"
import { fromHex } from "../../../protocol/bytes.ts"
import { hash160 } from "../../../protocol/hash.ts"
import type { OutpointKey } from "../../../protocol/keys.ts"
import type { Network } from "../../../protocol/networks.ts"
import type { Steps } from "../../../protocol/steps.ts"
import { outpointKey } from "../../../protocol/transaction.ts"
import type { ExternalInputs } from "../../../wallet/payments/WalletPayments.ts"
import { joined, makeProvider } from "../../../wallet/signing/SigningProvider.ts"
import { integerWithin, type Json, JsonNumber, JsonObject } from "../../json/json.ts"
import { readSteps } from "../../method/inTurns.ts"
import { type Read, readOf, RpcError } from "../../method/RpcError.ts"
import { readPubkey } from "../keyMethods.ts"
import { descriptorProviderSteps } from "../scanObjects.ts"
import { readTransactionInput } from "../transactionParams.ts"

/** For inputs that spend someone else's coins (reference/rpc.md 3.4). Upstream `wallet/rpc/spend.cpp`. */

export const weightsIn = (inputs: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  inputs.filter((input) => input instanceof JsonObject && input.get("weight") !== undefined)

/** The weight of an input without signatures, in a transaction with witnesses. */
const LEAST_WEIGHT = 165

const INT64 = [-(2 ** 63), 2 ** 63 - 1] as const

const refused = (why: string): Read<never> => Either.left(RpcError.invalidParameter(`Invalid parameter, ${why}`))

const readWeight = (given: Json): Read<readonly [OutpointKey, number]> =>
  Either.flatMap(readTransactionInput(given, 0), ({ prevout }) => {
    const value = given instanceof JsonObject ? given.get("weight") : undefined
    if (!(value instanceof JsonNumber)) return refused("missing weight key")
    return Either.flatMap(readOf(integerWithin(value, ...INT64) ?? RpcError.integerOutOfRange()), (weight) => {
      if (weight < LEAST_WEIGHT) {
        return refused(
          "weight cannot be less than 165 (41 bytes (size of outpoint + sequence + empty scriptSig) * 4 " +
            "(witness scaling factor)) + 1 (empty witness)"
        )
      }
      return weight > MAX_STANDARD_WEIGHT
        ? refused(`weight cannot be greater than the maximum standard tx weight of ${MAX_STANDARD_WEIGHT}`)
        : Either.right([outpointKey(prevout), weight] as const)
    })
  })

const readScript = (text: string): Read<Uint8Array> => {
  const bytes = text === "" ? undefined : fromHex(text)
  return bytes === undefined
    ? Either.left(RpcError.invalidAddressOrKey(`'${text}' is not hex`))
    : Either.right(bytes)
}

export interface GivenSolving {
  readonly solving_data:
    | {
      readonly pubkeys: ReadonlyArray<string> | undefined
      readonly scripts: ReadonlyArray<string> | undefined
      readonly descriptors: ReadonlyArray<string> | undefined
    }
    | undefined
}

function* descriptorsSteps(network: Network, texts: ReadonlyArray<string>) {
  for (const text of texts) {
    const read = text.includes("#")
      ? yield* descriptorProviderSteps(network, [text])
      : Either.left(RpcError.invalidAddressOrKey("Missing checksum"))
    if (Either.isLeft(read)) {
      const message = `Unable to parse descriptor '${text}': ${read.left.message}`
      return Either.left(RpcError.invalidParameter(message))
    }
  }
  return yield* descriptorProviderSteps(network, texts)
}

export function* readSolvingSteps(
  network: Network,
  { solving_data = { pubkeys: [], scripts: [], descriptors: [] } }: GivenSolving,
  weights: ReadonlyArray<Json>
): Steps<Read<ExternalInputs>> {
  const { descriptors = [], pubkeys = [], scripts = [] } = solving_data
  const keys = yield* readSteps(pubkeys, readPubkey)
  if (Either.isLeft(keys)) return Either.left(keys.left)
  const given = yield* readSteps(scripts, readScript)
  if (Either.isLeft(given)) return Either.left(given.left)
  const described = yield* descriptorsSteps(network, descriptors)
  if (Either.isLeft(described)) return Either.left(described.left)
  const sizes = yield* readSteps(weights, readWeight)
  if (Either.isLeft(sizes)) return Either.left(sizes.left)
  // A key also solves the P2WPKH output inside a P2SH output.
  const wrapped = keys.right.map((key) => scriptOf({ kind: "witness", version: 0, program: hash160(key) }))
  const known = makeProvider({ pubkeys: keys.right, scripts: [...given.right, ...wrapped] })
  return Either.right({ known: joined(known, described.right), weights: new Map(sizes.right) })
}
