import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { isDust } from "../../../mempool/policy/dust.ts"
import { feeOf, virtualSize } from "../../../mempool/policy/feeRate.ts"
import { toHex } from "../../../protocol/bytes.ts"
import { txidKey } from "../../../protocol/keys.ts"
import type { Network } from "../../../protocol/networks.ts"
import {
  outpointKey,
  outpointText,
  prevoutIndex,
  prevoutTxid,
  totalValue,
  type TransactionInput,
  type TransactionOutput
} from "../../../protocol/transaction.ts"
import type { WalletCoin } from "../../../wallet/ledger/WalletLedger.ts"
import type { FeeChoice, PaymentRequest } from "../../../wallet/payments/WalletPayments.ts"
import { estimateInputWeight } from "../../../wallet/signing/estimate.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import type { Wallets } from "../../../wallet/Wallets.ts"
import {
  DEPTH_WITH_INPUTS,
  DUST_LEFT,
  MAX_WITH_INPUTS,
  NO_RECIPIENT,
  NOTHING_FOR_FEES,
  POOL_TOO_LOW,
  SEND_ALL_TOO_LARGE,
  SENDALL,
  TOO_MUCH,
  UNKNOWN_SIZE
} from "../../contract/wallet/sendAll.ts"
import { PAYMENT_VERSION } from "../../contract/wallet/walletParams.ts"
import { type Json, JsonNumber, JsonObject } from "../../json/json.ts"
import { readInTurns, readSteps } from "../../method/inTurns.ts"
import type { Method } from "../../method/methodTable.ts"
import { type Read, RPC_CODE, RpcError } from "../../method/RpcError.ts"
import { constructTransactionSteps } from "../transactionParams.ts"
import { joinFees, readFeeChoice } from "./feeParams.ts"
import { finish } from "./finishing.ts"
import { readDepth } from "./fundingOptions.ts"
import { lockIf } from "./fundMethods.ts"
import { addressScriptOf } from "./payees.ts"
import { fundingError } from "./spending.ts"
import { ensureUnlocked, type WalletFailure, walletMethod } from "./walletContext.ts"
import { providerFor } from "./walletPsbt.ts"

/** Upstream `wallet/rpc/spend.cpp`, `sendall` (reference/rpc.md 3.9). */

const insufficient = (message: string): RpcError => new RpcError({ code: RPC_CODE.insufficientFunds, message })

