import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Chain } from "../../../chain/Chain.ts"
import { decodeAddress } from "../../../protocol/address.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import { method } from "../../method/method.ts"
import type { Method } from "../../method/methodTable.ts"
import { boolean, optional, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { walletMethod } from "./walletContext.ts"

/**
 * The flags of a wallet, and methods for old wallets and external signers, which svcd does not have: they answer in the
 * reference node's words (reference/rpc.md 3.9). Upstream `wallet/rpc/wallet.cpp`.
 */

const MUTABLE = "avoid_reuse"

/** The flags that are fixed when a wallet is made. */
const IMMUTABLE = new Set([
  "blank",
  "key_origin_metadata",
  "last_hardened_xpub_cached",
  "disable_private_keys",
  "descriptor_wallet",
  "external_signer"
])

const NO_OLD_WALLETS = "Error: This wallet is already a descriptor wallet"
const NO_SIGNER = "Compiled without external signing support (required for external signing)"
const NO_SIGNER_OF_ADDRESS = "There is no ScriptPubKeyManager for this address"

export const walletFlagMethods: Effect.Effect<ReadonlyArray<Method>, never, Wallets | Chain> = Effect.gen(function*() {
  const { params: { network } } = yield* Chain
  const make = walletMethod(yield* Wallets)

  const setwalletflag = make({
    name: "setwalletflag",
    writes: true,
    summary: "Changes a flag of the wallet. With avoid_reuse, payments leave out coins of addresses that the wallet " +
      "has spent from, and balances and lists of coins show them apart.",
    params: {
      flag: string("The flag; only avoid_reuse can change."),
      newvalue: withDefault(boolean("The new state."), true)
    },
    results: [{
      schema: Schema.Struct({
        flag_name: Result.string("The flag"),
        flag_state: Result.boolean("The new state")
      })
    }],
    examples: [["avoid_reuse"]],
    errors: [
      "-8 Unknown wallet flag: <x>",
      "-8 Wallet flag is immutable: <x>",
      "-8 Wallet flag is already set to <true or false>: <x>"
    ],
    handler: ({ flag, newvalue }, wallet) =>
      Effect.gen(function*() {
        if (IMMUTABLE.has(flag)) return yield* RpcError.invalidParameter(`Wallet flag is immutable: ${flag}`)
        if (flag !== MUTABLE) return yield* RpcError.invalidParameter(`Unknown wallet flag: ${flag}`)
        if (wallet.avoidsReuse() === newvalue) {
          return yield* RpcError.invalidParameter(`Wallet flag is already set to ${String(newvalue)}: ${flag}`)
        }
        yield* wallet.setAvoidReuse(newvalue)
        return { flag_name: flag, flag_state: newvalue }
      })
  })

  const migratewallet = method({
    name: "migratewallet",
    writes: true,
    group: "Wallet",
    summary: "Always fails: svcd has no wallets of the old kind that could be converted to descriptors.",
    params: {
      wallet_name: optional(string("Name of the wallet."), "the wallet of the path"),
      passphrase: optional(string("Its passphrase."))
    },
    results: [{ schema: Result.nothing("never") }],
    examples: [["old"]],
    errors: [`-4 ${NO_OLD_WALLETS}`],
    handler: () => RpcError.wallet(NO_OLD_WALLETS)
  })

  const walletdisplayaddress = make({
    name: "walletdisplayaddress",
    summary: "Always fails: svcd has no external signers that could show an address.",
    params: { address: string("The address.") },
    results: [{ schema: Result.nothing("never") }],
    examples: [["N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR"]],
    errors: ["-5 Invalid address", `-1 ${NO_SIGNER_OF_ADDRESS}`],
    handler: ({ address }) =>
      "error" in decodeAddress(network, address)
        ? RpcError.invalidAddressOrKey("Invalid address")
        : RpcError.misc(NO_SIGNER_OF_ADDRESS)
  })

  const enumeratesigners = method({
    name: "enumeratesigners",
    group: "Util",
    summary: "Always fails: svcd has no external signers.",
    params: {},
    results: [{ schema: Result.nothing("never") }],
    examples: [[]],
    errors: [`-1 ${NO_SIGNER}`],
    handler: () => RpcError.misc(NO_SIGNER)
  })

  return [setwalletflag, migratewallet, walletdisplayaddress, enumeratesigners]
})
