import { Effect, Either, Layer, Stream } from "effect"
import { Chain } from "../../../../src/chain/Chain.ts"
import { ChainCoins } from "../../../../src/chain/ChainCoins.ts"
import type { HeaderInfo } from "../../../../src/chain/index/headerInfo.ts"
import type { Follower } from "../../../../src/chain/write/Follower.ts"
import { paramsOf } from "../../../../src/consensus/params.ts"
import type { Coin } from "../../../../src/consensus/view.ts"
import { Mempool, type MempoolInfo } from "../../../../src/mempool/Mempool.ts"
import { DUST_FEE_RATE, INCREMENTAL_FEE_RATE, MIN_RELAY_FEE_RATE } from "../../../../src/mempool/policy/limits.ts"
import { DEFAULT_POLICY } from "../../../../src/mempool/policy/Policy.ts"
import { COIN } from "../../../../src/protocol/amount.ts"
import { decodeBlock } from "../../../../src/protocol/block.ts"
import { type Network, networks } from "../../../../src/protocol/networks.ts"
import { makeTransaction, NO_WITNESS, outpoint, type Transaction } from "../../../../src/protocol/transaction.ts"
import { AnswerOptions } from "../../../../src/rpc/AnswerOptions.ts"
import { paymentMethods } from "../../../../src/rpc/methods/wallet/paymentMethods.ts"
import type { WalletCoin } from "../../../../src/wallet/ledger/WalletLedger.ts"
import { eligible } from "../../../../src/wallet/payments/eligible.ts"
import { fundTransaction } from "../../../../src/wallet/payments/fund.ts"
import type { Funded, PaymentRequest, WalletPayments } from "../../../../src/wallet/payments/WalletPayments.ts"
import { estimateInputWeight } from "../../../../src/wallet/signing/estimate.ts"
import { makeProvider } from "../../../../src/wallet/signing/SigningProvider.ts"
import { signTransaction } from "../../../../src/wallet/signing/signTransaction.ts"
import type { Wallet } from "../../../../src/wallet/Wallet.ts"
import {
  callsOn,
  type FakeWallet,
  fakeWallet,
  fakeWalletsLayer,
  keyOf,
  ownScript,
  walletCoin,
  type WalletMembers,
  walletTx
} from "../../../support/fakeWallet.ts"
import type { Calls } from "../../../support/methodNode.ts"
import { noTree } from "../../../support/noTree.ts"

/** A wallet that makes real payments, from coins of the test, at a height of 200. */

export const HEIGHT = 200
/** The default fee rate of a payment, in smallest units per kvB. */
export const RATE = MIN_RELAY_FEE_RATE

/** A transaction with one output to the key with that number. */
export const paidTo = (key: number, value: number, seed: number): Transaction =>
  makeTransaction({
    version: 1,
    inputs: [{
      prevout: outpoint(new Uint8Array(32).fill(seed), 0),
      scriptSig: new Uint8Array(0),
      sequence: 0xffffffff,
      witness: NO_WITNESS
    }],
    outputs: [{ value, script: ownScript(key).script }],
    lockTime: 0
  })

export interface Paying extends FakeWallet {
  /** The requests to `fund` and `pay`, in order. */
  readonly requests: Array<PaymentRequest>
  /** The funding transactions of the coins, in the order of the values. */
  readonly sources: ReadonlyArray<Transaction>
}