/** As outputs. A missing amount becomes zero. */
const withAmounts = (recipients: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  recipients.map((recipient) => {
    if (typeof recipient !== "string") return recipient
    const output = new JsonObject()
    output.keys.push(recipient)
    output.values.push(new JsonNumber("0"))
    return output
  })

interface Coins {
  readonly inputs: NonNullable<PaymentRequest["inputs"]>
  readonly total: number
}

/** The wallet must own each input, unspent. */
const givenCoins = (wallet: Wallet, inputs: ReadonlyArray<TransactionInput>): Read<Coins> => {
  const coins = new Map(wallet.ledger.coins().map((coin) => [coin.outpoint, coin]))
  let total = 0
  for (const { prevout } of inputs) {
    const coin = coins.get(outpointKey(prevout))
    if (coin === undefined) return Either.left(RpcError.invalidParameter(whyNoInput(wallet, prevout)))
    total += coin.output.value
  }
  return Either.right({
    inputs: inputs.map(({ prevout, sequence }) => ({ outpoint: outpointKey(prevout), sequence })),
    total
  })
}

const whyNoInput = (wallet: Wallet, prevout: Uint8Array): string => {
  const txid = prevoutTxid(prevout)
  const index = prevoutIndex(prevout)
  const output = wallet.ledger.transaction(txidKey(txid))?.transaction.outputs[index]
  const where = `UTXO (${outpointText(prevout)})`
  return output !== undefined && wallet.keys.own(output.script) !== undefined
    ? `Input not available. ${where} was already spent.`
    : `Input not found. ${where} is not part of wallet.`
}

/** Keeps coins worth at least the cost of spending them. */
const worthSpending = (
  wallet: Wallet,
  coins: ReadonlyArray<WalletCoin>,
  feeRate: number
): Effect.Effect<ReadonlyArray<WalletCoin>> =>
  Effect.map(providerFor(wallet), (provider) =>
    coins.filter(({ output }) => {
      const weight = estimateInputWeight(output.script, provider, wallet.keys.hasPrivateKeys ? "wallet" : "other")
      return weight === undefined || feeOf(feeRate, virtualSize(weight)) <= output.value
    }))

/** Recipients without an amount share the rest equally, and the first gets the remainder. */
const shared = (
  outputs: ReadonlyArray<TransactionOutput>,
  open: ReadonlyArray<number>,
  remainder: number
): ReadonlyArray<TransactionOutput> => {
  const share = Math.floor(remainder / open.length)
  const [first] = open
  return outputs.map((output, n) =>
    open.includes(n) ? { ...output, value: share + (n === first ? remainder - share * open.length : 0) } : output
  )
}

const tooLittle = (sendMax: boolean): string =>
  sendMax
    ? `${POOL_TOO_LOW}, try using lower feerate.`
    : `${POOL_TOO_LOW}. Try using lower feerate or excluding uneconomic UTXOs with 'send_max' option.`

/** Shares are too small once the fee is subtracted. */
const belowFee = (claimed: number, sendMax: boolean): RpcError =>
  insufficient(claimed > 0 ? NOTHING_FOR_FEES : tooLittle(sendMax))

interface Sweep {
  readonly wallet: Wallet
  readonly outputs: ReadonlyArray<TransactionOutput>
  readonly open: ReadonlyArray<number>
  readonly options: Pick<PaymentRequest, "lockTime" | "version" | "replaceable" | keyof FeeChoice>
  readonly sendMax: boolean
}

const sweep = ({ open, options, outputs, sendMax, wallet }: Sweep, { inputs, total }: Coins) =>
  Effect.gen(function*() {
    const claimed = totalValue(outputs)
    if (total === 0) return yield* insufficient(tooLittle(sendMax))
    if (claimed > total) return yield* insufficient(TOO_MUCH)
    const remainder = total - claimed
    if (remainder === 0) return yield* insufficient(NOTHING_FOR_FEES)
    const request: PaymentRequest = {
      ...options,
      outputs: shared(outputs, open, remainder),
      subtractFeeFrom: open,
      inputs,
      addInputs: false
    }
    return yield* Effect.mapError(wallet.payments.fund(request), (failure): WalletFailure | RpcError => {
      if (failure._tag !== "InvalidWalletRequest") return failure
      if (failure.code === "overweight") return RpcError.wallet(SEND_ALL_TOO_LARGE)
      // An unconfirmed coin of the caller with an unsuitable version, or a coin of a script unknown to the wallet.
      if (failure.code === "not-eligible") return RpcError.invalidParameter(failure.reason)
      if (failure.code === "unsolvable") return RpcError.wallet(UNKNOWN_SIZE)
      if (failure.code === "below-fee") return belowFee(claimed, sendMax)
      return failure.code === "too-small" ? insufficient(DUST_LEFT) : fundingError(failure)
    })
  })

export const makeSendAllMethod = (wallets: typeof Wallets.Service, network: Network): Method => {
  return walletMethod(wallets)(
    SENDALL,
    ({ options, recipients, ...beside }, wallet, { turns }) =>
      Effect.gen(function*() {
        const fees = yield* joinFees(beside, options)
        const names = recipients.filter((recipient) => typeof recipient === "string")
        if (names.length === 0) return yield* RpcError.invalidParameter(NO_RECIPIENT)
        const {
          inputs,
          locktime,
          maxconf,
          minconf,
          replaceable = wallet.rules.walletRbf,
          send_max,
          version = PAYMENT_VERSION
        } = options
        const fee = yield* readFeeChoice(fees)
        const { feeRate } = yield* Either.mapLeft(
          wallet.payments.feeRate({ ...fee, replaceable }),
          ({ code, reason }) => code === "low-fee-rate" ? RpcError.invalidParameter(reason) : RpcError.wallet(reason)
        )
        const negative = `Invalid minconf (minconf cannot be negative): ${minconf ?? 0}`
        const depth = yield* readDepth({ minconf, maxconf }, negative)
        const made = yield* readInTurns(
          turns,
          constructTransactionSteps(network, {
            inputs: inputs ?? [],
            outputs: withAmounts(recipients),
            locktime: locktime ?? 0,
            replaceable,
            version
          })
        )
        if (inputs !== undefined && send_max !== undefined) return yield* RpcError.invalidParameter(MAX_WITH_INPUTS)
        if (inputs !== undefined && (minconf !== undefined || maxconf !== undefined)) {
          return yield* RpcError.invalidParameter(DEPTH_WITH_INPUTS)
        }
        const named = yield* readInTurns(turns, readSteps(names, (name) => addressScriptOf(network, name)))
        const scripts = new Set(named.map(toHex))
        const open = made.outputs.flatMap(({ script }, n) => scripts.has(toHex(script)) ? [n] : [])
        for (const [n, output] of made.outputs.entries()) {
          if (scripts.has(toHex(output.script)) || !isDust(output)) continue
          const given: Json | undefined = recipients[n]
          const address = given instanceof JsonObject ? given.keys[0] : given
          return yield* RpcError.invalidParameter(
            `Specified output amount to ${String(address)} is below dust threshold.`
          )
        }
        if (wallet.keys.hasPrivateKeys) yield* ensureUnlocked(wallet)
        const given: Sweep = {
          wallet,
          outputs: made.outputs,
          open,
          options: { ...fee, version, replaceable, ...(locktime === undefined ? {} : { lockTime: locktime }) },
          sendMax: send_max ?? false
        }
        return yield* wallet.payments.exclusively(Effect.gen(function*() {
          const all = wallet.payments.candidates({ ...depth, version })
          const coinsOf = (coins: ReadonlyArray<WalletCoin>): Coins => ({
            inputs: coins.map(({ outpoint }) => ({ outpoint })),
            total: totalValue(coins.map(({ output }) => output))
          })
          const coins = inputs !== undefined
            ? yield* givenCoins(wallet, made.inputs)
            : send_max === true
            ? coinsOf(yield* worthSpending(wallet, all, feeRate))
            : coinsOf(all)
          const funded = yield* sweep(given, coins)
          yield* lockIf(wallet, options.lock_unspents, funded)
          return yield* finish(wallet, funded, options)
        }))
      })
  )
}
