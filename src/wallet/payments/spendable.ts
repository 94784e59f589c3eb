import * as Effect from "effect/Effect"
import { isTruc } from "../../mempool/policy/truc.ts"
import { displayHash, fromBinaryString } from "../../protocol/bytes.ts"
import { type OutpointKey, txidKey } from "../../protocol/keys.ts"
import { totalValue } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { FundsMissing, InvalidWalletRequest } from "../errors.ts"
import { coinsOf } from "../ledger/makeLedger.ts"
import type { WalletCoin } from "../ledger/WalletLedger.ts"
import { estimateInputWeight } from "../signing/estimate.ts"
import { joined } from "../signing/SigningProvider.ts"
import type { WalletParts } from "../WalletParts.ts"
import { bumpFeeOf } from "./bumpFee.ts"
import { chainShare } from "./chainShare.ts"
import { DEFAULT_VERSION, type WeighedCoin } from "./Draft.ts"
import { eligible } from "./eligible.ts"
import { externalCoin, weighRequested } from "./externalInputs.ts"
import type { ExternalInputs, PaymentRequest, WalletPayments } from "./WalletPayments.ts"

/** Upstream text, with ten digits of the txid. */
const unsolvable = ({ txid, vout }: WalletCoin): string =>
  `Not solvable pre-selected input COutPoint(${displayHash(txid).slice(0, 10)}, ${vout})`

/** For a requested unconfirmed coin: both or neither must have version 3 (BIP 431). */
const mixedVersions = ({ parent, version }: { readonly version: number; readonly parent: number }): string =>
  `Can't spend unconfirmed version ${parent} pre-selected input with a version ${version} tx`

export const needed = ({ outputs }: PaymentRequest): number => totalValue(outputs)

export interface ReleasedCoins {
  /** Coins spent by the transaction to be replaced. */
  readonly released?: ReadonlySet<OutpointKey>
}

export interface Spendable extends Pick<WalletPayments, "candidates"> {
  readonly presetOf: (
    request: PaymentRequest,
    options: ReleasedCoins
  ) => Effect.Effect<ReadonlyArray<WeighedCoin>, FundsMissing | InvalidWalletRequest | StorageFailure>
  /** What unconfirmed parents need to be mined at a fee rate. */
  readonly bumpFee: (coins: ReadonlyArray<WalletCoin>, feeRate: number) => number
  /** `undefined` if the input's weight is unknown. */
  readonly weigh: (coin: WalletCoin, feeRate: number) => WeighedCoin | undefined
}

export const makeSpendable = (parts: WalletParts): Spendable => {
  const { file, ledger, mempool, ring } = parts
  const knowledge = ring.signer(undefined)
  const signs = file.document.privateKeys ? "wallet" : "other"

  const bumpFee = (coins: ReadonlyArray<WalletCoin>, feeRate: number): number =>
    bumpFeeOf(mempool, coins.flatMap(({ height, txid }) => height === undefined ? txidKey(txid) : []), feeRate)

  const weigh = (coin: WalletCoin, feeRate: number): WeighedCoin | undefined => {
    const weight = estimateInputWeight(coin.output.script, knowledge, signs)
    if (weight === undefined) return undefined
    return coin.height === undefined
      ? { coin, weight, chain: chainShare(mempool, txidKey(coin.txid)), bump: bumpFee([coin], feeRate) }
      : { coin, weight }
  }

  /**
   * A caller may name a coin that an unconfirmed wallet transaction spends, and so replace it. Upstream
   * `wallet/spend.cpp`, `FetchSelectedInputs`, takes all outputs of the wallet.
   */
  const isReplaceable = (outpoint: OutpointKey, external: ExternalInputs | undefined): boolean =>
    external !== undefined && ledger.isSpent(outpoint) &&
    !ledger.isSpent(outpoint, ({ block }) => block !== undefined)

  const parentVersion = ({ height, txid }: WalletCoin): number | undefined => {
    if (height !== undefined) return undefined
    const key = txidKey(txid)
    return (ledger.entry(key) ?? mempool.get(key))?.transaction.version
  }

  const candidates: WalletPayments["candidates"] = (request, given = []) =>
    eligible(coinsOf(parts), request, {
      tipHeight: ledger.tip.height,
      watchOnly: !file.document.privateKeys,
      takesChild: mempool.takesChild,
      parents: new Set(given.flatMap(({ height, txid }) => height === undefined ? txidKey(txid) : []))
    })

  const presetOf: Spendable["presetOf"] = (request, { released }) => {
    const { external } = request
    const known = external === undefined ? knowledge : joined(knowledge, external.known)
    const missing = (outpoint: OutpointKey) =>
      new FundsMissing({ needed: needed(request), available: 0, missing: outpoint })
    return Effect.forEach(request.inputs ?? [], ({ outpoint, sequence }) =>
      Effect.gen(function*() {
        const own = ledger.coin(outpoint)
        const coin = own === undefined && external !== undefined
          ? yield* externalCoin(parts, outpoint, fromBinaryString(outpoint))
          : own
        if (coin === undefined || coin.expired) return yield* missing(outpoint)
        const isFree = own === undefined || ledger.isUnspent(outpoint) || released?.has(outpoint) === true
        if (!isFree && !isReplaceable(outpoint, external)) return yield* missing(outpoint)
        const { version = DEFAULT_VERSION } = request
        const parent = parentVersion(coin) ?? version
        if (isTruc(parent) !== isTruc(version)) {
          return yield* new InvalidWalletRequest({ code: "not-eligible", reason: mixedVersions({ version, parent }) })
        }
        const weighed = weighRequested(coin, external, { knowledge: known, signer: signs })
        if (weighed === undefined) {
          return yield* new InvalidWalletRequest({ code: "unsolvable", reason: unsolvable(coin) })
        }
        return { ...weighed, ...sequence === undefined ? {} : { sequence } }
      }))
  }

  return { bumpFee, candidates, presetOf, weigh }
}
