import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { LONGEST_UNLOCK } from "../../../base/unlockTime.ts"
import type { WrongPassphrase } from "../../../wallet/errors.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import {
  ENCRYPTED,
  ENCRYPTWALLET,
  NEGATIVE_TIME,
  NOTHING_TO_ENCRYPT,
  unencrypted,
  WALLETLOCK,
  WALLETPASSPHRASE,
  WALLETPASSPHRASECHANGE
} from "../../contract/wallet/passphrase.ts"
import { EMPTY_PASSPHRASE } from "../../contract/wallet/walletParams.ts"
import type { Methods } from "../../method/methodTable.ts"
import { RPC_CODE, RpcError } from "../../method/RpcError.ts"
import { walletMethod } from "./walletContext.ts"

/** reference/rpc.md 3.9. */

const wrongState = (message: string): RpcError => new RpcError({ code: RPC_CODE.walletWrongEncryptionState, message })

const ensureEncrypted = (wallet: Wallet, called: string): Effect.Effect<void, RpcError> =>
  wallet.vault.encryption() === "none" ? wrongState(unencrypted(called)) : Effect.void

/** The reference node's texts. Its old versions cut passphrases at the first null character. */
const NUL =
  "Error: The wallet passphrase entered is incorrect. It contains a null character (ie - a zero byte). If the " +
  "passphrase was set with a version of this software prior to 25.0, please try again with only the characters up to " +
  "— but not including — the first null character. If this is successful, please set a new passphrase to avoid this " +
  "issue in the future."
const OLD_NUL =
  "Error: The old wallet passphrase entered is incorrect. It contains a null character (ie - a zero byte). If " +
  "the old passphrase was set with a version of this software prior to 25.0, please try again with only the characters " +
  "up to — but not including — the first null character."

const wrongPassphrase = (
  wrong: WrongPassphrase,
  { message, passphrase }: { readonly passphrase: string; readonly message: string }
): Effect.Effect<never, WrongPassphrase | RpcError> =>
  passphrase.includes("\0") ? new RpcError({ code: RPC_CODE.walletPassphraseIncorrect, message }) : wrong

const emptyPassphrase = (): RpcError => RpcError.invalidParameter(EMPTY_PASSPHRASE)

const unlock = (
  { vault }: Wallet,
  { passphrase, renewalsOnly, timeout }: {
    readonly passphrase: string
    readonly timeout: number
    readonly renewalsOnly: boolean
  }
) => {
  const [given, seconds] = [Redacted.make(passphrase), Math.min(timeout, LONGEST_UNLOCK)]
  return renewalsOnly ? vault.unlock(given, seconds, { renewalsOnly }) : vault.unlock(given, seconds)
}

export const passphraseMethods: Methods<Wallets> = Effect.gen(function*() {
  const make = walletMethod(yield* Wallets)

  const encryptwallet = make(ENCRYPTWALLET, ({ passphrase }, wallet) =>
    Effect.gen(function*() {
      if (!wallet.keys.hasPrivateKeys) {
        return yield* new RpcError({ code: RPC_CODE.walletEncryptionFailed, message: NOTHING_TO_ENCRYPT })
      }
      if (wallet.vault.encryption() !== "none") return yield* wrongState(ENCRYPTED)
      if (passphrase === "") return yield* emptyPassphrase()
      yield* wallet.vault.encrypt(Redacted.make(passphrase))
      return "wallet encrypted; copies of its file from before are not. " +
        "You need to make a new backup with the backupwallet RPC."
    }))

  const walletpassphrase = make(
    WALLETPASSPHRASE,
    ({ passphrase, renewalsonly: renewalsOnly, timeout }, wallet) =>
      Effect.gen(function*() {
        yield* ensureEncrypted(wallet, "walletpassphrase")
        if (timeout < 0) return yield* RpcError.invalidParameter(NEGATIVE_TIME)
        if (passphrase === "") return yield* emptyPassphrase()
        yield* unlock(wallet, { passphrase, timeout, renewalsOnly }).pipe(
          Effect.catchTag("WrongPassphrase", (wrong) => wrongPassphrase(wrong, { passphrase, message: NUL }))
        )
        yield* wallet.keys.refill()
        return null
      })
  )

  const walletlock = make(WALLETLOCK, (_, wallet) =>
    Effect.gen(function*() {
      yield* ensureEncrypted(wallet, "walletlock")
      yield* wallet.vault.lock
      return null
    }))

  const walletpassphrasechange = make(
    WALLETPASSPHRASECHANGE,
    ({ newpassphrase, oldpassphrase }, wallet) =>
      Effect.gen(function*() {
        yield* ensureEncrypted(wallet, "walletpassphrasechange")
        if (oldpassphrase === "" || newpassphrase === "") return yield* emptyPassphrase()
        yield* wallet.vault.changePassphrase(Redacted.make(oldpassphrase), Redacted.make(newpassphrase)).pipe(
          Effect.catchTag(
            "WrongPassphrase",
            (wrong) => wrongPassphrase(wrong, { passphrase: oldpassphrase, message: OLD_NUL })
          )
        )
        return null
      })
  )

  return [encryptwallet, walletpassphrase, walletlock, walletpassphrasechange]
})
