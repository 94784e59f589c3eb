import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { LONGEST_DESCRIPTOR } from "../../../wallet/keys/WalletDocument.ts"
import type { WalletKeys } from "../../../wallet/keys/WalletKeys.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import {
  IMPORTDESCRIPTORS,
  type IMPORTED,
  LISTDESCRIPTORS,
  NO_PRIVATE_DESCRIPTOR
} from "../../contract/wallet/descriptor.ts"
import { bounded, MAX_LABEL, SCANNING } from "../../contract/wallet/walletParams.ts"
import { integerWithin, type Json, JsonNumber, JsonObject, typeOf } from "../../json/json.ts"
import { eachInTurns } from "../../method/inTurns.ts"
import type { Methods } from "../../method/methodTable.ts"
import type * as Result from "../../method/results.ts"
import { type Read, readOf, RPC_CODE, RpcError } from "../../method/RpcError.ts"
import { storageError } from "../errors.ts"
import { ensureUnlocked, requestCode, walletError, walletMethod } from "./walletContext.ts"

/** Source: upstream `wallet/rpc/backup.cpp` (reference/rpc.md 3.9). */

const INT64 = [-(2 ** 63), 2 ** 63 - 1] as const

type ImportRequest = Parameters<WalletKeys["importDescriptor"]>[0]

// Only a wrong time fails the whole call of importdescriptors. Other errors concern one request.

const integerOf = (value: Json): Read<number> => {
  if (!(value instanceof JsonNumber)) {
    return Either.left(RpcError.wrongType({ actual: typeOf(value), expected: "number" }))
  }
  return readOf(integerWithin(value, ...INT64) ?? RpcError.integerOutOfRange())
}

const booleanOf = (value: Json | undefined): Read<boolean | undefined> =>
  value === undefined || typeof value === "boolean"
    ? Either.right(value)
    : Either.left(RpcError.wrongType({ actual: typeOf(value), expected: "bool" }))

const textOf = (value: Json): Read<string> =>
  typeof value === "string"
    ? Either.right(value)
    : Either.left(RpcError.wrongType({ actual: typeOf(value), expected: "string" }))

const labelOf = (value: Json | undefined): Read<string | undefined> => {
  if (value === undefined) return Either.right(undefined)
  if (value === null) return Either.right("")
  return Either.flatMap(textOf(value), (text) =>
    text === "*"
      ? Either.left(new RpcError({ code: RPC_CODE.walletInvalidLabel, message: "Invalid label name" }))
      : readOf(bounded(text, MAX_LABEL, "label")))
}

const isArray = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

/** The last index alone, or both ends. The wallet checks the bounds. */
const rangeOf = (value: Json): Read<readonly [number, number]> => {
  if (value instanceof JsonNumber) return Either.map(integerOf(value), (last) => [0, last])
  const [first, last] = isArray(value) && value.length === 2 ? value : []
  if (!(first instanceof JsonNumber) || !(last instanceof JsonNumber)) {
    return Either.left(RpcError.invalidParameter("Range must be specified as end or as [begin,end]"))
  }
  return Either.flatMap(Either.all([integerOf(first), integerOf(last)]), (range) =>
    range[0] > range[1]
      ? Either.left(RpcError.invalidParameter("Range specified as [begin,end] must not have begin after end"))
      : Either.right(range))
}

/** Seconds since 1970, at least 1; `undefined` for now. Upstream `GetImportTimestamp`. */
const timestampOf = (request: JsonObject): Read<number | undefined> => {
  const value = request.get("timestamp")
  if (value === undefined) return Either.left(RpcError.type("Missing required timestamp field for key"))
  if (value === "now") return Either.right(undefined)
  return value instanceof JsonNumber
    ? Either.map(integerOf(value), (seconds) => Math.max(1, seconds))
    : Either.left(
      RpcError.type(`Expected number or "now" timestamp value for key. got type ${typeOf(value)}`)
    )
}

const requestOf = (request: JsonObject, timestamp: number | undefined): Read<ImportRequest> =>
  Either.gen(function*() {
    const descriptor = request.get("desc")
    if (descriptor === undefined) return yield* Either.left(RpcError.invalidParameter("Descriptor not found."))
    const range = request.get("range")
    const nextIndex = request.get("next_index")
    return {
      descriptor: yield* readOf(bounded(yield* textOf(descriptor), LONGEST_DESCRIPTOR, "descriptor")),
      timestamp,
      active: (yield* booleanOf(request.get("active"))) ?? false,
      internal: yield* booleanOf(request.get("internal")),
      label: yield* labelOf(request.get("label")),
      range: range === undefined ? undefined : yield* rangeOf(range),
      nextIndex: nextIndex === undefined ? undefined : yield* integerOf(nextIndex)
    }
  })

const failed = ({ code, message }: RpcError): Result.ValueOf<typeof IMPORTED> => ({
  success: false,
  error: { code, message }
})

/** An error of the request is part of the answer; an error of the node fails the call. */
const importOne = (
  wallet: Wallet,
  request: JsonObject,
  timestamp: number | undefined
): Effect.Effect<Result.ValueOf<typeof IMPORTED>, RpcError> =>
  Effect.flatMap(requestOf(request, timestamp), wallet.keys.importDescriptor).pipe(
    Effect.map((warnings): Result.ValueOf<typeof IMPORTED> => ({
      success: true,
      warnings: warnings.length === 0 ? undefined : warnings
    })),
    Effect.catchAll((failure) => {
      switch (failure._tag) {
        case "RpcError":
          return Effect.succeed(failed(failure))
        case "InvalidWalletRequest":
          return Effect.succeed({
            ...failed(new RpcError({ code: requestCode(failure), message: failure.reason })),
            warnings: failure.warnings
          })
        case "KeysLocked":
          return Effect.fail(walletError(failure))
        default:
          return Effect.fail(storageError(failure))
      }
    })
  )

export const descriptorMethods: Methods<Wallets> = Effect.gen(function*() {
  const make = walletMethod(yield* Wallets)

  const importdescriptors = make(IMPORTDESCRIPTORS, ({ requests }, wallet, { turns }) =>
    Effect.gen(function*() {
      if (wallet.ledger.scanning() !== undefined) return yield* RpcError.wallet(SCANNING)
      yield* ensureUnlocked(wallet)
      return yield* eachInTurns(turns, requests, (request) =>
        request instanceof JsonObject
          ? Effect.flatMap(timestampOf(request), (timestamp) => importOne(wallet, request, timestamp))
          : RpcError.wrongType({ actual: typeOf(request), expected: "object" }))
    }))

  const listdescriptors = make(LISTDESCRIPTORS, ({ private: secret }, wallet) =>
    Effect.gen(function*() {
      if (secret && !wallet.keys.hasPrivateKeys) return yield* RpcError.wallet(NO_PRIVATE_DESCRIPTOR)
      if (secret) yield* ensureUnlocked(wallet)
      const descriptors = yield* wallet.keys.descriptors(secret)
      const sorted = [...descriptors].sort((a, b) => a.descriptor < b.descriptor ? -1 : 1)
      return {
        wallet_name: wallet.name,
        descriptors: sorted.map(({ active, descriptor, internal, next, range, timestamp }) => ({
          desc: descriptor,
          timestamp,
          active,
          internal,
          range,
          next,
          next_index: next
        }))
      }
    }))

  return [importdescriptors, listdescriptors]
})
