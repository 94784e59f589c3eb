import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
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
import { Amount } from "../../json/encodeJson.ts"
import { JsonObject } from "../../json/json.ts"
import { readInTurns } from "../../method/inTurns.ts"
import type { Method } from "../../method/methodTable.ts"
import {
  adapted,
  array,
  boolean,
  hexText,
  int32,
  int64,
  json,
  namedOptions,
  notNull,
  optional,
  orEmpty,
  type Param,
  uint32,
  withDefault
} from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import type { NameEncodings } from "../../shapes/context.ts"
import { decodeAnyTransaction } from "../../shapes/decodeTransaction.ts"
import { NAMEOP_PARAM, withNameOperation } from "../nameOperations.ts"
import { findSpentOutputs } from "../spentOutputs.ts"
import { constructTransactionSteps } from "../transactionParams.ts"
import { readFeeChoiceOrOld } from "./feeParams.ts"
import { FUND_OPTIONS, FUND_PSBT_OPTIONS, FUNDING_ERRORS, INPUTS, readFunding } from "./fundingOptions.ts"
import { outputNames } from "./payees.ts"
import { readSolvingSteps, weightsIn, withoutWeights } from "./solvingData.ts"
import { fundingError, PAYMENT_VERSION } from "./spending.ts"
import { type WalletFailure, walletMethod } from "./walletContext.ts"
import { walletPsbt } from "./walletPsbt.ts"

/** Methods that fund transactions without sending them, and `simulaterawtransaction` (reference/rpc.md 3.4, 3.9). */

const TRANSACTION = "01000000000140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

const ADDRESS = "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"

const FEE = Result.amount("The fee in NMC")
const CHANGE = Result.integer("Index of the change output; -1 for none")

/** Options that used to be booleans. A boolean has no effect now. */
const orBoolean = <A>(param: Param<A>): Param<A> => ({
  ...adapted(param, (value) => typeof value === "boolean" ? new JsonObject() : value),
  expected: undefined
})

/** The inputs of a transaction in the form of a payment request, in their order. */
export const inputsOf = ({ inputs }: Pick<Transaction, "inputs">): Pick<PaymentRequest, "inputs"> => ({
  inputs: inputs.map(({ prevout, sequence }) => ({ outpoint: outpointKey(prevout), sequence }))
})

/** An input with a weight is an input of the request, even if the transaction does not have it yet, as upstream. */
const withWeighed = ({ inputs = [] }: Pick<PaymentRequest, "inputs">, { weights }: ExternalInputs) => {
  const given = new Set(inputs.map(({ outpoint }) => outpoint))
  const more = [...weights.keys()].filter((outpoint) => !given.has(outpoint))
  return { inputs: [...inputs, ...more.map((outpoint) => ({ outpoint }))] }
}

export const lockIf = (wallet: Wallet, wanted: boolean | undefined, { transaction }: Funded) =>
  wanted === true
    ? wallet.ledger.lockCoins(transaction.inputs.map(({ prevout }) => outpointKey(prevout)), "lock")
    : Effect.void

/** Funds a transaction without sending it. If requested, locks its coins before another call can choose them. */
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

/** The transaction without the wallet's signatures; signatures of the caller stay. */
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

const DECODING_FAILED = "Transaction hex string decoding failure."
const SPENT_TWICE = "Transaction(s) are spending the same output more than once"
const INPUT_GONE = "One or more transaction inputs are missing or have been spent already"

const decode = (hexstring: string, isWitness?: boolean): Transaction | undefined => {
  const bytes = fromHex(hexstring)
  return bytes === undefined ? undefined : decodeAnyTransaction(bytes, isWitness)
}

/** The value of an output to a wallet; 0 for a name output. */
const worth = (wallet: Wallet, { script, value }: TransactionOutput): number =>
  parseNameScript(script) === undefined && wallet.keys.own(script) !== undefined ? value : 0

export interface FundServices {
  readonly wallets: typeof Wallets.Service
  readonly network: Network
  readonly chainCoins: typeof ChainCoins.Service
  readonly pool: typeof Mempool.Service
  readonly encodings: NameEncodings
}

