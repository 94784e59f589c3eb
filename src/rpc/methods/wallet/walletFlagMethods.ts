import * as Effect from "effect/Effect"
import { Chain } from "../../../chain/Chain.ts"
import { decodeAddress } from "../../../protocol/address.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import { NO_SIGNER } from "../../contract/wallet/walletFile.ts"
import {
  ENUMERATESIGNERS,
  MIGRATEWALLET,
  NO_OLD_WALLETS,
  NO_SIGNER_OF_ADDRESS,
  SETWALLETFLAG,
  WALLETDISPLAYADDRESS
} from "../../contract/wallet/walletInfo.ts"
import { method } from "../../method/method.ts"
import type { Methods } from "../../method/methodTable.ts"
import { RpcError } from "../../method/RpcError.ts"
import { walletMethod } from "./walletContext.ts"

/**
 * Methods for old wallets and external signers, which svcd lacks, answer with the reference node's texts. Upstream
 * `wallet/rpc/wallet.cpp` (reference/rpc.md 3.9).
 */

const MUTABLE = "avoid_reuse"

/** Fixed when a wallet is made. */
const IMMUTABLE = new Set([
  "blank",
  "key_origin_metadata",
  "last_hardened_xpub_cached",
  "disable_private_keys",
  "descriptor_wallet",
  "external_signer"
])

export const walletFlagMethods: Methods<Wallets | Chain> = Effect.gen(function*() {
  const { params: { network } } = yield* Chain
  const make = walletMethod(yield* Wallets)

  const setwalletflag = make(SETWALLETFLAG, ({ flag, newvalue }, wallet) =>
    Effect.gen(function*() {
      if (IMMUTABLE.has(flag)) return yield* RpcError.invalidParameter(`Wallet flag is immutable: ${flag}`)
      if (flag !== MUTABLE) return yield* RpcError.invalidParameter(`Unknown wallet flag: ${flag}`)
      if (wallet.avoidsReuse() === newvalue) {
        return yield* RpcError.invalidParameter(`Wallet flag is already set to ${String(newvalue)}: ${flag}`)
      }
      yield* wallet.setAvoidReuse(newvalue)
      return { flag_name: flag, flag_state: newvalue }
    }))

  const migratewallet = method(MIGRATEWALLET, () => RpcError.wallet(NO_OLD_WALLETS))

  const walletdisplayaddress = make(WALLETDISPLAYADDRESS, ({ address }) =>
    "error" in decodeAddress(network, address)
      ? RpcError.invalidAddressOrKey("Invalid address")
      : RpcError.misc(NO_SIGNER_OF_ADDRESS))

  const enumeratesigners = method(ENUMERATESIGNERS, () => RpcError.misc(NO_SIGNER))

  return [setwalletflag, migratewallet, walletdisplayaddress, enumeratesigners]
})
