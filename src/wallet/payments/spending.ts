import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { unixTime } from "../../base/clock.ts"
import { secureRandom } from "../../base/entropy.ts"
import type { TxidKey } from "../../protocol/keys.ts"
import { InvalidWalletRequest } from "../errors.ts"
import { typeProblem } from "../keys/addresses.ts"
import type { ReservedAddress } from "../keys/KeyRing.ts"
import type { AddressType } from "../keys/WalletKeys.ts"
import { estimateInputWeight } from "../signing/estimate.ts"
import type { SigningProvider } from "../signing/SigningProvider.ts"
import { signTransaction } from "../signing/signTransaction.ts"
import type { WalletParts } from "../WalletParts.ts"
import { changeTypeOf } from "./changeType.ts"
import { valueOf } from "./Draft.ts"
import { chooseRate } from "./feeRate.ts"
import { type FundedDraft, fundGrouped, type FundInput } from "./fund.ts"
import { makeSpendable, needed, type ReleasedCoins, type Spendable } from "./spendable.ts"
import type { PaymentRequest, WalletPayments } from "./WalletPayments.ts"

/** Weight of upstream's usual input, assumed for scripts that the wallet cannot spend. */
const UNKNOWN_INPUT_WEIGHT = 592

const TOO_LONG_CHAIN = "too many unconfirmed transactions in cluster"

const UNKNOWN_SIZE = "Missing solving data for estimating transaction size"

const NO_CHANGE_ADDRESS = "Transaction needs a change address, but we can't generate it."

/** Maximum number of retries if a block is disconnected between draft and broadcast. */
const UNDONE_MEANWHILE = 3

/** Maximum age of the tip for a lock time at its height. An older lock time would stand out. Upstream `spend.cpp`. */
const CURRENT_TIP_SECONDS = 8 * 3_600

export interface FundOptions extends ReleasedCoins {
  /** Whether the transaction is sent at once. A draft reserves no change address. */
  readonly sends?: boolean
}

export interface Spending
  extends Pick<WalletPayments, "exclusively" | "fund" | "pay">, Pick<Spendable, "candidates" | "presetOf">
{
  readonly fundAs: (request: PaymentRequest, options: FundOptions) => ReturnType<WalletPayments["fund"]>
  readonly payAs: (
    request: PaymentRequest,
    options: FundOptions & { readonly replaces?: TxidKey }
  ) => ReturnType<WalletPayments["pay"]>
}

interface Drafted extends FundedDraft {
  readonly reason: string
}

interface PaymentDraft {
  readonly drafted: Drafted
  readonly release: () => void
}

