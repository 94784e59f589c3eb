import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { rejectionText } from "../../src/mempool/errors.ts"
import { entryUsage } from "../../src/mempool/memoryUsage.ts"
import type { PackageResult } from "../../src/mempool/Mempool.ts"
import { concat, displayHash } from "../../src/protocol/bytes.ts"
import { wtxidKey } from "../../src/protocol/keys.ts"
import { Op } from "../../src/protocol/script.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import { ADDRESS, FEE, nameTx, output, pay, reward, type TestNode, UNLOCK, withNode } from "../support/mempool.ts"
import { currency, input, nameNew, saltOf, text } from "../support/regtest.ts"

const words = ({ outcomes }: PackageResult, { wtxid }: Transaction): string => {
  const outcome = outcomes.get(wtxidKey(wtxid))
  return outcome?.type === "rejected" ? rejectionText(outcome.rejected) : outcome?.type ?? "nothing"
}

/** The text of the package, and that of each transaction. */
const offer = ({ pool }: TestNode, transactions: ReadonlyArray<Transaction>, maxFeeRate?: number) =>
  Effect.map(
    Effect.orDie(pool.submit(transactions, maxFeeRate)),
    (result) => [result.refused ?? "success", ...transactions.map((transaction) => words(result, transaction))]
  )

const id = ({ txid }: Transaction): string => displayHash(txid)

/** Virtual bytes of a transaction with an input and an output. */
const SIZE = 85

