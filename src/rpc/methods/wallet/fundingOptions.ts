import * as Either from "effect/Either"
import { MAX_STANDARD_WEIGHT, MIN_STANDARD_SIZE } from "../../../mempool/policy/limits.ts"
import type { Network } from "../../../protocol/networks.ts"
import type { AddressType } from "../../../wallet/keys/WalletKeys.ts"
import type { FeeChoice, PaymentRequest } from "../../../wallet/payments/WalletPayments.ts"
import { INCLUDE_WATCHING, MAX_TX_WEIGHT } from "../../contract/wallet/fundingOptions.ts"
import type { Json } from "../../json/json.ts"
import { type Read, RpcError } from "../../method/RpcError.ts"
import { addressScriptOf, readFeePayers } from "./payees.ts"

/** Upstream `wallet/rpc/spend.cpp` (reference/rpc.md 3.4, 3.9). */

export { INCLUDE_WATCHING, MAX_TX_WEIGHT }

/** Under either spelling. */
export interface GivenFunding {
  readonly add_inputs: boolean | undefined
  readonly include_unsafe: boolean | undefined
  readonly minconf: number | undefined
  readonly maxconf: number | undefined
  readonly changeAddress: string | undefined
  readonly changePosition: number | undefined
  readonly change_type: string | undefined
  readonly subtractFeeFromOutputs: ReadonlyArray<Json> | undefined
  readonly max_tx_weight: number | undefined
  readonly replaceable: boolean | undefined
}

const CHANGE_TYPES: ReadonlyArray<AddressType> = ["legacy", "p2sh-segwit", "bech32", "bech32m"]

const readChangeType = (text: string): Read<AddressType> => {
  const type = CHANGE_TYPES.find((type) => type === text)
  return type === undefined
    ? Either.left(RpcError.invalidAddressOrKey(`Unknown change type '${text}'`))
    : Either.right(type)
}

export const readDepth = (
  { maxconf, minconf }: { readonly minconf: number | undefined; readonly maxconf: number | undefined },
  negative: string
): Read<Pick<PaymentRequest, "minConfirmations" | "maxConfirmations">> => {
  if (minconf !== undefined && minconf < 0) return Either.left(RpcError.invalidParameter(negative))
  if (maxconf !== undefined && maxconf < (minconf ?? 0)) {
    return Either.left(
      RpcError.invalidParameter(`maxconf can't be lower than minconf: ${maxconf} < ${minconf ?? 0}`)
    )
  }
  return Either.right({
    ...(minconf === undefined ? {} : { minConfirmations: minconf }),
    ...(maxconf === undefined ? {} : { maxConfirmations: maxconf })
  })
}

const readChange = (
  network: Network,
  given: GivenFunding,
  outputs: number
): Read<Pick<PaymentRequest, "changeScript" | "changePosition" | "changeType">> =>
  Either.gen(function*() {
    const { change_type, changeAddress, changePosition } = given
    const script = changeAddress === undefined
      ? {}
      : { changeScript: yield* addressScriptOf(network, changeAddress, "Change address must be a valid address") }
    if (changePosition !== undefined && (changePosition < 0 || changePosition > outputs)) {
      return yield* Either.left(RpcError.invalidParameter("changePosition out of bounds"))
    }
    if (change_type !== undefined && changeAddress !== undefined) {
      return yield* Either.left(
        RpcError.invalidParameter("Cannot specify both change address and address type options")
      )
    }
    return {
      ...script,
      ...(changePosition === undefined ? {} : { changePosition }),
      ...(change_type === undefined ? {} : { changeType: yield* readChangeType(change_type) })
    }
  })

const WITNESS_SCALE = 4
const MIN_WEIGHT = MIN_STANDARD_SIZE * WITNESS_SCALE

export type FundingChoice = Omit<PaymentRequest, "outputs" | "inputs" | "version" | "lockTime">

/** `names` are the names of the outputs; `add` is the default for adding coins. */
export const readFunding = (
  network: Network,
  given: GivenFunding,
  { add, fee, names }: { readonly fee: FeeChoice; readonly add: boolean; readonly names: ReadonlyArray<string> }
): Read<FundingChoice> =>
  Either.gen(function*() {
    const { add_inputs, include_unsafe, max_tx_weight, maxconf, minconf, replaceable, subtractFeeFromOutputs } = given
    const subtractFeeFrom = yield* readFeePayers(subtractFeeFromOutputs, names)
    const change = yield* readChange(network, given, names.length)
    const depth = yield* readDepth({ minconf, maxconf }, "Negative minconf")
    if (max_tx_weight !== undefined && (max_tx_weight < MIN_WEIGHT || max_tx_weight > MAX_STANDARD_WEIGHT)) {
      return yield* Either.left(
        RpcError.wallet(`Maximum transaction weight must be between ${MIN_WEIGHT} and ${MAX_STANDARD_WEIGHT}`)
      )
    }
    if (names.length === 0) return yield* Either.left(RpcError.invalidParameter("TX must have at least one output"))
    return {
      ...fee,
      subtractFeeFrom,
      addInputs: add_inputs ?? add,
      ...(include_unsafe === undefined ? {} : { includeUnsafe: include_unsafe }),
      ...depth,
      ...change,
      ...(replaceable === undefined ? {} : { replaceable }),
      ...(max_tx_weight === undefined ? {} : { maxWeight: max_tx_weight })
    }
  })
