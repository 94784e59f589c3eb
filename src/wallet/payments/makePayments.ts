import * as Effect from "effect/Effect"
import { feeOf, rateOf } from "../../mempool/policy/feeRate.ts"
import { formatAmount } from "../../protocol/amount.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import { outpointKey } from "../../protocol/transaction.ts"
import { InvalidWalletRequest } from "../errors.ts"
import { documentEntry, withEntries } from "../ledger/entries.ts"
import type { LedgerEntry } from "../ledger/LedgerEntry.ts"
import { update, type WalletParts } from "../WalletParts.ts"
import { followPool, makeCommit } from "./commit.ts"
import { chooseRate, REPLACEMENT_RATE } from "./feeRate.ts"
import { makeOffers, type Offers } from "./offers.ts"
import { replacementProblem } from "./replacing.ts"
import { makeSpending, type Spending } from "./spending.ts"
import type { PaymentRequest, WalletPayments } from "./WalletPayments.ts"

/** Fee bump: a replacement that pays a higher fee. Rules and error texts: upstream `wallet/feebumper.cpp`. */

const refuse = (reason: string): InvalidWalletRequest => new InvalidWalletRequest({ code: "not-eligible", reason })

/** The request for the same payment, without its change output, which is funded again. */
const requestOf = ({ ring }: WalletParts, { inputs, transaction }: LedgerEntry, feeRate: number): PaymentRequest => {
  const isChange = (script: Uint8Array): boolean =>
    parseNameScript(script) === undefined && ring.own(script)?.change === true
  const { outputs, version } = transaction
  const at = outputs.length > 1 ? outputs.findIndex(({ script }) => isChange(script)) : -1
  const change = outputs[at]
  return {
    outputs: outputs.filter((_, vout) => vout !== at),
    inputs: inputs.map((outpoint) => ({ outpoint })),
    version,
    feeRate,
    // Added coins have to be confirmed: a replacement may have no new unconfirmed inputs.
    minConfirmations: 1,
    ...change === undefined ? {} : { changeScript: change.script, changePosition: at }
  }
}

const makeBump = (parts: WalletParts, payAs: Spending["payAs"]): WalletPayments["bump"] => (txid, choice) =>
  Effect.gen(function*() {
    const { ledger, mempool } = parts
    const entry = ledger.entry(txid)
    if (entry === undefined) {
      return yield* new InvalidWalletRequest({
        code: "unknown-transaction",
        reason: "Invalid or non-wallet transaction id"
      })
    }
    const problem = replacementProblem(parts, entry)
    if (problem !== undefined) return yield* refuse(problem)
    const { transaction } = entry
    const spent = entry.inputs.reduce((sum, input) => sum + (ledger.coin(input)?.output.value ?? 0), 0)
    const oldFee = spent - transaction.outputs.reduce((sum, { value }) => sum + value, 0)
    const size = transaction.virtualSize
    const step = Math.max(mempool.info().incrementalFeeRate, REPLACEMENT_RATE)
    const chosen = yield* chooseRate(parts, choice)
    const least = oldFee + feeOf(step, size)
    if (choice.feeRate !== undefined && feeOf(chosen.feeRate, size) < least) {
      const fee = formatAmount(feeOf(chosen.feeRate, size))
      const reason = `Insufficient total fee ${fee}, must be at least ${formatAmount(least)} ` +
        `(oldFee ${formatAmount(oldFee)} + incrementalFee ${formatAmount(feeOf(step, size))})`
      return yield* new InvalidWalletRequest({ code: "too-small", reason })
    }
    const feeRate = choice.feeRate ?? Math.max(chosen.feeRate, rateOf({ fee: oldFee, vsize: size }) + 1 + step)
    const funded = yield* payAs(requestOf(parts, entry, feeRate), {
      released: new Set(transaction.inputs.map(({ prevout }) => outpointKey(prevout))),
      replaces: txid
    })
    return { funded, oldFee }
  })

const makeAbandon = (parts: WalletParts): WalletPayments["abandon"] => (txid) =>
  Effect.gen(function*() {
    const { ledger, mempool } = parts
    const entry = ledger.entry(txid)
    if (entry === undefined) {
      const reason = "Invalid or non-wallet transaction id"
      return yield* new InvalidWalletRequest({ code: "unknown-transaction", reason })
    }
    followPool(parts, entry.key)
    if (entry.state.type !== "inactive" || mempool.get(entry.key) !== undefined) {
      const reason = "Transaction not eligible for abandonment"
      return yield* new InvalidWalletRequest({ code: "not-eligible", reason })
    }
    const given = ledger.withDescendants(entry.key).filter(({ state }) => state.type === "inactive")
    const entries = given.map((each) => ({ ...documentEntry(each), abandoned: true }))
    yield* update(parts, (document) => withEntries(document, entries))
    ledger.abandon(entry.key)
  }).pipe(Effect.uninterruptible)

/** Makes the `payments` interface of a wallet, and the step that offers waiting transactions again. */
export const makePayments = (
  parts: WalletParts
): Effect.Effect<{ readonly payments: WalletPayments; readonly step: Offers["step"] }> =>
  Effect.gen(function*() {
    const commit = makeCommit(parts)
    const { candidates, exclusively, fund, pay, payAs } = yield* makeSpending(parts, commit)
    const { step, ...queue } = makeOffers(parts)
    const bump = makeBump(parts, payAs)
    const payments: WalletPayments = {
      exclusively,
      candidates,
      feeRate: (choice) => chooseRate(parts, choice),
      fund: (request) => fund(request).pipe(Effect.withSpan("svcd.wallet.fund")),
      pay: (request) => pay(request).pipe(Effect.withSpan("svcd.wallet.pay")),
      commit,
      abandon: makeAbandon(parts),
      bump: (txid, choice) => bump(txid, choice).pipe(Effect.withSpan("svcd.wallet.bump")),
      ...queue
    }
    return { payments, step }
  })