describe("a package", () => {
  it.live("a child pays for a parent that pays nothing, at the rate of both", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const parent = pay([reward(1)], { fee: 0 })
        const child = pay([output(parent)], { fee: 3 * FEE })
        assert.strictEqual((yield* node.refused(parent)).kind, "underpaid")
        const { outcomes, refused } = yield* Effect.orDie(node.pool.submit([parent, child]))
        assert.isUndefined(refused)
        for (const { wtxid } of [parent, child]) {
          const outcome = outcomes.get(wtxidKey(wtxid))
          if (outcome?.type !== "accepted") return assert.fail("not accepted")
          assert.strictEqual(outcome.effectiveFeeRate, Math.floor(3 * FEE * 1000 / (2 * SIZE)))
          assert.deepStrictEqual(outcome.includes.map(id), [parent, child].map(id))
          assert.isTrue(outcome.entry.inPackage)
        }
        assert.isTrue(node.has(parent) && node.has(child))
        assert.deepStrictEqual(yield* offer(node, [parent, child]), ["success", "present", "present"])
      })
    ))

  it.live("a parent that pays for itself is accepted alone, whatever becomes of the others", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const [rich, poor] = [pay([reward(1)]), pay([reward(2)], { fee: 0 })]
        const child = pay([output(rich), output(poor)], { fee: 100 })
        const [text, ...each] = yield* offer(node, [rich, poor, child])
        assert.strictEqual(text, "transaction failed")
        assert.deepStrictEqual(each, [
          "accepted",
          `min relay fee not met, 0 < ${SIZE * 100}`,
          `min relay fee not met, 100 < ${(poor.virtualSize + child.virtualSize) * 100}`
        ])
        assert.deepStrictEqual([node.has(rich), node.has(poor), node.has(child)], [true, false, false])
      })
    ))

  it.live("the fee of a parent that needs no help does not count for the others", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const [rich, poor] = [pay([reward(1)], { fee: 50 * FEE }), pay([reward(2)], { fee: 0 })]
        const child = pay([output(rich), output(poor)], { fee: 20_000 })
        assert.strictEqual((yield* offer(node, [rich, poor, child]))[0], "transaction failed")
      })
    ))

  it.live("an invalid transaction ends it, and its own reason is told", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const parent = pay([reward(1)], { fee: 0 })
        const scriptSig = concat(Uint8Array.of(Op.OP_1), UNLOCK)
        const bad = currency([input(output(parent), { scriptSig })], [{ value: 1_000_000, script: ADDRESS }])
        const [text, first, second] = yield* offer(node, [parent, bad])
        assert.strictEqual(text, "transaction failed")
        assert.strictEqual(first, `min relay fee not met, 0 < ${SIZE * 100}`)
        assert.match(second ?? "", /^mempool-script-verify-flag-failed/)
        assert.strictEqual(node.pool.info().size, 0)
      })
    ))

  it.live("is refused as a whole for its form", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const [a, b] = [pay([reward(1)]), pay([reward(2)])]
        const child = pay([output(a)])
        const nothing = ["nothing", "nothing"]
        assert.deepStrictEqual(yield* offer(node, [a, b]), ["package-not-child-with-parents", ...nothing])
        assert.deepStrictEqual(yield* offer(node, [child, a]), ["package-not-sorted", ...nothing])
        assert.deepStrictEqual(yield* offer(node, [a, a]), ["package-contains-duplicates", ...nothing])
        assert.strictEqual(node.pool.info().size, 0)
      })
    ))

  it.live("a rate above the caller's limit is a mistake, even where the pool would accept it", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const parent = pay([reward(1)])
        const child = pay([output(parent)], { fee: 2 * FEE })
        const rate = FEE * 1000 / SIZE
        assert.deepStrictEqual(yield* offer(node, [parent, child], rate + 1), [
          "transaction failed",
          "accepted",
          "max feerate exceeded"
        ])
        const poor = pay([reward(2)], { fee: 0 })
        const payer = pay([output(poor)], { fee: 2 * FEE })
        assert.deepStrictEqual(yield* offer(node, [poor, payer], rate), [
          "transaction failed",
          `min relay fee not met, 0 < ${SIZE * 100}`,
          "max feerate exceeded"
        ])
        assert.deepStrictEqual(yield* offer(node, [poor, payer], 2 * rate), ["success", "accepted", "accepted"])
      })
    ))

  it.live("a parent and a child replace others together", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const old = yield* node.take(pay([reward(1)], { fee: 2 * FEE }))
        const heir = yield* node.take(pay([output(old)]))
        const parent = pay([reward(1)], { fee: FEE / 2 })
        const poor = pay([output(parent)], { fee: FEE })
        const [text] = yield* offer(node, [parent, poor])
        assert.strictEqual(
          text,
          `package RBF failed: insufficient anti-DoS fees, rejecting replacement ${
            id(poor)
          }, less fees than conflicting txs; 0.0015 < 0.003`
        )
        const payer = pay([output(parent)], { fee: 5 * FEE })
        const { outcomes, refused } = yield* Effect.orDie(node.pool.submit([parent, payer]))
        assert.isUndefined(refused)
        const replaced = [parent, payer].flatMap(({ wtxid }) => {
          const outcome = outcomes.get(wtxidKey(wtxid))
          return outcome?.type === "accepted" ? outcome.replaced.map(({ transaction }) => id(transaction)) : []
        })
        assert.deepStrictEqual(replaced, [old, heir].map(id))
        assert.deepStrictEqual([old, heir, parent, payer].map(node.has), [false, false, true, true])
      })
    ))

  it.live("replaces nothing with a parent in the pool, with two parents, or with a child that pays less", () =>
    withNode((node) =>
      Effect.gen(function*() {
        yield* node.take(pay([reward(1)], { fee: 2 * FEE }))
        const waiting = yield* node.take(pay([reward(2)]))
        const reason = (transactions: ReadonlyArray<Transaction>) =>
          Effect.map(offer(node, transactions), ([text]) => text)
        const poor = pay([reward(1), output(waiting)], { fee: FEE })
        assert.strictEqual(
          yield* reason([poor, pay([output(poor)], { fee: 5 * FEE })]),
          "package RBF failed: new transaction cannot have mempool ancestors"
        )
        const [a, b] = [pay([reward(1)], { fee: FEE }), pay([reward(3)], { fee: 0 })]
        assert.strictEqual(
          yield* reason([a, b, pay([output(a), output(b)], { fee: 9 * FEE })]),
          "package RBF failed: package must be 1-parent-1-child"
        )
        const same = pay([reward(1)], { fee: 2 * FEE + 1 })
        assert.match(
          (yield* reason([same, pay([output(same)], { fee: FEE })])) ?? "",
          /^package RBF failed: package feerate is less than or equal to parent feerate, package feerate 0\.01764711 NMC\/kvB <= /
        )
      })
    ))

  it.live("dust of a parent without fee has to be spent by its child", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const parent = pay([reward(1)], { fee: 0, more: [{ value: 1, script: ADDRESS }] })
        const careless = pay([output(parent)], { fee: 5 * FEE })
        const [text, , second] = yield* offer(node, [parent, careless])
        assert.strictEqual(text, "unspent-dust")
        assert.match(second ?? "", /^missing-ephemeral-spends, tx .* did not spend parent's ephemeral dust$/)
        const careful = pay([output(parent), output(parent, 1)], { fee: 5 * FEE })
        assert.deepStrictEqual(yield* offer(node, [parent, careful]), ["success", "accepted", "accepted"])
      })
    ))

  it.live("transactions of version 3 come in pairs", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const [a, b] = [1, 2].map((height) => pay([reward(height)], { fee: 0, version: 3 }))
        if (a === undefined || b === undefined) return assert.fail()
        const two = pay([output(a), output(b)], { fee: 9 * FEE, version: 3 })
        const [text] = yield* offer(node, [a, b, two])
        assert.match(text ?? "", /^TRUC-violation, tx .* would have too many ancestors$/)
        const one = pay([output(a)], { fee: 9 * FEE, version: 3 })
        assert.deepStrictEqual(yield* offer(node, [a, one]), ["success", "accepted", "accepted"])
      })
    ))

  it.live("no two of its transactions register a name", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const [name, salts] = [text("d/a"), [saltOf(1), saltOf(2)]]
        const commitments = salts.map((salt, i) => nameTx(nameNew(name, salt), [reward(1 + i)]))
        yield* node.mine(commitments)
        yield* node.mineEmpty(12)
        const register = (i: number, coins: ReadonlyArray<Parameters<typeof output>>) =>
          nameTx(
            { op: "name_firstupdate", name, rand: salts[i] ?? assert.fail(), value: text("x") },
            [output(commitments[i] ?? assert.fail()), ...coins.map((coin) => output(...coin))],
            { fee: i === 0 ? 0 : 9 * FEE }
          )
        const parent = register(0, [[commitments[0] ?? assert.fail(), 1]])
        const child = register(1, [[parent, 1]])
        const [text_, , second] = yield* offer(node, [parent, child])
        assert.deepStrictEqual([text_, second], ["transaction failed", "txn-mempool-name-error"])
        assert.strictEqual(node.pool.info().size, 0)
      })
    ))

  it.live("what a full pool evicts at once is refused", () => {
    const parent = pay([reward(1)], { fee: 0 })
    const child = pay([output(parent)], { fee: 20_000 })
    return withNode((node) =>
      Effect.gen(function*() {
        yield* node.take(pay([reward(2)], { fee: 9 * FEE }))
        assert.deepStrictEqual(yield* offer(node, [parent, child]), [
          "transaction failed",
          "mempool full",
          "mempool full"
        ])
        assert.strictEqual(node.pool.info().size, 1)
      }), { maxUsage: 2 * entryUsage(parent) })
  })

  it.live("of one transaction is that transaction", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const poor = pay([reward(1)], { fee: 0 })
        assert.deepStrictEqual(yield* offer(node, [poor]), [
          "transaction failed",
          `min relay fee not met, 0 < ${SIZE * 100}`
        ])
        assert.deepStrictEqual(yield* offer(node, [pay([reward(1)])]), ["success", "accepted"])
      })
    ))
})
