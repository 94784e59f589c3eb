import * as Effect from "effect/Effect"
import type { Bytes } from "../../../protocol/bytes.ts"
import { txidKey } from "../../../protocol/keys.ts"
import { addressScript } from "../../../protocol/nameOperation.ts"
import { type PsbtInput, psbtOf, withoutSignatures } from "../../../protocol/psbt/Psbt.ts"
import { witnessVersion } from "../../../protocol/script.ts"
import { prevoutTxid, type Transaction, type TransactionOutput } from "../../../protocol/transaction.ts"
import type { Funded } from "../../../wallet/payments/WalletPayments.ts"
import { SigningContext } from "../../../wallet/signing/SigningContext.ts"
import { joined, NO_PROVIDER, type SigningProvider, withoutKeys } from "../../../wallet/signing/SigningProvider.ts"
import { type SignedPsbt, signPsbt } from "../../../wallet/signing/signPsbt.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"

/** Upstream `wallet/wallet.cpp`, `CWallet::FillPSBT`. */

/** With private keys if available. */
export const providerFor = (wallet: Wallet): Effect.Effect<SigningProvider> =>
  Effect.map(
    Effect.catchAll(wallet.keys.signer, () => Effect.succeed(NO_PROVIDER)),
    (signer) => joined(signer, wallet.keys.knowledge)
  )

const inputOf = (
  wallet: Wallet,
  input: PsbtInput,
  { coin, prevout }: { readonly prevout: Bytes; readonly coin: TransactionOutput | undefined }
): PsbtInput => {
  const spent = wallet.ledger.transaction(txidKey(prevoutTxid(prevout)))
  if (spent !== undefined) return { ...input, nonWitnessUtxo: spent.transaction }
  // Without the whole transaction, an amount is only safe if signatures commit to it.
  return coin !== undefined && witnessVersion(addressScript(coin.script)) >= 0 ? { ...input, witnessUtxo: coin } : input
}

export interface Filling {
  /** Sign with the wallet's keys and finalize complete inputs. */
  readonly sign: boolean
  /** Include derivation paths (BIP 32). */
  readonly derivations: boolean
}

/** Drops the signatures. `coins` are the spent outputs in order. */
export const walletPsbt = (
  wallet: Wallet,
  { coins, transaction }: { readonly transaction: Transaction; readonly coins: ReadonlyArray<TransactionOutput> },
  { derivations, sign }: Filling
): Effect.Effect<SignedPsbt> =>
  Effect.gen(function*() {
    const known = yield* providerFor(wallet)
    const told = derivations ? known : { ...known, origin: () => undefined }
    const empty = psbtOf(withoutSignatures(transaction))
    const inputs = empty.inputs.map((input, index) => {
      const prevout = transaction.inputs[index]?.prevout
      return prevout === undefined ? input : inputOf(wallet, input, { prevout, coin: coins[index] })
    })
    return signPsbt({ ...empty, inputs }, sign ? told : withoutKeys(told), { finalize: sign })
  })

export const isComplete = ({ coins, transaction }: Pick<Funded, "coins" | "transaction">): boolean => {
  const context = new SigningContext(transaction, transaction.inputs.map((_, index) => coins[index]))
  return transaction.inputs.every(({ scriptSig, witness }, index) =>
    context.spent[index] !== undefined && context.verify(index, scriptSig, witness) === undefined
  )
}
