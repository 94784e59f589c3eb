import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import type { Indexes } from "../../chain/indexes/Indexes.ts"
import type { TxIndex } from "../../chain/TxIndex.ts"
import type { Coin } from "../../consensus/view.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import type { NameDb } from "../../names/NameDb.ts"
import { transactionPlaces } from "../../names/transactionPlaces.ts"
import { type Bytes, toHex } from "../../protocol/bytes.ts"
import { type OutpointKey, txidKey } from "../../protocol/keys.ts"
import { addressScript } from "../../protocol/nameOperation.ts"
import { isFinalInput, type Psbt, type PsbtInput } from "../../protocol/psbt/Psbt.ts"
import { isPayToScriptHash, witnessVersion } from "../../protocol/script.ts"
import { outpointKey, prevoutTxid, type Transaction } from "../../protocol/transaction.ts"
import { NO_PROVIDER, type SigningProvider, withoutKeys } from "../../wallet/signing/SigningProvider.ts"
import { extractTransaction, type SignedPsbt, signPsbtSteps } from "../../wallet/signing/signPsbt.ts"
import { DESCRIPTORPROCESSPSBT, MISMATCH, UTXOUPDATEPSBT } from "../contract/transactions/psbtUpdate.ts"
import { inTurns, readInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import type { CallTurns } from "../SlowLane.ts"
import { storageError } from "./errors.ts"
import { decodePsbtParam, encodedPsbt } from "./psbtMethods.ts"
import { descriptorProviderSteps } from "./scanObjects.ts"
import { findSpentOutputs } from "./spentOutputs.ts"
import { readHashType } from "./transactionParams.ts"

/** reference/rpc.md 3.4. */

/** Judges by the script and any known redeem script. */
const isSegwit = (script: Bytes, provider: SigningProvider): boolean => {
  const address = addressScript(script)
  if (witnessVersion(address) >= 0) return true
  const redeem = isPayToScriptHash(address) ? provider.redeemScript(address.subarray(2, 22)) : undefined
  return redeem !== undefined && witnessVersion(redeem) >= 0
}

/** Fails if an unfinalized input has a hash type other than the requested one. */
const refuseMismatch = (psbt: Psbt, { statuses }: SignedPsbt): Effect.Effect<void, RpcError> => {
  const mismatched = statuses.some((status, n) => {
    const input = psbt.inputs[n]
    return status === "mismatch" && input !== undefined && !isFinalInput(input)
  })
  return mismatched ? RpcError.deserialization(MISMATCH) : Effect.void
}

export const psbtUpdateMethods: Methods<
  Chain | ChainCoins | Indexes | Mempool | NameDb | TxIndex
> = Effect.gen(function*() {
  const chain = yield* Chain
  const chainCoins = yield* ChainCoins
  const pool = yield* Mempool
  const places = yield* transactionPlaces
  const { network } = chain.params

  /** From the mempool or, with an index of all transactions, from the chain. */
  const findTransaction = (txid: Bytes): Effect.Effect<Transaction | undefined, RpcError> =>
    Effect.gen(function*() {
      const waiting = pool.get(txidKey(txid))?.transaction
      // As in the reference node: an unspent output alone does not lead to the whole transaction.
      if (waiting !== undefined || !places.indexed) return waiting
      const placed = yield* Effect.catchTags(places.find(txid), {
        BlockNotFound: () => Effect.succeed(undefined),
        BlockUnavailable: () => Effect.succeed(undefined)
      })
      return placed?.transaction
    }).pipe(Effect.mapError(storageError))

  const withUtxo = (
    input: PsbtInput,
    prevout: Bytes,
    { coins, provider }: { readonly coins: ReadonlyMap<OutpointKey, Coin>; readonly provider: SigningProvider }
  ): Effect.Effect<PsbtInput, RpcError> =>
    Effect.gen(function*() {
      if (input.nonWitnessUtxo !== undefined) return input
      const nonWitnessUtxo = yield* findTransaction(prevoutTxid(prevout))
      if (nonWitnessUtxo !== undefined) return { ...input, nonWitnessUtxo }
      const coin = coins.get(outpointKey(prevout))
      if (coin === undefined || !isSegwit(coin.script, provider)) return input
      return { ...input, witnessUtxo: { value: coin.value, script: coin.script } }
    })

  /** Adds the spent outputs from the mempool and the chain. */
  const withUtxos = (psbt: Psbt, provider: SigningProvider, turns: CallTurns): Effect.Effect<Psbt, RpcError> =>
    Effect.gen(function*() {
      const coins = yield* findSpentOutputs({ chainCoins, pool }, psbt.transaction, turns)
      const inputs: Array<PsbtInput> = []
      for (const [n, input] of psbt.inputs.entries()) {
        const prevout = psbt.transaction.inputs[n]?.prevout
        inputs.push(prevout === undefined ? input : yield* withUtxo(input, prevout, { coins, provider }))
        if (turns.isOver()) yield* turns.next
      }
      return { ...psbt, inputs }
    })

  const utxoupdatepsbt = method(UTXOUPDATEPSBT, ({ descriptors, psbt }, { turns }) =>
    Effect.gen(function*() {
      const provider = descriptors === undefined
        ? NO_PROVIDER
        : withoutKeys(yield* readInTurns(turns, descriptorProviderSteps(network, descriptors)))
      const updated = yield* withUtxos(yield* decodePsbtParam(psbt, turns), provider, turns)
      const signed = yield* inTurns(turns, signPsbtSteps(updated, provider, { finalize: false }))
      yield* refuseMismatch(updated, signed)
      return yield* encodedPsbt(signed.psbt, turns)
    }))

  const descriptorprocesspsbt = method(
    DESCRIPTORPROCESSPSBT,
    ({ bip32derivs, descriptors, finalize, psbt, sighashtype }, { turns }) =>
      Effect.gen(function*() {
        const known = yield* readInTurns(turns, descriptorProviderSteps(network, descriptors))
        const hashType = yield* readHashType(sighashtype)
        const provider = bip32derivs ? known : { ...known, origin: () => undefined }
        const updated = yield* withUtxos(yield* decodePsbtParam(psbt, turns), provider, turns)
        const signed = yield* inTurns(turns, signPsbtSteps(updated, provider, { hashType, finalize }))
        yield* refuseMismatch(updated, signed)
        const complete = signed.psbt.inputs.every(isFinalInput)
        const text = yield* encodedPsbt(signed.psbt, turns)
        return complete
          ? { psbt: text, complete, hex: toHex(extractTransaction(signed.psbt).bytes) }
          : { psbt: text, complete }
      })
  )

  return [utxoupdatepsbt, descriptorprocesspsbt]
})
