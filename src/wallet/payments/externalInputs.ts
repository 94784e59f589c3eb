import * as Effect from "effect/Effect"
import { isStrictDer } from "../../consensus/der.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { OutpointKey } from "../../protocol/keys.ts"
import { ScriptCursor } from "../../protocol/script.ts"
import {
  OUTPOINT_SIZE,
  prevoutIndex,
  prevoutTxid,
  type TransactionInput,
  type TransactionOutput
} from "../../protocol/transaction.ts"
import { compactSizeLength } from "../../protocol/Writer.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest } from "../errors.ts"
import type { OwnScript } from "../keys/WalletKeys.ts"
import type { WalletCoin } from "../ledger/WalletLedger.ts"
import { estimateInput } from "../signing/estimate.ts"
import type { SigningProvider } from "../signing/SigningProvider.ts"
import type { WalletParts } from "../WalletParts.ts"
import type { WeighedCoin } from "./Draft.ts"
import type { ExternalInputs } from "./WalletPayments.ts"

/** Inputs of others, such as the name of an atomic trade. Upstream `wallet/spend.cpp`. */

const SEQUENCE_SIZE = 4
const WEIGHT_PER_BYTE = 4

const NOT_FOUND = "Unable to find UTXO for external input"

const refuse = (reason: string): InvalidWalletRequest => new InvalidWalletRequest({ code: "unsolvable", reason })

const foreign = (script: Bytes): OwnScript => ({
  script,
  address: undefined,
  type: "other",
  change: false,
  spendable: false,
  publicKey: undefined,
  path: undefined,
  masterFingerprint: undefined,
  descriptor: "",
  parentDescriptor: undefined,
  redeemScript: undefined,
  witnessScript: undefined,
  timestamp: 0
})

/** From the mempool or the chain; an unconfirmed coin has no height. */
export const nodeCoin = (
  { chainCoins, mempool }: Pick<WalletParts, "chainCoins" | "mempool">,
  outpoint: OutpointKey
): Effect.Effect<Pick<WalletCoin, "output" | "height" | "coinbase"> | undefined, StorageFailure> =>
  Effect.gen(function*() {
    const unconfirmed = mempool.coin(outpoint)
    const found = unconfirmed ?? (yield* chainCoins.coin(outpoint)).coin
    if (found === undefined) return undefined
    const output: TransactionOutput = { value: found.value, script: found.script }
    return { output, height: unconfirmed === undefined ? found.height : undefined, coinbase: found.coinbase }
  })

/** Fails if the node does not have the coin. */
export const externalCoin = (
  parts: Pick<WalletParts, "chainCoins" | "mempool">,
  outpoint: OutpointKey,
  prevout: Bytes
): Effect.Effect<WalletCoin, InvalidWalletRequest | StorageFailure> =>
  Effect.gen(function*() {
    const found = yield* nodeCoin(parts, outpoint)
    if (found === undefined) return yield* refuse(NOT_FOUND)
    return {
      ...found,
      outpoint,
      txid: prevoutTxid(prevout),
      vout: prevoutIndex(prevout),
      own: foreign(found.output.script),
      name: undefined,
      trusted: false,
      safe: false,
      locked: false,
      expired: false,
      nameExpired: false
    }
  })

/** Bytes of the longest low-s signature with its hash type. */
const LONGEST_SIGNATURE = 72

const growth = (item: Bytes): number => isStrictDer(item) ? LONGEST_SIGNATURE - item.length : 0

/** As it is, with the longest signatures. Upstream `wallet/feebumper.cpp`, `SignatureWeightChecker`. */
export const weightSignedAgain = ({ scriptSig, witness }: TransactionInput): number => {
  const base = OUTPOINT_SIZE + compactSizeLength(scriptSig.length) + scriptSig.length + SEQUENCE_SIZE
  let weight = base * WEIGHT_PER_BYTE + (witness.length === 0 ? 0 : compactSizeLength(witness.length))
  for (const item of witness) weight += compactSizeLength(item.length) + item.length + growth(item)
  const cursor = new ScriptCursor(scriptSig)
  while (cursor.next()) weight += growth(cursor.data) * WEIGHT_PER_BYTE
  return weight
}

/** With the caller's weight, or an estimate from all data; `undefined` without either. */
export const weighRequested = (
  coin: WalletCoin,
  external: ExternalInputs | undefined,
  { knowledge, signer }: { readonly knowledge: SigningProvider; readonly signer: "wallet" | "other" }
): WeighedCoin | undefined => {
  const size = estimateInput(coin.output.script, knowledge, signer)
  const weight = external?.weights.get(coin.outpoint) ?? size?.weight
  if (weight === undefined) return undefined
  return { coin, weight, ...(size === undefined ? {} : { witness: size.witness > 0 }) }
}
