import * as Effect from "effect/Effect"
import { Chain } from "../../../chain/Chain.ts"
import { addressOf, decodeAddress, scriptOf } from "../../../protocol/address.ts"
import type { Network } from "../../../protocol/networks.ts"
import { InvalidWalletRequest } from "../../../wallet/errors.ts"
import type { AddressType, OwnScript } from "../../../wallet/keys/WalletKeys.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import {
  GETADDRESSESBYLABEL,
  GETADDRESSINFO,
  GETNEWADDRESS,
  GETRAWCHANGEADDRESS,
  INVALID_ADDRESS,
  KEYPOOLREFILL,
  LISTLABELS,
  SETLABEL,
  UNKNOWN_PURPOSE
} from "../../contract/wallet/address.ts"
import type { Methods } from "../../method/methodTable.ts"
import { RPC_CODE, RpcError } from "../../method/RpcError.ts"
import { addressInfo } from "./addressInfo.ts"
import {
  type DefineWalletMethod,
  ensureUnlocked,
  walletError,
  type WalletFailure,
  walletMethod
} from "./walletContext.ts"

/** reference/rpc.md 3.9. */

/** With the error of most wallet methods for an invalid address. */
export const scriptOfAddress = (network: Network, address: string): Effect.Effect<Uint8Array, RpcError> =>
  Effect.suspend(() => {
    const parsed = decodeAddress(network, address)
    return "error" in parsed
      ? RpcError.invalidAddressOrKey(INVALID_ADDRESS)
      : Effect.succeed(scriptOf(parsed.destination))
  })

const noneOf = (type: AddressType): string => `Error: No ${type} addresses available.`

/** The wallet has no key at all, or none for this type. */
const addressFailure = (type: AddressType) => (failure: WalletFailure): RpcError =>
  failure instanceof InvalidWalletRequest && failure.code === "address-type"
    ? new RpcError({ code: RPC_CODE.keypoolRanOut, message: noneOf(type) })
    : walletError(failure)

const shownAddress = ({ address }: OwnScript): Effect.Effect<string, RpcError> =>
  address === undefined ? RpcError.internal() : Effect.succeed(address)

const PURPOSES = ["send", "receive", "refund"]

const setlabel = (make: DefineWalletMethod, network: Network) =>
  make(SETLABEL, ({ address, label }, wallet) =>
    Effect.gen(function*() {
      const script = yield* scriptOfAddress(network, address)
      yield* wallet.keys.setLabel({ address: addressOf(network, script) ?? address, label })
      return null
    }))

const listlabels = (make: DefineWalletMethod) =>
  make(LISTLABELS, ({ purpose }, wallet) =>
    Effect.suspend(() => {
      if (purpose !== "" && !PURPOSES.includes(purpose)) return RpcError.invalidParameter(UNKNOWN_PURPOSE)
      const entries = [...wallet.keys.labels().values()].filter((entry) => purpose === "" || entry.purpose === purpose)
      return Effect.succeed([...new Set(entries.map((entry) => entry.label))].sort())
    }))

const getaddressesbylabel = (make: DefineWalletMethod) =>
  make(GETADDRESSESBYLABEL, ({ label }, wallet) =>
    Effect.suspend(() => {
      const found = [...wallet.keys.labels()].filter(([, entry]) => entry.label === label)
      if (found.length === 0) {
        const message = `No addresses with label ${label}`
        return new RpcError({ code: RPC_CODE.walletInvalidLabel, message })
      }
      return Effect.succeed(new Map(found.map(([address, { purpose }]) => [address, { purpose }])))
    }))

const keypoolrefill = (make: DefineWalletMethod) =>
  make(KEYPOOLREFILL, ({ newsize = 0 }, wallet) =>
    newsize < 0
      ? RpcError.invalidParameter("Invalid parameter, expected valid size.")
      : Effect.as(
        Effect.zipRight(ensureUnlocked(wallet), wallet.keys.refill(newsize)),
        null
      ))

export const addressMethods: Methods<Wallets | Chain> = Effect.gen(function*() {
  const { params: { network } } = yield* Chain
  const make = walletMethod(yield* Wallets)

  const getnewaddress = make(GETNEWADDRESS, ({ address_type, label }, wallet) => {
    const type = address_type ?? wallet.rules.addressType
    return wallet.keys.newAddress({ type, label }).pipe(
      Effect.mapError(addressFailure(type)),
      Effect.flatMap(shownAddress)
    )
  })

  const getrawchangeaddress = make(GETRAWCHANGEADDRESS, ({ address_type }, wallet) => {
    const type = address_type ?? wallet.rules.changeType ?? wallet.rules.addressType
    return wallet.keys.newChangeAddress(type).pipe(
      Effect.mapError(addressFailure(type)),
      Effect.flatMap(shownAddress)
    )
  })

  const getaddressinfo = make(GETADDRESSINFO, ({ address }, wallet) =>
    Effect.suspend(() => {
      const parsed = decodeAddress(network, address)
      return "error" in parsed
        ? RpcError.invalidAddressOrKey(parsed.error)
        : Effect.succeed(addressInfo(network, wallet, parsed.destination))
    }))

  return [
    getnewaddress,
    getrawchangeaddress,
    getaddressinfo,
    setlabel(make, network),
    listlabels(make),
    getaddressesbylabel(make),
    keypoolrefill(make)
  ]
})