export const makeSpending = (parts: WalletParts, commit: WalletPayments["commit"]): Effect.Effect<Spending> =>
  Effect.gen(function*() {
    const { chain, file, ledger, mempool, ring, rules, status, vault } = parts
    // Concurrent payments would choose the same coins.
    const exclusively = (yield* Effect.makeSemaphore(1)).withPermits(1)
    const knowledge = ring.signer(undefined)
    const { bumpFee, candidates, presetOf, weigh } = makeSpendable(parts)

    /** Reserves a change address for a payment. A draft only reads it. */
    const changeFor = (type: AddressType, sends: boolean): ReservedAddress | undefined => {
      if (sends) return Either.getOrUndefined(ring.reserve(type, true))
      const own = ring.draft(type, true)
      return own === undefined ? undefined : { own, release: () => {} }
    }

    const putBack = ({ release }: PaymentDraft): Effect.Effect<void> => Effect.sync(release)

    const draft = (asked: PaymentRequest, options: FundOptions) =>
      Effect.gen(function*() {
        const request: PaymentRequest = {
          replaceable: rules.walletRbf,
          avoidPartialSpends: rules.avoidPartialSpends,
          ...asked
        }
        const type = request.changeType ?? changeTypeOf({ params: chain.params, ring, rules }, request.outputs)
        const problem = request.changeScript === undefined ? typeProblem(chain.params, type) : undefined
        if (problem !== undefined) return yield* problem
        const { feeRate, reason } = yield* chooseRate(parts, request)
        const preset = yield* presetOf(request, options)
        const { header, height } = yield* chain.tip
        const dustRate = parts.mempool.policy.dustFeeRate
        const behind = (yield* status.initialDownload) || header.time < (yield* unixTime) - CURRENT_TIP_SECONDS
        const usable = request.addInputs === false ? [] : candidates(request, preset.map(({ coin }) => coin))
          .filter(({ own }) => request.avoidReuse !== true || !ledger.isReused(own.script))
        const weighed = usable.flatMap((coin) => weigh(coin, feeRate) ?? [])
        const change = request.changeScript === undefined ? changeFor(type, options.sends === true) : undefined
        const script = request.changeScript ?? change?.own.script
        const input: FundInput = {
          request,
          preset,
          candidates: weighed,
          longChains: !rules.walletRejectLongChains,
          feeRate,
          bumpOf: (inputs) => bumpFee(inputs.map(({ coin }) => coin), feeRate),
          // Upstream `GetDiscardRate`, without its estimate of the lowest fee.
          discardRate: Math.max(rules.discardFee, dustRate),
          longTermRate: rules.consolidateFeeRate,
          dustRate,
          change: {
            // Without a change address, a script of the same size shows whether one is needed.
            script: script ?? new Uint8Array(25),
            spendWeight: (script === undefined ? undefined : estimateInputWeight(script, knowledge)) ??
              UNKNOWN_INPUT_WEIGHT
          },
          tipHeight: behind ? 0 : height,
          maxFee: rules.maxTxFee,
          random: secureRandom()
        }
        const funded = fundGrouped(input, rules.maxApsFee)
        const usesChange = Either.isRight(funded) && funded.right.changePosition !== -1
        if (!usesChange) change?.release()
        if (usesChange && script === undefined) {
          return yield* new InvalidWalletRequest({ code: "no-change", reason: NO_CHANGE_ADDRESS })
        }
        // Coins with unknown scripts, such as those of an imported address, would have covered the payment.
        const held = preset.concat(usable.map((coin) => ({ coin, weight: 0 })))
        if (
          Either.isLeft(funded) && funded.left._tag === "FundsMissing" && weighed.length < usable.length &&
          valueOf(held) >= needed(request)
        ) {
          return yield* new InvalidWalletRequest({ code: "unsolvable", reason: UNKNOWN_SIZE })
        }
        const drafted: Drafted = { ...(yield* funded), reason }
        const made: PaymentDraft = { drafted, release: () => change?.release() }
        if (rules.walletRejectLongChains && !mempool.fitsCluster(drafted)) {
          yield* putBack(made)
          return yield* new InvalidWalletRequest({ code: "long-chain", reason: TOO_LONG_CHAIN })
        }
        return made
      })

    const sign = (
      { changePosition, coins, fee, reason, transaction }: Drafted,
      signer: SigningProvider
    ) => {
      const spent = coins.map(({ output }) => output)
      const signed = signTransaction(transaction, spent, { provider: signer })
      const funded = { transaction: signed.transaction, fee, changePosition, coins: spent, feeReason: reason }
      return { funded, complete: signed.complete }
    }

    const fundAs: Spending["fundAs"] = (request, options) =>
      Effect.gen(function*() {
        const { drafted } = yield* draft(request, options)
        const secrets = yield* Effect.option(vault.secrets)
        const signer = secrets._tag === "Some" ? ring.signer(secrets.value) : knowledge
        return sign(drafted, signer).funded
      })

    const signed = (drafted: Drafted) =>
      Effect.gen(function*() {
        const spent = drafted.coins.map(({ output }) => output)
        const signer = ring.signer(yield* vault.secretsFor(drafted.transaction, spent))
        const { complete, funded } = sign(drafted, signer)
        if (complete) return funded
        // The wallet may have been locked in the meantime.
        yield* vault.secretsFor(drafted.transaction, spent)
        return yield* new InvalidWalletRequest({ code: "not-final", reason: "Signing transaction failed" })
      })

    const payOnce: Spending["payAs"] = (request, options) =>
      Effect.gen(function*() {
        // Fail before a change address is taken.
        if (!vault.signsRenewals() || !file.document.privateKeys) yield* vault.secrets
        const made = yield* draft(request, { ...options, sends: true })
        const funded = yield* Effect.onError(signed(made.drafted), () => putBack(made))
        const { transaction } = funded
        const sent = commit(transaction, {
          ...request.comment === undefined ? {} : { comment: request.comment },
          ...request.commentTo === undefined ? {} : { commentTo: request.commentTo },
          ...options.replaces === undefined ? {} : { replaces: options.replaces }
        })
        // A transaction that cannot be removed from the file is sent later, and needs its change address.
        yield* Effect.onError(sent, () => ledger.has(transaction.txidKey) ? Effect.void : putBack(made))
        return funded
      })

    // A disconnected block can make the lock time, or a spent coinbase, premature.
    const payAs: Spending["payAs"] = (request, options) =>
      exclusively(Effect.retry(payOnce(request, options), {
        times: UNDONE_MEANWHILE,
        while: (error) => error._tag === "TransactionRejected" && error.kind === "premature"
      }))

    return {
      exclusively,
      candidates,
      fund: (request) => fundAs(request, {}),
      pay: (request) => payAs(request, {}),
      fundAs,
      payAs,
      presetOf
    }
  })
