import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Chain } from "../../../chain/Chain.ts"
import { MAX_NAME_LENGTH, MAX_SPENDABLE_VALUE, SALT_SIZE } from "../../../consensus/names.ts"
import { type Bytes, parseDisplayHash } from "../../../protocol/bytes.ts"
import type { Network } from "../../../protocol/networks.ts"
import type { NameFailure, NameOptions } from "../../../wallet/names/WalletNames.ts"
import type { Wallets } from "../../../wallet/Wallets.ts"
import type { AnswerOptions } from "../../AnswerOptions.ts"
import type { Json } from "../../json/json.ts"
import { type Read, RPC_CODE, RpcError } from "../../method/RpcError.ts"
import type { ShapeContext } from "../../shapes/context.ts"
import { contextFor, decodeGiven, type GivenEncodings } from "../nameEncodings.ts"
import type { KnownNames } from "./knownNames.ts"
import { addressScriptOf, readSendCoins } from "./payees.ts"

/** Upstream `wallet/rpc/walletnames.cpp` (reference/rpc.md 5.1, 5.7). */

export interface NameMethodParts {
  readonly wallets: typeof Wallets.Service
  readonly chain: typeof Chain.Service
  readonly node: typeof AnswerOptions.Service
  readonly known: KnownNames
}

export interface GivenWriteOptions {
  readonly destAddress: string | undefined
  readonly sendCoins: Json | undefined
}

const readWriteOptions = (network: Network, { destAddress, sendCoins }: GivenWriteOptions): Read<NameOptions> =>
  Either.gen(function*() {
    return {
      ...(destAddress === undefined
        ? {}
        : { destination: yield* addressScriptOf(network, destAddress, "invalid address") }),
      ...(sendCoins === undefined ? {} : { sendCoins: yield* readSendCoins(network, sendCoins) })
    }
  })

export const nameGiven = (text: string, { nameEncoding }: ShapeContext): Effect.Effect<Bytes, RpcError> =>
  Effect.filterOrFail(
    decodeGiven(text, nameEncoding),
    ({ length }) => length <= MAX_NAME_LENGTH,
    () => RpcError.invalidParameter("the name is too long")
  )

const valueGiven = (text: string, { valueEncoding }: ShapeContext): Effect.Effect<Bytes, RpcError> =>
  Effect.filterOrFail(
    decodeGiven(text, valueEncoding),
    ({ length }) => length <= MAX_SPENDABLE_VALUE,
    () => RpcError.invalidParameter("the value is too long")
  )

/** The caller's parameters of a method that writes a name. Each method uses some of them. */
export interface GivenNameWrite {
  readonly name: string
  readonly rand?: Bytes | undefined
  readonly value?: string | undefined
  readonly tx?: string | undefined
  readonly options: Partial<GivenEncodings> & GivenWriteOptions
}

export interface NameWrite {
  readonly context: ShapeContext
  readonly name: Bytes
  readonly value: Bytes | undefined
  /** Txid of the NAME_NEW, in wire order. */
  readonly txid: Bytes | undefined
  readonly options: NameOptions
}

/** The order of its checks decides which of two errors is reported. */
export const nameWriteReader =
  (network: Network, node: typeof AnswerOptions.Service) =>
  ({ name: text, options, rand, tx, value: valueText }: GivenNameWrite): Effect.Effect<NameWrite, RpcError> =>
    Effect.gen(function*() {
      const { nameEncoding, valueEncoding } = options
      const context = contextFor(network, node, { nameEncoding, valueEncoding })
      const name = yield* nameGiven(text, context)
      if (rand !== undefined && rand.length > SALT_SIZE) return yield* RpcError.invalidParameter("invalid rand value")
      const value = valueText === undefined ? undefined : yield* valueGiven(valueText, context)
      const txid = tx === undefined ? undefined : parseDisplayHash(tx)
      if (tx !== undefined && txid === undefined) return yield* RpcError.invalidParameter("invalid txid")
      return { context, name, value, txid, options: yield* readWriteOptions(network, options) }
    })

const NO_ADDRESS = "Failed to generate mining address: Error: No legacy addresses available."

/** The wallet has no key for a new address. */
export const nameError = (failure: NameFailure): NameFailure | RpcError =>
  failure._tag === "InvalidWalletRequest" && (failure.code === "no-keys" || failure.code === "no-change")
    ? new RpcError({ code: RPC_CODE.keypoolRanOut, message: NO_ADDRESS })
    : failure