/** A wallet with a coin of each value, all of key 1. */
export const payingWallet = (values: ReadonlyArray<number>, overrides: WalletMembers = {}): Paying => {
  const own = ownScript(1)
  const change = ownScript(2, { change: true })
  const sources = values.map((value, n) => paidTo(1, value, n + 1))
  const coins = sources.map((source): WalletCoin => walletCoin(source, 0, own))
  const requests: Array<PaymentRequest> = []
  const provider = makeProvider({ keys: [keyOf(1), keyOf(2)] })

  const weighed = (coin: WalletCoin) => ({ coin, weight: estimateInputWeight(coin.output.script, provider) ?? 592 })

  const fund: WalletPayments["fund"] = (request) =>
    Effect.suspend(() => {
      requests.push(request)
      const held = fake.coins
      const preset = (request.inputs ?? []).flatMap(({ outpoint, sequence }) => {
        const coin = held.find((coin) => coin.outpoint === outpoint)
        return coin === undefined ? [] : [{ ...weighed(coin), ...(sequence === undefined ? {} : { sequence }) }]
      })
      const drafted = fundTransaction({
        request,
        preset,
        candidates: request.addInputs === false ? [] : eligible(held, request, { tipHeight: HEIGHT }).map(weighed),
        feeRate: request.feeRate ?? RATE,
        discardRate: RATE,
        longTermRate: RATE,
        dustRate: DUST_FEE_RATE,
        change: { script: request.changeScript ?? change.script, spendWeight: 592 },
        tipHeight: HEIGHT,
        maxFee: COIN,
        random: () => 0.5
      })
      return Either.map(drafted, ({ changePosition, coins, fee, transaction }): Funded => {
        const spent = coins.map(({ output }) => output)
        const signed = signTransaction(transaction, spent, { provider })
        return { transaction: signed.transaction, fee, changePosition, coins: spent, feeReason: "Fallback fee" }
      })
    })

  const fake = fakeWallet(
    {
      fund,
      pay: (request) => Effect.tap(fund(request), ({ transaction }) => wallet().payments.commit(transaction)),
      candidates: (request) => eligible(fake.coins, request, { tipHeight: HEIGHT }),
      lastBlock: () => ({ height: HEIGHT, hash: new Uint8Array(32) }),
      ...overrides
    },
    { scripts: [own, change], keys: [1, 2], coins, transactions: sources.map((source) => walletTx(source)) }
  )
  const wallet = (): Wallet => fake.wallet
  return { ...fake, requests, sources }
}

const INFO: MempoolInfo = {
  loaded: true,
  size: 0,
  bytes: 0,
  usage: 0,
  totalFee: 0,
  maxUsage: 0,
  minFeeRate: MIN_RELAY_FEE_RATE,
  minRelayFeeRate: MIN_RELAY_FEE_RATE,
  incrementalFeeRate: INCREMENTAL_FEE_RATE,
  unbroadcast: 0,
  sequence: 0,
  changes: 0
}

const genesis = decodeBlock(networks.regtest.genesisBlock)

/** A tip at the height of the wallet. */
export const TIP: HeaderInfo = {
  hash: networks.regtest.genesisHash,
  height: HEIGHT,
  header: genesis.header,
  chainwork: 1n,
  medianTimePast: 0,
  transactions: 1,
  size: 0,
  confirmations: 1,
  next: undefined
}

const chainOn = (network: Network) =>
  Layer.mock(Chain, {
    // Without a rate, no tree is asked for the progress.
    params: { ...paramsOf(network), transactionRate: undefined },
    tree: noTree,
    tip: Effect.succeed(TIP),
    toldTip: Effect.succeed(TIP)
  }).pipe(Layer.merge(Layer.mock(ChainCoins, { coin: () => Effect.succeed({ coin: undefined, tip: TIP }) })))

/** A chain without coins, at that height; the pool has the coins of the test. */
export const chain = chainOn(networks.regtest)

/** The same of a network whose coins are not worthless. */
export const mainChain = chainOn(networks.mainnet)

/** A follower without effect. */
export const noFollower: Follower = {
  name: "none",
  cursor: Effect.succeed(undefined),
  apply: () => Effect.void,
  rewind: () => Effect.void
}

/** A mempool without transactions, with the coins of the test. */
export const poolOf = (coins: ReadonlyMap<string, Coin>) =>
  Layer.mock(Mempool, {
    get: () => undefined,
    getByWtxid: () => undefined,
    entries: () => [],
    spender: () => undefined,
    ancestors: () => [],
    descendants: () => [],
    parents: () => [],
    children: () => [],
    cluster: () => [],
    chunkOf: () => undefined,
    chunks: () => [],
    pending: () => [],
    coin: (key) => coins.get(key),
    prioritised: () => new Map(),
    broadcastLater: () => undefined,
    isUnbroadcast: () => false,
    broadcastDone: () => undefined,
    unbroadcast: () => [],
    takesChild: () => true,
    fitsCluster: () => true,
    policy: DEFAULT_POLICY,
    info: () => INFO,
    events: Stream.empty,
    follower: noFollower
  })

/** The options of the operator. */
export const nodeOptions = Layer.succeed(AnswerOptions, {
  nameEncoding: "ascii",
  valueEncoding: "ascii",
  allowExpired: false,
  nameHistory: true,
  nameHashIndex: false
})

/** The payment methods on one wallet. `coins` are the node's coins. */
export const paymentsOf = (
  { wallet }: Pick<FakeWallet, "wallet">,
  coins: ReadonlyMap<string, Coin> = new Map()
): Effect.Effect<Calls> =>
  Effect.map(
    Effect.provide(paymentMethods, Layer.mergeAll(chain, nodeOptions, poolOf(coins), fakeWalletsLayer([wallet]))),
    (methods) => callsOn(methods)
  )
