import * as Effect from "effect/Effect"
import type { ChainCoins } from "../../../chain/ChainCoins.ts"
import type { Mempool } from "../../../mempool/Mempool.ts"
import { fromHex, toHex } from "../../../protocol/bytes.ts"
import type { OutpointKey } from "../../../protocol/keys.ts"
import { parseNameScript } from "../../../protocol/nameOperation.ts"
import type { Network } from "../../../protocol/networks.ts"
import {
  makeTransaction,
  outpoint,
  outpointKey,
  type Transaction,
  type TransactionInput,
  type TransactionOutput
} from "../../../protocol/transaction.ts"
import type { ExternalInputs, Funded, PaymentRequest } from "../../../wallet/payments/WalletPayments.ts"
import { psbtText } from "../../../wallet/signing/psbtText.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import type { Wallets } from "../../../wallet/Wallets.ts"
import {
  DECODING_FAILED,
  FUNDRAWTRANSACTION,
  INPUT_GONE,
  SIMULATERAWTRANSACTION,
  SPENT_TWICE,
  WALLETCREATEFUNDEDPSBT
} from "../../contract/wallet/fund.ts"
import { Amount } from "../../json/encodeJson.ts"
import { readInTurns } from "../../method/inTurns.ts"
import type { Method } from "../../method/methodTable.ts"
import { RpcError } from "../../method/RpcError.ts"
import type { NameEncodings } from "../../shapes/context.ts"
import { decodeAnyTransaction } from "../../shapes/decodeTransaction.ts"
import { withNameOperation } from "../nameOperations.ts"
import { findSpentOutputs } from "../spentOutputs.ts"
import { constructTransactionSteps } from "../transactionParams.ts"
import { readFeeChoiceOrOld } from "./feeParams.ts"
import { readFunding } from "./fundingOptions.ts"
import { outputNames } from "./payees.ts"
import { readSolvingSteps, weightsIn } from "./solvingData.ts"
import { fundingError } from "./spending.ts"
import { type WalletFailure, walletMethod } from "./walletContext.ts"
import { walletPsbt } from "./walletPsbt.ts"

/** reference/rpc.md 3.4, 3.9. */

export const inputsOf = ({ inputs }: Pick<Transaction, "inputs">): Pick<PaymentRequest, "inputs"> => ({
  inputs: inputs.map(({ prevout, sequence }) => ({ outpoint: outpointKey(prevout), sequence }))
})

/** As upstream, an input with a weight is part of the request, even if not yet of the transaction. */
const withWeighed = ({ inputs = [] }: Pick<PaymentRequest, "inputs">, { weights }: ExternalInputs) => {
  const given = new Set(inputs.map(({ outpoint }) => outpoint))
  const more = [...weights.keys()].filter((outpoint) => !given.has(outpoint))
  return { inputs: [...inputs, ...more.map((outpoint) => ({ outpoint }))] }
}

export const lockIf = (wallet: Wallet, wanted: boolean | undefined, { transaction }: Funded) =>
  wanted === true
    ? wallet.ledger.lockCoins(transaction.inputs.map(({ prevout }) => outpointKey(prevout)), "lock")
    : Effect.void

/** On request, locks the coins before another call can choose them. */
const fundAndLock = (
  wallet: Wallet,
  request: PaymentRequest,
  options: { readonly lockUnspents?: boolean | undefined }
): Effect.Effect<Funded, WalletFailure | RpcError> =>
  wallet.payments.exclusively(Effect.gen(function*() {
    const funded = yield* Effect.mapError(wallet.payments.fund(request), fundingError)
    yield* lockIf(wallet, options.lockUnspents, funded)
    return funded
  }))

/** Removes the wallet's signatures and keeps the caller's. */
const withGivenSignatures = (
  { inputs, lockTime, outputs, version }: Transaction,
  given: ReadonlyArray<TransactionInput>
): Transaction => {
  const known = new Map(given.map((input) => [outpointKey(input.prevout), input]))
  return makeTransaction({
    version,
    inputs: inputs.map((input) => {
      const { scriptSig = new Uint8Array(0), witness = [] } = known.get(outpointKey(input.prevout)) ?? {}
      return { ...input, scriptSig, witness }
    }),
    outputs,
    lockTime
  })
}

const decode = (hexstring: string, isWitness?: boolean): Transaction | undefined => {
  const bytes = fromHex(hexstring)
  return bytes === undefined ? undefined : decodeAnyTransaction(bytes, isWitness)
}

