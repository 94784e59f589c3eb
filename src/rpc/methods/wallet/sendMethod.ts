import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Network } from "../../../protocol/networks.ts"
import { outpointKey } from "../../../protocol/transaction.ts"
import type { PaymentRequest } from "../../../wallet/payments/WalletPayments.ts"
import type { Wallets } from "../../../wallet/Wallets.ts"
import { SEND } from "../../contract/wallet/sendAll.ts"
import { type Json, JsonObject } from "../../json/json.ts"
import { readInTurns } from "../../method/inTurns.ts"
import type { Method } from "../../method/methodTable.ts"
import { constructTransactionSteps } from "../transactionParams.ts"
import { joinFees, readFeeChoice } from "./feeParams.ts"
import { finish } from "./finishing.ts"
import { readFunding } from "./fundingOptions.ts"
import { lockIf } from "./fundMethods.ts"
import { outputNames } from "./payees.ts"
import { readSolvingSteps, weightsIn } from "./solvingData.ts"
import { fundingError } from "./spending.ts"
import { ensureUnlocked, walletMethod } from "./walletContext.ts"

/** reference/rpc.md 3.9. */

const saysSequence = (inputs: ReadonlyArray<Json>, at: number): boolean => {
  const input = inputs[at]
  return input instanceof JsonObject && (input.get("sequence") ?? null) !== null
}

export const makeSendMethod = (wallets: typeof Wallets.Service, network: Network): Method =>
  walletMethod(wallets)(SEND, ({ options, outputs, version, ...beside }, wallet, { turns }) =>
    Effect.gen(function*() {
      const fee = yield* Either.flatMap(joinFees(beside, options), readFeeChoice)
      const { inputs = [], locktime, replaceable = wallet.rules.walletRbf } = options
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
    }))
