import * as Effect from "effect/Effect"
import { Chain } from "../../../chain/Chain.ts"
import { ChainCoins } from "../../../chain/ChainCoins.ts"
import { Mempool } from "../../../mempool/Mempool.ts"
import { decodeAddress } from "../../../protocol/address.ts"
import { toHex } from "../../../protocol/bytes.ts"
import { txidKey } from "../../../protocol/keys.ts"
import { isFinalInput, type Psbt } from "../../../protocol/psbt/Psbt.ts"
import { outpointKey, prevoutTxid } from "../../../protocol/transaction.ts"
import { signMessage } from "../../../wallet/signing/message.ts"
import { reviewPsbt } from "../../../wallet/signing/psbtReview.ts"
import { reviewFacts, warningText } from "../../../wallet/signing/psbtReviewText.ts"
import type { SpentOutput } from "../../../wallet/signing/SigningContext.ts"
import { joined, NO_PROVIDER, type SigningProvider } from "../../../wallet/signing/SigningProvider.ts"
import { extractTransaction, signPsbtSteps } from "../../../wallet/signing/signPsbt.ts"
import { signTransactionSteps } from "../../../wallet/signing/signTransaction.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import {
  LONGEST_REVIEWED,
  NO_KEY,
  REVIEWPSBT,
  SIGNMESSAGE,
  SIGNRAWTRANSACTIONWITHWALLET,
  WALLETPROCESSPSBT
} from "../../contract/wallet/signing.ts"
import { inTurns, readInTurns } from "../../method/inTurns.ts"
import type { Methods } from "../../method/methodTable.ts"
import { RpcError } from "../../method/RpcError.ts"
import { readPrevouts } from "../prevouts.ts"
import { decodePsbtParam, encodedPsbt } from "../psbtMethods.ts"
import { decodeTransactionParam, signedJson } from "../rawTransactionMethods.ts"
import { findSpentOutputs } from "../spentOutputs.ts"
import { readHashType } from "../transactionParams.ts"
import { asRpcError, ensureUnlocked, walletMethod } from "./walletContext.ts"

/** reference/rpc.md 3.4, 3.9. */

/** None for a watch-only wallet, whose results stay incomplete. */
const signerOf = (wallet: Wallet): Effect.Effect<SigningProvider, RpcError> =>
  wallet.keys.signer.pipe(
    Effect.catchTag("WalletWatchOnly", () => Effect.succeed(NO_PROVIDER)),
    Effect.mapError(asRpcError)
  )

/** Adds the wallet's transactions that the PSBT spends. Upstream `CWallet::FillPSBT`. */
const withOwnTransactions = (wallet: Wallet, psbt: Psbt): Psbt => ({
  ...psbt,
  inputs: psbt.inputs.map((input, n) => {
    const prevout = psbt.transaction.inputs[n]?.prevout
    if (prevout === undefined || isFinalInput(input) || input.nonWitnessUtxo !== undefined) return input
    const transaction = wallet.ledger.transaction(txidKey(prevoutTxid(prevout)))?.transaction
    return transaction === undefined ? input : { ...input, nonWitnessUtxo: transaction }
  })
})

export const signingMethods: Methods<Wallets | Chain | ChainCoins | Mempool> = Effect.gen(function*() {
  const chain = yield* Chain
  const chainCoins = yield* ChainCoins
  const pool = yield* Mempool
  const make = walletMethod(yield* Wallets)
  const { network } = chain.params

  const signmessage = make(SIGNMESSAGE, ({ address, message }, wallet) =>
    Effect.gen(function*() {
      yield* ensureUnlocked(wallet)
      const parsed = decodeAddress(network, address)
      if ("error" in parsed) return yield* RpcError.invalidAddressOrKey("Invalid address")
      const { destination } = parsed
      if (destination.kind !== "pubkeyhash") return yield* RpcError.type("Address does not refer to key")
      const key = (yield* signerOf(wallet)).key(destination.hash)
      return key === undefined ? yield* RpcError.wallet(NO_KEY) : signMessage(message, key)
    }))

  const signrawtransactionwithwallet = make(
    SIGNRAWTRANSACTIONWITHWALLET,
    ({ hexstring, prevtxs, sighashtype }, wallet, { turns }) =>
      Effect.gen(function*() {
        const transaction = yield* decodeTransactionParam(hexstring)
        yield* ensureUnlocked(wallet)
        const known = yield* findSpentOutputs({ chainCoins, pool }, transaction, turns)
        const given = yield* readInTurns(
          turns,
          readPrevouts(prevtxs ?? [], (key) => known.get(key), "wallet")
        )
        const hashType = yield* readHashType(sighashtype)
        const coins = transaction.inputs.map(({ prevout }): SpentOutput | undefined => {
          const key = outpointKey(prevout)
          return given.outputs.get(key) ?? known.get(key)
        })
        const provider = joined(yield* signerOf(wallet), wallet.keys.knowledge)
        return yield* signedJson(
          yield* inTurns(turns, signTransactionSteps(transaction, coins, { provider, hashType })),
          coins
        )
      })
  )

  const walletprocesspsbt = make(
    WALLETPROCESSPSBT,
    ({ bip32derivs, finalize, psbt, sighashtype, sign }, wallet, { turns }) =>
      Effect.gen(function*() {
        const decoded = yield* decodePsbtParam(psbt, turns)
        const hashType = yield* readHashType(sighashtype)
        if (sign) yield* ensureUnlocked(wallet)
        const filled = withOwnTransactions(wallet, decoded)
        const { knowledge } = wallet.keys
        const all = sign ? joined(yield* signerOf(wallet), knowledge) : knowledge
        const provider: SigningProvider = bip32derivs ? all : { ...all, origin: () => undefined }
        const signed = yield* inTurns(turns, signPsbtSteps(filled, provider, { hashType, finalize }))
        const mismatched = signed.statuses.some((status, n) => {
          const input = filled.inputs[n]
          return status === "mismatch" && input !== undefined && !isFinalInput(input)
        })
        if (mismatched) {
          return yield* RpcError.deserialization("Specified sighash value does not match value stored in PSBT")
        }
        // As in the reference node, an input with all signatures that is not final is incomplete.
        const complete = signed.complete && signed.psbt.inputs.every(isFinalInput)
        const text = yield* encodedPsbt(signed.psbt, turns)
        return complete
          ? { psbt: text, complete, hex: toHex(extractTransaction(signed.psbt).bytes) }
          : { psbt: text, complete }
      })
  )

  const reviewpsbt = make(REVIEWPSBT, ({ psbt }, wallet, { turns }) =>
    Effect.gen(function*() {
      if (psbt.length > LONGEST_REVIEWED) {
        return yield* RpcError.invalidParameter(`the PSBT is longer than ${LONGEST_REVIEWED} characters`)
      }
      const { knowledge, own } = wallet.keys
      const review = reviewPsbt(yield* decodePsbtParam(psbt, turns), { network, own, knowledge })
      return {
        lines: reviewFacts(review),
        warnings: review.warnings.map(warningText),
        complete: review.inputs.every(({ signed }) => signed.state === "complete")
      }
    }))

  return [signmessage, signrawtransactionwithwallet, walletprocesspsbt, reviewpsbt]
})