/** Zero for a name output. */
const worth = (wallet: Wallet, { script, value }: TransactionOutput): number =>
  parseNameScript(script) === undefined && wallet.keys.own(script) !== undefined ? value : 0

export interface FundServices {
  readonly wallets: typeof Wallets.Service
  readonly network: Network
  readonly chainCoins: typeof ChainCoins.Service
  readonly pool: typeof Mempool.Service
  readonly encodings: NameEncodings
}

const fundrawtransaction = ({ network, wallets }: FundServices) =>
  walletMethod(wallets)(
    FUNDRAWTRANSACTION,
    ({ hexstring, iswitness, options }, wallet, { turns }) =>
      Effect.gen(function*() {
        const transaction = decode(hexstring, iswitness)
        if (transaction === undefined) return yield* RpcError.deserialization("TX decode failed")
        const { lockTime, outputs, version } = transaction
        const fee = { ...yield* readFeeChoiceOrOld(options), anyRate: true }
        const choice = yield* readFunding(network, options, { fee, add: true, names: outputs.map(() => "dummy") })
        const external = yield* readInTurns(turns, readSolvingSteps(network, options, options.input_weights ?? []))
        const request: PaymentRequest = {
          ...choice,
          ...withWeighed(inputsOf(transaction), external),
          external,
          outputs,
          version,
          lockTime
        }
        const funded = yield* fundAndLock(wallet, request, options)
        const { bytes } = withGivenSignatures(funded.transaction, transaction.inputs)
        return { hex: toHex(bytes), fee: new Amount(funded.fee), changepos: funded.changePosition }
      })
  )

const walletcreatefundedpsbt = ({ encodings, network, wallets }: FundServices) =>
  walletMethod(wallets)(
    WALLETCREATEFUNDEDPSBT,
    ({ bip32derivs, inputs = [], locktime, options, outputs, version }, wallet, { turns }) =>
      Effect.gen(function*() {
        const { replaceable = wallet.rules.walletRbf } = options
        const made = yield* readInTurns(
          turns,
          constructTransactionSteps(network, { inputs, outputs, locktime, replaceable, version })
        )
        const choice = yield* readFunding(network, options, {
          fee: { ...yield* readFeeChoiceOrOld(options), anyRate: true },
          add: made.inputs.length === 0,
          names: outputNames(outputs)
        })
        const { nameop, nameop_vout: vout } = options
        const { rand, transaction } = nameop === undefined
          ? { rand: undefined, transaction: made }
          : yield* withNameOperation(made, { vout, nameop }, encodings)
        const request: PaymentRequest = {
          ...choice,
          ...inputsOf(made),
          external: yield* readInTurns(turns, readSolvingSteps(network, options, weightsIn(inputs))),
          outputs: transaction.outputs,
          version: transaction.version,
          lockTime: locktime
        }
        const funded = yield* fundAndLock(wallet, request, options)
        const { psbt } = yield* walletPsbt(wallet, funded, {
          sign: false,
          derivations: bip32derivs
        })
        return { rand, psbt: psbtText(psbt), fee: new Amount(funded.fee), changepos: funded.changePosition }
      })
  )

const simulaterawtransaction = ({ chainCoins, pool, wallets }: FundServices) =>
  walletMethod(wallets)(SIMULATERAWTRANSACTION, ({ rawtxs = [] }, wallet, { turns }) =>
    Effect.gen(function*() {
      const made = new Map<OutpointKey, number>()
      const spent = new Set<OutpointKey>()
      let change = 0
      for (const hexstring of rawtxs) {
        const transaction = decode(hexstring)
        if (transaction === undefined) return yield* RpcError.deserialization(DECODING_FAILED)
        const coins = yield* findSpentOutputs({ chainCoins, pool }, transaction, turns)
        for (const { prevout } of transaction.inputs) {
          const key = outpointKey(prevout)
          if (spent.has(key)) return yield* RpcError.invalidParameter(SPENT_TWICE)
          spent.add(key)
          const coin = coins.get(key)
          const value = made.get(key) ?? (coin === undefined ? undefined : worth(wallet, coin))
          if (value === undefined) return yield* RpcError.invalidParameter(INPUT_GONE)
          change -= value
        }
        for (const [n, output] of transaction.outputs.entries()) {
          const value = worth(wallet, output)
          made.set(outpointKey(outpoint(transaction.txid, n)), value)
          change += value
        }
      }
      return { balance_change: new Amount(change) }
    }))

export const makeFundMethods = (services: FundServices): ReadonlyArray<Method> => [
  fundrawtransaction(services),
  walletcreatefundedpsbt(services),
  simulaterawtransaction(services)
]
