import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Network } from "../../../protocol/networks.ts"
import { outpointKey } from "../../../protocol/transaction.ts"
import type { PaymentRequest } from "../../../wallet/payments/WalletPayments.ts"
import type { Wallets } from "../../../wallet/Wallets.ts"
import { type Json, JsonObject } from "../../json/json.ts"
import { readInTurns } from "../../method/inTurns.ts"
import type { Method } from "../../method/methodTable.ts"
import { json, namedOptions, orEmpty, uint32, withDefault } from "../../method/params.ts"
import { constructTransactionSteps } from "../transactionParams.ts"
import { CONF_TARGET, ESTIMATE_MODE, FEE_ERRORS, FEE_RATE, joinFees, readFeeChoice } from "./feeParams.ts"
import { finish, FINISHED } from "./finishing.ts"
import {
  ADD_TO_WALLET,
  FEE_OPTIONS,
  FUNDING_ERRORS,
  INCLUDE_WATCHING,
  INPUTS,
  LOCK_TIME,
  MAX_TX_WEIGHT,
  readFunding,
  SEND_CHANGE_OPTIONS,
  SEND_FEE_PAYERS,
  SEND_FUNDING_OPTIONS,
  SEND_OUTCOME_OPTIONS,
  withoutOutdated
} from "./fundingOptions.ts"
import { lockIf } from "./fundMethods.ts"
import { outputNames } from "./payees.ts"
import { readSolvingSteps, weightsIn, withoutWeights } from "./solvingData.ts"
import { fundingError, PAYMENT_VERSION } from "./spending.ts"
import { ensureUnlocked, walletMethod } from "./walletContext.ts"

/** The payment method with all options (reference/rpc.md 3.9). */

const ADDRESS = "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"

/** Whether the caller sets the sequence number of an input. */
const saysSequence = (inputs: ReadonlyArray<Json>, at: number): boolean => {
  const input = inputs[at]
  return input instanceof JsonObject && (input.get("sequence") ?? null) !== null
}

export const makeSendMethod = (wallets: typeof Wallets.Service, network: Network): Method =>
  walletMethod(wallets)({
    name: "send",
    right: "spend",
    writes: true,
    summary: "Pays addresses, with all options. Returns a PSBT if private keys of inputs are missing.",
    params: {
      outputs: json(
        "Objects with one member each: an address and its amount in NMC, or data and hexadecimal digits; or one " +
          "object with all members.",
        { words: "json array or object" }
      ),
      conf_target: CONF_TARGET,
      estimate_mode: ESTIMATE_MODE,
      fee_rate: FEE_RATE,
      options: orEmpty(withoutWeights(withoutOutdated(namedOptions({
        ...SEND_FUNDING_OPTIONS,
        add_to_wallet: ADD_TO_WALLET,
        ...SEND_CHANGE_OPTIONS,
        fee_rate: FEE_RATE,
        include_watching: INCLUDE_WATCHING,
        inputs: INPUTS,
        locktime: LOCK_TIME,
        ...SEND_OUTCOME_OPTIONS,
        subtract_fee_from_outputs: SEND_FEE_PAYERS,
        max_tx_weight: MAX_TX_WEIGHT,
        ...FEE_OPTIONS
      }, "Options.")))),
      version: withDefault(uint32("Version of the transaction."), PAYMENT_VERSION)
    },
    results: [{ schema: FINISHED }],
    examples: [[[{ [ADDRESS]: 0.1 }], 6, "economical"], [{ [ADDRESS]: 0.2 }, null, "unset", 150]],
    errors: ["-5 Invalid address: <x>", ...FUNDING_ERRORS, ...FEE_ERRORS, "-8 Specify estimate_mode"],
    handler: ({ options, outputs, version, ...beside }, wallet, { turns }) =>
      Effect.gen(function*() {
        const fee = yield* Either.flatMap(joinFees(beside, options), readFeeChoice)
        const { inputs = [], locktime, replaceable = wallet.rules.replaceable } = options
        const made = yield* readInTurns(
          turns,
          constructTransactionSteps(network, { inputs, outputs, locktime: locktime ?? 0, replaceable, version })
        )
        const choice = yield* readFunding(
          network,
          {
            ...options,
            changeAddress: options.change_address,
            changePosition: options.change_position,
            subtractFeeFromOutputs: options.subtract_fee_from_outputs
          },
          { fee, add: made.inputs.length === 0, names: outputNames(outputs) }
        )
        const external = yield* readInTurns(turns, readSolvingSteps(network, options, weightsIn(inputs)))
        if (wallet.keys.hasPrivateKeys) yield* ensureUnlocked(wallet)
        const request: PaymentRequest = {
          ...choice,
          inputs: made.inputs.map(({ prevout, sequence }, at) => ({
            outpoint: outpointKey(prevout),
            ...(saysSequence(inputs, at) || locktime !== undefined ? { sequence } : {})
          })),
          external,
          outputs: made.outputs,
          version,
          ...(locktime === undefined ? {} : { lockTime: locktime })
        }
        return yield* wallet.payments.exclusively(Effect.gen(function*() {
          const funded = yield* Effect.mapError(wallet.payments.fund(request), fundingError)
          yield* lockIf(wallet, options.lock_unspents, funded)
          return yield* finish(wallet, funded, options)
        }))
      })
  })