/** A name operation for an output: with it the payment is funded at its whole length. */
const NAME_OPTIONS = {
  nameop: notNull(optional(NAMEOP_PARAM, "none")),
  nameop_vout: withDefault(int32("Index of the output that gets the name operation."), 0)
}

const fundrawtransaction = ({ network, wallets }: FundServices) =>
  walletMethod(wallets)({
    name: "fundrawtransaction",
    right: "spend",
    writes: true,
    group: "Raw transactions",
    summary: "Adds inputs of the wallet to a transaction until they pay for its outputs and the fee, and at most one " +
      "change output. The new inputs are not signed.",
    params: {
      hexstring: hexText("The transaction."),
      options: orBoolean(orEmpty(namedOptions(FUND_OPTIONS, "Options."))),
      iswitness: optional(boolean("Whether the transaction is in witness format."), "tries both")
    },
    results: [{ schema: Schema.Struct({ hex: Result.hex("The transaction"), fee: FEE, changepos: CHANGE }) }],
    examples: [[TRANSACTION], [TRANSACTION, { fee_rate: 120, changePosition: 0 }]],
    errors: ["-22 TX decode failed", ...FUNDING_ERRORS],
    handler: ({ hexstring, iswitness, options }, wallet, { turns }) =>
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
  })

const walletcreatefundedpsbt = ({ encodings, network, wallets }: FundServices) =>
  walletMethod(wallets)({
    name: "walletcreatefundedpsbt",
    right: "spend",
    writes: true,
    summary:
      "Makes a PSBT from inputs and outputs, and adds inputs of the wallet to fund it. Does not sign or send it.",
    params: {
      inputs: INPUTS,
      outputs: json(
        "Objects with one member each: an address and its amount in NMC, or data and hexadecimal digits; or one " +
          "object with all members.",
        { words: "json array or object" }
      ),
      locktime: withDefault(int64("Lock time."), 0),
      options: orEmpty(withoutWeights(namedOptions({ ...FUND_PSBT_OPTIONS, ...NAME_OPTIONS }, "Options."))),
      bip32derivs: withDefault(boolean("Whether the PSBT includes derivation paths of the wallet's keys."), true),
      version: withDefault(uint32("Version of the transaction."), PAYMENT_VERSION)
    },
    results: [{
      schema: Schema.Struct({
        rand: Schema.optional(Result.hex("The salt of a name_new; the owner needs it for name_firstupdate")),
        psbt: Result.string("The PSBT in base64"),
        fee: FEE,
        changepos: CHANGE
      })
    }],
    examples: [
      [[], [{ [ADDRESS]: 0.5 }], 0, { fee_rate: 120 }],
      [[], [{ [ADDRESS]: 0.01 }], 0, { nameop: { op: "name_new", name: "d/example" } }]
    ],
    errors: ["-5 Invalid address: <x>", "-8 vout is out of range", "-8 Invalid name operation", "-22 rand must be hex"],
    handler: ({ bip32derivs, inputs = [], locktime, options, outputs, version }, wallet, { turns }) =>
      Effect.gen(function*() {
        const { replaceable = wallet.rules.replaceable } = options
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
  })

const simulaterawtransaction = ({ chainCoins, pool, wallets }: FundServices) =>
  walletMethod(wallets)({
    name: "simulaterawtransaction",
    right: "names",
    summary: "Returns the change of the balance if transactions were sent in order, without sending them.",
    params: {
      rawtxs: optional(array(hexText("A transaction."), "The transactions."), "none"),
      options: orEmpty(
        namedOptions({ include_watchonly: optional(boolean("Without effect."), "false") }, "Options.")
      )
    },
    results: [{
      schema: Schema.Struct({ balance_change: Result.amount("The change in NMC; negative for a decrease") })
    }],
    examples: [[[TRANSACTION]]],
    errors: [`-22 ${DECODING_FAILED}`, `-8 ${SPENT_TWICE}`, `-8 ${INPUT_GONE}`],
    handler: ({ rawtxs = [] }, wallet, { turns }) =>
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
      })
  })

export const makeFundMethods = (services: FundServices): ReadonlyArray<Method> => [
  fundrawtransaction(services),
  walletcreatefundedpsbt(services),
  simulaterawtransaction(services)
]
