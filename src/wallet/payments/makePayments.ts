import * as Effect from "effect/Effect"
import { InvalidWalletRequest } from "../errors.ts"
import { documentEntry, withEntries } from "../ledger/entries.ts"
import { update, type WalletParts } from "../WalletParts.ts"
import { makeBump } from "./bump.ts"
import { followPool, makeCommit } from "./commit.ts"
import { chooseRate } from "./feeRate.ts"
import { makeOffers, type Offers } from "./offers.ts"
import { makeSpending } from "./spending.ts"
import type { WalletPayments } from "./WalletPayments.ts"

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
    const entries = given.map((each) => documentEntry({ ...each, abandoned: true, lost: false }))
    yield* update(parts, (document) => withEntries(document, entries))
    ledger.abandon(entry.key)
  }).pipe(Effect.uninterruptible)

export const makePayments = (
  parts: WalletParts
): Effect.Effect<{ readonly payments: WalletPayments; readonly step: Offers["step"] }> =>
  Effect.gen(function*() {
    const commit = makeCommit(parts)
    const spending = yield* makeSpending(parts, commit)
    const { candidates, exclusively, fund, pay } = spending
    const { step, ...queue } = makeOffers(parts)
    const { bump, replacement } = makeBump(parts, spending)
    const payments: WalletPayments = {
      exclusively,
      candidates,
      feeRate: (choice) => chooseRate(parts, choice),
      fund: (request) => fund(request).pipe(Effect.withSpan("svcd.wallet.fund")),
      pay: (request) => pay(request).pipe(Effect.withSpan("svcd.wallet.pay")),
      commit,
      abandon: makeAbandon(parts),
      replacement,
      bump: (txid, choice) => bump(txid, choice).pipe(Effect.withSpan("svcd.wallet.bump")),
      ...queue
    }
    return { payments, step }
  })
