import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { toHex } from "../../../src/protocol/bytes.ts"
import { addressScript } from "../../../src/protocol/nameOperation.ts"
import { eventually } from "../../support/eventually.ts"
import { fundedDirectory, withWallets } from "../../support/liveWallets.ts"

/** Renewals of many names by a wallet on a real chain, with one coin for all fees. */

const NAMES = ["d/a", "d/b", "d/c"].map((name) => new TextEncoder().encode(name))

describe("renewals on a real chain", () => {
  it.live("cost what the dry run says, keep value and owner, and go on over blocks and a restart", () =>
    Effect.scoped(Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ mine, minePool, wallet }) =>
        Effect.gen(function*() {
          for (const name of NAMES) yield* wallet.names.nameNew(name, {})
          yield* minePool
          yield* mine(11)
          for (const name of NAMES) {
            yield* wallet.names.nameFirstUpdate({ name, rand: undefined, txid: undefined, value: name })
          }
          yield* minePool
          yield* mine(5)
          const before = wallet.names.list()
          const paid = yield* wallet.ledger.balances
          const plan = yield* wallet.names.planRenewals({ of: "all" })
          assert.deepStrictEqual(plan.names.map(({ left, note }) => [left, note]), NAMES.map(() => [25, ""]))
          assert.deepStrictEqual(yield* wallet.ledger.balances, paid)
          const started = yield* wallet.names.renew({ of: "within", blocks: 25 })
          assert.isTrue(started.every(({ state }) => state === "sent"))
          const spent = paid.trusted - (yield* wallet.ledger.balances).trusted
          // A signature may be a byte shorter than the estimate.
          assert.approximately(spent, plan.fee ?? 0, 1_000)
          yield* minePool
          yield* eventually(
            "the renewals",
            () => wallet.names.requestedRenewals().every(({ state }) => state === "done")
          )
          const after = wallet.names.list()
          const kept = ({ operation, script }: typeof after[number]) => [
            operation.op === "name_new" ? "" : toHex(operation.value),
            toHex(addressScript(script))
          ]
          assert.deepStrictEqual(after.map(({ name }) => toHex(name)), NAMES.map(toHex))
          assert.deepStrictEqual(after.map(kept), before.map(kept))
          assert.isTrue(after.every(({ height, mine: own }, i) => own && height > (before[i]?.height ?? 0)))
        }))
      yield* withWallets(
        directory,
        ({ wallet }) =>
          Effect.sync(() => assert.isTrue(wallet.names.requestedRenewals().every(({ state }) => state === "done")))
      )
    })))

  it.live("are all that a wallet signs that is unlocked for them, below the methods too", () =>
    Effect.scoped(Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ address, wallet }) =>
        Effect.gen(function*() {
          const { keys, payments, vault } = wallet
          const own = yield* address
          const passphrase = Redacted.make("a long passphrase")
          yield* vault.encrypt(passphrase)
          assert.isFalse(vault.signsRenewals())
          yield* vault.unlock(passphrase, 1_000, { renewalsOnly: true })
          assert.isTrue(vault.signsRenewals())
          const refused = <A, E extends { readonly _tag: string; readonly message: string }>(
            work: Effect.Effect<A, E>
          ) =>
            Effect.map(Effect.flip(work), ({ _tag, message }) => {
              assert.strictEqual(_tag, "KeysLocked")
              assert.include(message, "renewals only")
            })
          yield* refused(keys.signer)
          yield* refused(keys.descriptors(true))
          const payment = { outputs: [{ value: 1_000_000, script: own }] }
          yield* refused(payments.pay(payment))
          // Each refused draft uses the change address of the one before.
          const taken = Effect.map(keys.descriptors(false), (all) => all.map(({ next }) => next))
          const before = yield* taken
          yield* refused(payments.pay({ ...payment, version: 0x7100 }))
          assert.deepStrictEqual(yield* taken, before)
          yield* refused(wallet.names.nameNew(NAMES[0] ?? assert.fail(), {}))
          const { transaction } = yield* payments.fund(payment)
          assert.isTrue(transaction.inputs.every(({ scriptSig, witness }) => scriptSig.length + witness.length === 0))
          yield* vault.unlock(passphrase, 1_000)
          yield* payments.pay(payment)
        }))
    })))
})
