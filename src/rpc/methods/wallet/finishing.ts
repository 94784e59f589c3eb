import * as Effect from "effect/Effect"
import { displayHash, toHex } from "../../../protocol/bytes.ts"
import type { Funded } from "../../../wallet/payments/WalletPayments.ts"
import { psbtText } from "../../../wallet/signing/psbtText.ts"
import { extractTransaction } from "../../../wallet/signing/signPsbt.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import type { FINISHED } from "../../contract/wallet/walletParams.ts"
import type * as Result from "../../method/results.ts"
import type { RpcError } from "../../method/RpcError.ts"
import { ensureUnlocked, type WalletFailure } from "./walletContext.ts"
import { isComplete, walletPsbt } from "./walletPsbt.ts"

/** Upstream `wallet/rpc/spend.cpp`, `FinishTransaction`. */

export interface Finishing {
  /** Always return a PSBT and send nothing. */
  readonly psbt: boolean | undefined
  /** Store and send the transaction; true by default. */
  readonly add_to_wallet: boolean | undefined
}

/** Sends a complete transaction. Returns the PSBT of an incomplete one, or the transaction if it must not be sent. */
export const finish = (
  wallet: Wallet,
  funded: Funded,
  { add_to_wallet = true, psbt: wanted = false }: Finishing
): Effect.Effect<Result.ValueOf<typeof FINISHED>, WalletFailure | RpcError> =>
  Effect.gen(function*() {
    if (wallet.keys.hasPrivateKeys) yield* ensureUnlocked(wallet)
    const isSent = add_to_wallet && !wanted
    if (isSent && isComplete(funded)) {
      const txid = displayHash(funded.transaction.txid)
      yield* wallet.payments.commit(funded.transaction, { keepPremature: true })
      return { txid, complete: true }
    }
    const { complete, psbt } = yield* walletPsbt(wallet, funded, {
      sign: true,
      derivations: true
    })
    if (!complete) {
      return { psbt: psbtText(psbt), complete }
    }
    const { bytes, txid } = extractTransaction(psbt)
    return { psbt: psbtText(psbt), txid: displayHash(txid), hex: toHex(bytes), complete }
  })
