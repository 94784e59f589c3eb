import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { feeOf } from "../../../src/mempool/policy/feeRate.ts"
import { COIN, formatMoney } from "../../../src/protocol/amount.ts"
import { equal } from "../../../src/protocol/bytes.ts"
import type { TxidKey } from "../../../src/protocol/keys.ts"
import { makeTransaction, outpoint, outpointKey, type Transaction } from "../../../src/protocol/transaction.ts"
import type { BumpChoice, PaymentRequest } from "../../../src/wallet/payments/WalletPayments.ts"
import { NO_PROVIDER } from "../../../src/wallet/signing/SigningProvider.ts"
import { fundedDirectory, type LiveNode, withWallets } from "../../support/liveWallets.ts"
import { ADDRESS, UNLOCK } from "../../support/mempool.ts"
import { shown } from "../liveDocument.ts"

const payment = (value: number, more: Partial<PaymentRequest> = {}): PaymentRequest => ({
  outputs: [{ value, script: ADDRESS }],
  ...more
})

/** Why a fee bump is refused. */
const refusedBump = ({ wallet }: LiveNode, txid: TxidKey, choice: BumpChoice = {}) =>
  Effect.flip(Effect.asVoid(wallet.payments.bump(txid, choice)))

describe("WalletPayments.bump", () => {
  it.scopedLive("takes a given rate that pays -incrementalrelayfee more, for the size as signed, and no lower one", () =>
    Effect.gen(function*() {
      yield* withWallets(yield* fundedDirectory, (node) =>
        Effect.gen(function*() {
          const { pool, wallet } = node
          const { fee, transaction } = yield* wallet.payments.pay(payment(COIN, { feeRate: 200_000 }))
          const same = yield* refusedBump(node, transaction.txidKey, { feeRate: 200_000 })
          const step = feeOf(pool.info().incrementalFeeRate, transaction.virtualSize)
          assert.strictEqual(
            same.message,
            `Insufficient total fee ${formatMoney(fee)}, must be at least ${formatMoney(fee + step)} ` +
              `(oldFee ${formatMoney(fee)} + incrementalFee ${formatMoney(step)})`
          )
          assert.deepInclude(same, { code: "range" })
          const low = yield* refusedBump(node, transaction.txidKey, { feeRate: 99_999 })
          assert.match(
            low.message,
            /^Insufficient total fee 0\.000\d+, must be at least /
          )
          const high = yield* refusedBump(node, transaction.txidKey, { feeRate: 500_000_000 })
          assert.match(
            high.message,
            /^Specified or calculated fee 1\.\d+ is too high \(cannot be higher than -maxtxfee/
          )
          const { funded, oldFee } = yield* wallet.payments.bump(transaction.txidKey, { feeRate: 200_100 })
          assert.strictEqual(oldFee, fee)
          assert.strictEqual(funded.fee, feeOf(200_100, transaction.virtualSize))
          assert.isDefined(pool.get(funded.transaction.txidKey))
          assert.isUndefined(pool.get(transaction.txidKey))
        }))
    }))

  it.scopedLive("counts what unconfirmed ancestors get", () =>
    Effect.gen(function*() {
      yield* withWallets(yield* fundedDirectory, (node) =>
        Effect.gen(function*() {
          const { pool, wallet } = node
          yield* wallet.payments.pay(payment(COIN, { feeRate: 100_000 }))
          const child = yield* wallet.payments.pay(payment(COIN, { feeRate: 300_000 }))
          const { virtualSize } = child.transaction
          assert.isAbove(child.fee, feeOf(300_000, virtualSize), "it pays for its parent too")
          // For the child alone this rate would pay less than the old fee.
          const { funded } = yield* wallet.payments.bump(child.transaction.txidKey, { feeRate: 310_000 })
          assert.isAbove(funded.fee, child.fee)
          assert.isDefined(pool.get(funded.transaction.txidKey))
        }))
    }))

  it.scopedLive("keeps the comments, and leaves the outputs of both transactions alone until a block has one", () =>
    Effect.gen(function*() {
      yield* withWallets(yield* fundedDirectory, (node) =>
        Effect.gen(function*() {
          const { minePool, wallet } = node
          const notes = { comment: "rent", commentTo: "landlord" }
          const { transaction } = yield* wallet.payments.pay(payment(COIN, notes))
          const { funded } = yield* wallet.payments.bump(transaction.txidKey, {})
          const key = funded.transaction.txidKey
          assert.deepInclude(wallet.ledger.transaction(key), { ...notes, replaces: shown(transaction) })
          const coins = wallet.ledger.coins()
          assert.deepStrictEqual(coins.map(({ safe, trusted }) => [trusted, safe]), [[true, false]])
          assert.strictEqual(
            (yield* Effect.flip(Effect.asVoid(wallet.payments.pay(payment(COIN)))))._tag,
            "FundsMissing"
          )
          assert.match((yield* refusedBump(node, transaction.txidKey)).message, /descendants|already bumped/)
          yield* minePool
          assert.isTrue(wallet.ledger.coins().every(({ safe }) => safe))
          const spent = yield* refusedBump(node, key)
          assert.match(spent.message, /^[0-9a-f]{64}:\d+ is already spent$/)
          assert.deepInclude(spent, { code: "spent" })
        }))
    }))

  it.scopedLive("replaces outputs and change, and pays from the change alone if there is nothing else", () =>
    Effect.gen(function*() {
      yield* withWallets(yield* fundedDirectory, (node) =>
        Effect.gen(function*() {
          const { pool, wallet } = node
          const first = yield* wallet.payments.pay(payment(COIN))
          const key = first.transaction.txidKey
          const change = first.transaction.outputs[first.changePosition] ?? assert.fail("no change")
          assert.match((yield* refusedBump(node, key, { changeIndex: 2 })).message, /^Change position is out of range$/)
          const other = { value: 2 * COIN, script: ADDRESS }
          const second = yield* wallet.payments.bump(key, { outputs: [other] })
          assert.deepInclude(second.funded.transaction.outputs, other)
          const third = yield* wallet.payments.bump(second.funded.transaction.txidKey, {
            outputs: [{ ...change, value: 20 * COIN }]
          })
          const { outputs } = third.funded.transaction
          assert.strictEqual(outputs.reduce((sum, { value }) => sum + value, 0), 50 * COIN - third.funded.fee)
          assert.isTrue(outputs.some(({ value }) => value === 20 * COIN - third.funded.fee))
          assert.isDefined(pool.get(third.funded.transaction.txidKey))
          const [at] = outputs.keys()
          const fourth = yield* wallet.payments.bump(third.funded.transaction.txidKey, { changeIndex: at ?? 0 })
          assert.isDefined(pool.get(fourth.funded.transaction.txidKey))
        }))
    }))

  it.scopedLive("leaves transactions with inputs of others to replacement, which sizes these as they were signed", () =>
    Effect.gen(function*() {
      yield* withWallets(yield* fundedDirectory, (node) =>
        Effect.gen(function*() {
          const { mine, pool, wallet } = node
          const [coinbase] = (yield* mine(1)).transactions
          yield* mine(100)
          const foreign = { transaction: coinbase ?? assert.fail("no coinbase"), vout: 0 }
          const prevout = outpoint(foreign.transaction.txid, 0)
          const weights = new Map([[outpointKey(prevout), 4 * (41 + UNLOCK.length)]])
          /** The transaction with the foreign input unlocked, too. */
          const unlocked = ({ inputs, ...rest }: Transaction): Transaction =>
            makeTransaction({
              ...rest,
              inputs: inputs.map((each) => equal(each.prevout, prevout) ? { ...each, scriptSig: UNLOCK } : each)
            })
          const [own] = wallet.ledger.coins()
          const joint = yield* wallet.payments.fund(payment(60 * COIN, {
            inputs: [{ outpoint: outpointKey(prevout) }, { outpoint: own?.outpoint ?? assert.fail("no coin") }],
            external: { known: NO_PROVIDER, weights }
          }))
          const first = unlocked(joint.transaction)
          yield* wallet.payments.commit(first)
          assert.isDefined(pool.get(first.txidKey))
          assert.strictEqual(
            (yield* refusedBump(node, first.txidKey)).message,
            "Transaction contains inputs that don't belong to this wallet"
          )
          const { funded, oldFee } = yield* wallet.payments.replacement(first.txidKey, { feeRate: 200_000 })
          assert.strictEqual(oldFee, joint.fee)
          assert.strictEqual(funded.fee, feeOf(200_000, first.virtualSize))
          const replacing = unlocked(funded.transaction)
          yield* pool.accept(replacing)
          assert.isUndefined(pool.get(first.txidKey))
        }))
    }))
})
