import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { COIN } from "../../src/protocol/amount.ts"
import { txidKey } from "../../src/protocol/keys.ts"
import { NAME_TX_VERSION, nameScript } from "../../src/protocol/nameOperation.ts"
import { outpointKey } from "../../src/protocol/transaction.ts"
import { NO_PROVIDER } from "../../src/wallet/signing/SigningProvider.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { FEW_KEYS, fundedDirectory, withWallets } from "../support/liveWallets.ts"
import { ADDRESS, pay as payAnyone } from "../support/mempool.ts"
import { nameNew, saltOf, text } from "../support/regtest.ts"
import { documentOf, keptTxids, shown, to } from "./liveDocument.ts"

/** A transaction that no wallet has. */
const UNKNOWN = txidKey(new Uint8Array(32))

describe("Wallet", () => {
  it.scopedLive("a payment is on disk before it is offered, then pending, and leaves wallet.json six blocks deep", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const seen: Array<boolean> = []
      yield* withWallets(directory, ({ mine, minePool, pool, wallet }) =>
        Effect.gen(function*() {
          const { fee, transaction } = yield* wallet.payments.pay(to(ADDRESS, 3 * COIN))
          assert.deepStrictEqual(seen, [true])
          assert.isTrue(pool.isUnbroadcast(transaction.txidKey))
          assert.strictEqual(wallet.ledger.transaction(transaction.txidKey)?.state.type, "pending")
          assert.deepStrictEqual(yield* wallet.ledger.balances, {
            trusted: 47 * COIN - fee,
            untrustedPending: 0,
            immature: 0
          })
          assert.strictEqual(fee, Math.ceil(transaction.virtualSize * 100))
          yield* minePool
          assert.deepInclude(wallet.ledger.transaction(transaction.txidKey)?.state, {
            type: "confirmed",
            height: 102,
            index: 1
          })
          yield* mine(4)
          assert.deepStrictEqual(keptTxids(directory), [shown(transaction)], "five deep")
          yield* mine(1)
          assert.deepStrictEqual(keptTxids(directory), [], "six deep")
          assert.strictEqual(wallet.ledger.transaction(transaction.txidKey)?.state.type, "confirmed")
        }), {
        mempool: (pool) => ({
          ...pool,
          accept: (transaction) =>
            Effect.suspend(() => {
              seen.push(keptTxids(directory).includes(shown(transaction)))
              return pool.accept(transaction)
            })
        })
      })
    }))

  it.scopedLive("a transaction that the mempool refuses stays in the wallet until it is abandoned", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ mine, pool, wallet }) =>
        Effect.gen(function*() {
          const nonstandard = new Uint8Array([0x61])
          const { transaction } = yield* wallet.payments.pay(to(nonstandard, COIN))
          assert.isUndefined(pool.get(transaction.txidKey))
          const state = () => wallet.ledger.transaction(transaction.txidKey)?.state
          assert.deepStrictEqual(state(), { type: "inactive", abandoned: false })
          assert.deepStrictEqual(keptTxids(directory), [shown(transaction)])
          assert.strictEqual(wallet.ledger.coins().length, 0)
          yield* mine(1)
          assert.deepStrictEqual(state(), { type: "inactive", abandoned: false })
          yield* wallet.payments.abandon(transaction.txidKey)
          assert.strictEqual(wallet.ledger.coins().length, 1)
        }))
    }))

  it.scopedLive("simultaneous payments that fund and keep exclusively spend different coins", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withWallets(directory, ({ fund, wallet }) =>
        Effect.gen(function*() {
          for (let i = 0; i < 3; i++) yield* fund
          const one = wallet.payments.exclusively(Effect.gen(function*() {
            const funded = yield* wallet.payments.fund(to(ADDRESS, COIN))
            yield* wallet.payments.commit(funded.transaction)
            return funded.transaction
          }))
          const made = yield* Effect.all([one, wallet.payments.pay(to(ADDRESS, COIN)), one], {
            concurrency: "unbounded"
          })
          const spent = made.flatMap((each) => ("inputs" in each ? each : each.transaction).inputs)
          const outpoints = spent.map(({ prevout }) => outpointKey(prevout))
          assert.strictEqual(new Set(outpoints).size, outpoints.length)
          assert.strictEqual(wallet.ledger.transactions().filter(({ state }) => state.type === "pending").length, 3)
        }))
    }))

  it.scopedLive("a caller may name coins that an unconfirmed payment spends, to replace it", () =>
    Effect.gen(function*() {
      yield* withWallets(yield* fundedDirectory, ({ minePool, wallet }) =>
        Effect.gen(function*() {
          const { transaction } = yield* wallet.payments.pay(to(ADDRESS, COIN))
          const inputs = transaction.inputs.map(({ prevout }) => ({ outpoint: outpointKey(prevout) }))
          const named = { ...to(ADDRESS, 2 * COIN), inputs, addInputs: false }
          const external = { known: NO_PROVIDER, weights: new Map() }
          const again = yield* wallet.payments.fund({ ...named, external })
          assert.deepStrictEqual(again.transaction.inputs[0]?.prevout, transaction.inputs[0]?.prevout)
          assert.strictEqual((yield* Effect.flip(wallet.payments.fund(named)))._tag, "FundsMissing", "not by a caller")
          yield* minePool
          assert.strictEqual((yield* Effect.flip(wallet.payments.fund({ ...named, external })))._tag, "FundsMissing")
        }))
    }))

  it.scopedLive("a transaction that is not final yet is refused, or stays in the wallet if the caller wants that", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          const { transaction } = yield* wallet.payments.fund({ ...to(ADDRESS, COIN), lockTime: 1_000 })
          assert.deepInclude(yield* Effect.flip(wallet.payments.commit(transaction)), { kind: "premature" })
          assert.isUndefined(wallet.ledger.transaction(transaction.txidKey))
          yield* wallet.payments.commit(transaction, { keepPremature: true })
          assert.strictEqual(wallet.ledger.transaction(transaction.txidKey)?.state.type, "inactive")
        }))
    }))

  it.scopedLive("an abandoned transaction that was sent again is not abandoned after a restart", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const paid = yield* withWallets(
        directory,
        ({ wallet }) => Effect.map(wallet.payments.pay(to(ADDRESS, COIN)), ({ transaction }) => transaction)
      )
      yield* withWallets(directory, ({ pool, wallet }) =>
        Effect.gen(function*() {
          yield* wallet.payments.abandon(paid.txidKey)
          assert.isTrue(documentOf(directory).transactions[0]?.abandoned)
          yield* pool.accept(paid)
          yield* eventually(
            "the file knows it",
            () => documentOf(directory).transactions[0]?.abandoned === false
          )
          assert.strictEqual(wallet.ledger.transaction(paid.txidKey)?.state.type, "pending")
        }), { rules: { ...FEW_KEYS, walletBroadcast: false } })
    }))

  it.scopedLive("a payment is replaced by one with a higher fee, and both record the other", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ pool, wallet }) =>
        Effect.gen(function*() {
          const first = yield* wallet.payments.pay(to(ADDRESS, COIN))
          const { funded, oldFee } = yield* wallet.payments.bump(first.transaction.txidKey, {})
          assert.strictEqual(oldFee, first.fee)
          assert.isAtLeast(funded.fee, first.fee + first.transaction.virtualSize * 100)
          assert.isUndefined(pool.get(first.transaction.txidKey))
          assert.isDefined(pool.get(funded.transaction.txidKey))
          assert.deepInclude(funded.transaction.outputs, { value: COIN, script: ADDRESS })
          yield* eventually("inactive", () =>
            wallet.ledger.transaction(first.transaction.txidKey)?.state.type === "inactive")
          assert.strictEqual(
            wallet.ledger.transaction(first.transaction.txidKey)?.replacedBy,
            shown(funded.transaction)
          )
          assert.strictEqual(wallet.ledger.transaction(funded.transaction.txidKey)?.replaces, shown(first.transaction))
          const again = yield* Effect.flip(wallet.payments.bump(first.transaction.txidKey, {}))
          assert.match(again.message, /already bumped|descendants/)
          const low = yield* Effect.flip(wallet.payments.bump(funded.transaction.txidKey, { feeRate: 150_000 }))
          assert.match(low.message, /Insufficient total fee/)
        }))
    }))

  it.scopedLive("a NAME_NEW cannot be replaced", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ address, wallet }) =>
        Effect.gen(function*() {
          const script = nameScript(nameNew(text("d/bump"), saltOf(1)), yield* address)
          const { transaction } = yield* wallet.payments.pay({ ...to(script, COIN / 100), version: NAME_TX_VERSION })
          const coin = wallet.ledger.coins().find(({ name }) => name !== undefined)
          assert.isDefined(coin, "it is among the coins")
          assert.strictEqual((yield* wallet.ledger.balances).untrustedPending, 0)
          const refused = yield* Effect.flip(wallet.payments.bump(transaction.txidKey, {}))
          assert.deepInclude(refused, { _tag: "InvalidWalletRequest", code: "not-eligible" })
          assert.match(refused.message, /name_new/)
        }))
    }))

  it.scopedLive("the fee rate is never below the wallet's minimum, nor the fee above the sane maximum", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          const low = yield* Effect.flip(wallet.payments.fund({ ...to(ADDRESS, COIN), feeRate: 99_999 }))
          assert.deepInclude(low, { code: "low-fee-rate" })
          const least = yield* wallet.payments.fund({ ...to(ADDRESS, COIN), feeRate: 100_000 })
          assert.strictEqual(least.feeReason, "PayTxFee set")
          const high = yield* Effect.flip(wallet.payments.fund({ ...to(ADDRESS, COIN), feeRate: 100_000_000 }))
          assert.deepInclude(high, { code: "fee-too-high" })
          assert.strictEqual((yield* wallet.payments.fund(to(ADDRESS, COIN))).feeReason, "Fallback fee")
        }))
    }))

  it.scopedLive("a transaction outside of the mempool can be abandoned, and its coins are free", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const { txidKey } = yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          const { transaction } = yield* wallet.payments.pay(to(ADDRESS, COIN))
          const refused = yield* Effect.flip(wallet.payments.abandon(transaction.txidKey))
          assert.deepInclude(refused, { code: "not-eligible" })
          return transaction
        }))
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          assert.strictEqual(wallet.ledger.coins().length, 0)
          yield* wallet.payments.abandon(txidKey)
          assert.strictEqual(wallet.ledger.coins().length, 1)
          assert.deepStrictEqual(wallet.ledger.transaction(txidKey)?.state, { type: "inactive", abandoned: true })
          assert.deepInclude(yield* Effect.flip(wallet.payments.abandon(UNKNOWN)), {
            code: "unknown-transaction"
          })
          assert.deepStrictEqual(documentOf(directory).transactions.map(({ abandoned }) => abandoned), [true])
        }), {
        // The wallet offers nothing before the pool has loaded.
        mempool: (pool) => ({ ...pool, info: () => ({ ...pool.info(), loaded: false }) })
      })
    }))

  it.scopedLive("the queue keeps non-final transactions, sends them when final, and refuses invalid ones", () =>
    Effect.gen(function*() {
      const directory = yield* fundedDirectory
      const transaction = yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          const { transaction } = yield* wallet.payments.fund({ ...to(ADDRESS, COIN), lockTime: 103 })
          yield* wallet.payments.enqueue(transaction)
          assert.deepStrictEqual(wallet.payments.queue().map(({ txidKey }) => txidKey), [transaction.txidKey])
          const empty = payAnyone([], { fee: 0 })
          assert.match(
            (yield* Effect.flip(wallet.payments.enqueue(empty))).message,
            /Invalid transaction \(bad-txns-vin-empty\)/
          )
          return transaction
        }))
      yield* withWallets(directory, ({ mine, pool, wallet }) =>
        Effect.gen(function*() {
          assert.strictEqual(wallet.payments.queue().length, 1)
          yield* mine(1)
          assert.isUndefined(pool.get(transaction.txidKey))
          yield* mine(1)
          yield* wallet.settled
          assert.isDefined(pool.get(transaction.txidKey))
          assert.strictEqual(wallet.payments.queue().length, 0)
          assert.strictEqual(wallet.ledger.transaction(transaction.txidKey)?.state.type, "pending")
          assert.deepStrictEqual(keptTxids(directory), [shown(transaction)])
          assert.isFalse(yield* wallet.payments.dequeue(transaction.txidKey))
        }))
    }))
})
