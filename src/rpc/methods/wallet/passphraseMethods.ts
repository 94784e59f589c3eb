import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { WrongPassphrase } from "../../../wallet/errors.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import type { Method } from "../../method/methodTable.ts"
import { boolean, int64, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RPC_CODE, RpcError } from "../../method/RpcError.ts"
import { EMPTY_PASSPHRASE, walletMethod, WRONG_PASSPHRASE } from "./walletContext.ts"

/** Methods for the passphrase of a wallet (reference/rpc.md 3.9). */

const NOTHING_TO_ENCRYPT = "Error: wallet does not contain private keys, nothing to encrypt."
const ENCRYPTED = "Error: running with an encrypted wallet, but encryptwallet was called."
const NEGATIVE = "Timeout cannot be negative."

/** Maximum seconds for which a wallet stays unlocked: about three years. */
const LONGEST_UNLOCK = 100_000_000

const unencrypted = (called: string): string => `Error: running with an unencrypted wallet, but ${called} was called.`

const wrongState = (message: string): RpcError => new RpcError({ code: RPC_CODE.walletWrongEncryptionState, message })

const ensureEncrypted = (wallet: Wallet, called: string): Effect.Effect<void, RpcError> =>
  wallet.vault.encryption() === "none" ? wrongState(unencrypted(called)) : Effect.void

/** The texts of the reference node: old versions of it cut passphrases at the first null character. */
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

export const passphraseMethods: Effect.Effect<ReadonlyArray<Method>, never, Wallets> = Effect.gen(function*() {
  const make = walletMethod(yield* Wallets)

  const encryptwallet = make({
    name: "encryptwallet",
    writes: true,
    summary: "Encrypts the secrets of the wallet with a passphrase, which is then required for signing.",
    params: { passphrase: string("The passphrase.") },
    results: [{ schema: Result.string("The next steps") }],
    examples: [["a long passphrase"]],
    errors: [`-16 ${NOTHING_TO_ENCRYPT}`, `-15 ${ENCRYPTED}`, `-8 ${EMPTY_PASSPHRASE}`],
    handler: ({ passphrase }, wallet) =>
      Effect.gen(function*() {
        if (!wallet.keys.hasPrivateKeys) {
          return yield* new RpcError({ code: RPC_CODE.walletEncryptionFailed, message: NOTHING_TO_ENCRYPT })
        }
        if (wallet.vault.encryption() !== "none") return yield* wrongState(ENCRYPTED)
        if (passphrase === "") return yield* emptyPassphrase()
        yield* wallet.vault.encrypt(Redacted.make(passphrase))
        return "wallet encrypted; copies of its file from before are not. " +
          "You need to make a new backup with the backupwallet RPC."
      })
  })

  const walletpassphrase = make({
    name: "walletpassphrase",
    right: "names",
    writes: true,
    summary:
      "Unlocks the wallet for some time. A later call replaces the time. With renewalsonly the wallet signs nothing but " +
      "renewals of names: a name_update with the same value, whose owner, coins and change are the wallet's, and whose fee is " +
      "at most 0.01 NMC. After a call without renewalsonly, a time for renewals that is longer goes on. walletlock ends both.",
    params: {
      passphrase: string("The passphrase."),
      timeout: int64(`Seconds; at most ${LONGEST_UNLOCK}.`),
      renewalsonly: withDefault(boolean("Whether the wallet signs renewals of names alone."), false)
    },
    results: [{ schema: Result.nothing("") }],
    examples: [["a long passphrase", 60], ["a long passphrase", 2592000, true]],
    errors: [
      `-15 ${unencrypted("walletpassphrase")}`,
      `-8 ${NEGATIVE}`,
      `-8 ${EMPTY_PASSPHRASE}`,
      `-14 ${WRONG_PASSPHRASE}`
    ],
    handler: ({ passphrase, renewalsonly: renewalsOnly, timeout }, wallet) =>
      Effect.gen(function*() {
        yield* ensureEncrypted(wallet, "walletpassphrase")
        if (timeout < 0) return yield* RpcError.invalidParameter(NEGATIVE)
        if (passphrase === "") return yield* emptyPassphrase()
        yield* unlock(wallet, { passphrase, timeout, renewalsOnly }).pipe(
          Effect.catchTag("WrongPassphrase", (wrong) => wrongPassphrase(wrong, { passphrase, message: NUL }))
        )
        yield* wallet.keys.refill()
        return null
      })
  })

  const walletlock = make({
    name: "walletlock",
    right: "names",
    writes: true,
    summary: "Locks the wallet, including for renewals.",
    params: {},
    results: [{ schema: Result.nothing("") }],
    examples: [[]],
    errors: [`-15 ${unencrypted("walletlock")}`],
    handler: (_, wallet) =>
      Effect.gen(function*() {
        yield* ensureEncrypted(wallet, "walletlock")
        yield* wallet.vault.lock
        return null
      })
  })

  const walletpassphrasechange = make({
    name: "walletpassphrasechange",
    writes: true,
    summary: "Replaces the passphrase of the wallet.",
    params: { oldpassphrase: string("The old passphrase."), newpassphrase: string("The new passphrase.") },
    results: [{ schema: Result.nothing("") }],
    examples: [["a long passphrase", "a longer passphrase"]],
    errors: [`-15 ${unencrypted("walletpassphrasechange")}`, `-8 ${EMPTY_PASSPHRASE}`, `-14 ${WRONG_PASSPHRASE}`],
    handler: ({ newpassphrase, oldpassphrase }, wallet) =>
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
  })

  return [encryptwallet, walletpassphrase, walletlock, walletpassphrasechange]
})
