import * as Effect from "effect/Effect"
import type { Bytes } from "../../protocol/bytes.ts"
import type { OutpointKey } from "../../protocol/keys.ts"
import { prevoutIndex, prevoutTxid, type TransactionOutput } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest } from "../errors.ts"
import type { OwnScript } from "../keys/WalletKeys.ts"
import type { WalletCoin } from "../ledger/WalletLedger.ts"
import { estimateInput } from "../signing/estimate.ts"
import type { SigningProvider } from "../signing/SigningProvider.ts"
import type { WalletParts } from "../WalletParts.ts"
import type { WeighedCoin } from "./Draft.ts"
import type { ExternalInputs } from "./WalletPayments.ts"

/** Inputs that spend coins of others, such as the name of an atomic trade. Upstream `wallet/spend.cpp`. */

const NOT_FOUND = "Unable to find UTXO for external input"

const refuse = (reason: string): InvalidWalletRequest => new InvalidWalletRequest({ code: "unsolvable", reason })

/** A script that the wallet does not watch, in the form of one that it does. */
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

/** A coin of the mempool or the chain that is none of the wallet's; fails if the node does not have it. */
export const externalCoin = (
  { chainCoins, mempool }: Pick<WalletParts, "chainCoins" | "mempool">,
  outpoint: OutpointKey,
  prevout: Bytes
): Effect.Effect<WalletCoin, InvalidWalletRequest | StorageFailure> =>
  Effect.gen(function*() {
    const unconfirmed = mempool.coin(outpoint)
    const found = unconfirmed ?? (yield* chainCoins.coin(outpoint)).coin
    if (found === undefined) return yield* refuse(NOT_FOUND)
    const output: TransactionOutput = { value: found.value, script: found.script }
    return {
      outpoint,
      txid: prevoutTxid(prevout),
      vout: prevoutIndex(prevout),
      output,
      own: foreign(output.script),
      name: undefined,
      // What it depends on gets its fee from the payment too.
      height: unconfirmed === undefined ? found.height : undefined,
      coinbase: found.coinbase,
      trusted: false,
      safe: false,
      locked: false,
      expired: false,
      nameExpired: false
    }
  })

/** A requested coin with the caller's weight of its input, or one estimated from all data; `undefined` without either. */
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
