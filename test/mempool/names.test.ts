import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { nameKey } from "../../src/protocol/keys.ts"
import type { NameOperation } from "../../src/protocol/nameOperation.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import { FEE, nameTx, output, pay, removals, reward, shown, type TestNode, withNode } from "../support/mempool.ts"
import { nameNew, saltOf, text } from "../support/regtest.ts"

const NAME = text("d/test")
const KEY = nameKey(NAME)

const first = (value = "one", rand = saltOf(1), name = NAME): NameOperation => ({
  op: "name_firstupdate",
  name,
  rand,
  value: text(value)
})

const update = (value: string, name = NAME): NameOperation => ({ op: "name_update", name, value: text(value) })

/** Mines a commitment, matures it, and mines the registration of the name. */
const register = ({ mine, mineEmpty }: TestNode): Effect.Effect<Transaction> =>
  Effect.gen(function*() {
    const commitment = nameTx(nameNew(NAME, saltOf(1)), [reward(1)])
    yield* mine([commitment])
    yield* mineEmpty(11)
    const registration = nameTx(first(), [output(commitment), output(commitment, 1)])
    yield* mine([registration])
    return registration
  })

/** Two commitments to the same name with different salts, both mined and mature. */
const twoCommitments = ({ mine, mineEmpty }: TestNode): Effect.Effect<readonly [Transaction, Transaction]> =>
  Effect.gen(function*() {
    const commitments = [
      nameTx(nameNew(NAME, saltOf(1)), [reward(1)]),
      nameTx(nameNew(NAME, saltOf(2)), [reward(2)])
    ] as const
    yield* mine(commitments)
    yield* mineEmpty(11)
    return commitments
  })

const registrationOf = (commitment: Transaction, salt: number, fee = FEE) =>
  nameTx(first("one", saltOf(salt)), [output(commitment), output(commitment, 1)], { fee })

const updateOf = (value: string, spent: Transaction, fee = FEE) =>
  nameTx(update(value), [output(spent), output(spent, 1)], { fee })

describe("names in the mempool", () => {
  it.live("M1: the pool remembers a commitment from its first transaction on, whatever happens to that", () =>
    withNode(({ has, mine, refused, take }) =>
      Effect.gen(function*() {
        const commitment = nameTx(nameNew(NAME, saltOf(1)), [reward(1)])
        yield* take(commitment)
        const other = nameTx(nameNew(NAME, saltOf(1)), [reward(2)])
        const error = yield* refused(other)
        assert.deepStrictEqual([error.kind, shown(error)], ["conflict", "txn-mempool-name-error"])
        // Not even with a higher fee.
        assert.strictEqual(
          (yield* refused(nameTx(nameNew(NAME, saltOf(1)), [reward(1)], { fee: 9 * FEE }))).reason,
          "txn-mempool-name-error"
        )
        yield* take(nameTx(nameNew(NAME, saltOf(2)), [reward(3)]))
        yield* mine([commitment])
        assert.isFalse(has(commitment))
        assert.strictEqual((yield* refused(other)).reason, "txn-mempool-name-error")
      })
    ))

  it.live("M1: the pool does not remember the commitment of a refused transaction or of a test", () =>
    withNode(({ pool, refused, take }) =>
      Effect.gen(function*() {
        yield* refused(nameTx(nameNew(NAME, saltOf(1)), [reward(1)], { fee: 0 }))
        yield* pool.test([nameTx(nameNew(NAME, saltOf(1)), [reward(1)])])
        yield* take(nameTx(nameNew(NAME, saltOf(1)), [reward(2)]))
      })
    ))

  it.live("M2: the pool accepts one registration of a name, and no fee replaces it", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const [a, b] = yield* twoCommitments(node)
        const registration = yield* node.take(registrationOf(a, 1))
        for (const other of [registrationOf(b, 2), registrationOf(b, 2, 9 * FEE), registrationOf(a, 1, 9 * FEE)]) {
          const error = yield* node.refused(other)
          assert.deepStrictEqual([error.kind, shown(error)], ["conflict", "txn-mempool-name-error"])
        }
        // A registration of another name is independent.
        const elsewhere = text("d/other")
        const commitment = yield* node.take(nameTx(nameNew(elsewhere, saltOf(3)), [reward(3)]))
        yield* node.take(nameTx(first("x", saltOf(3), elsewhere), [output(commitment), output(commitment, 1)]))
        assert.deepStrictEqual(node.pool.pending(KEY).map(({ transaction }) => transaction), [registration])
        assert.lengthOf(node.pool.pending(), 3)
      })
    ))

  it.live("M3: the pool chains updates and replaces them", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const registration = yield* register(node)
        const a = yield* node.take(updateOf("a", registration))
        const b = yield* node.take(updateOf("b", a))
        const c = yield* node.take(updateOf("c", b))
        assert.deepStrictEqual(node.pool.pending(KEY).map(({ transaction }) => transaction), [a, b, c])
        const instead = yield* node.take(updateOf("instead", a, 9 * FEE))
        assert.deepStrictEqual(node.pool.pending(KEY).map(({ transaction }) => transaction), [a, instead])
        assert.strictEqual(
          shown(yield* node.refused(nameTx(update("x", text("d/other")), [output(instead), output(instead, 1)]))),
          "tx-nameupdate-name-mismatch, NAME_UPDATE name mismatch to name input"
        )
      })
    ))

  it.live("M4: the pool accepts a registration before its commitment is mature, or mined", () =>
    withNode(({ has, mine, mineEmpty, take }) =>
      Effect.gen(function*() {
        const commitment = yield* take(nameTx(nameNew(NAME, saltOf(1)), [reward(1)]))
        const registration = yield* take(registrationOf(commitment, 1))
        const later = yield* take(updateOf("later", registration))
        yield* mine([commitment])
        yield* mineEmpty(11)
        assert.isTrue(has(registration) && has(later))
        yield* mine([registration, later])
        assert.isFalse(has(registration) || has(later))
      })
    ))

  it.live("the pool refuses transactions that break name rules", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const registration = yield* register(node)
        const short = text("d/short")
        const commitment = yield* node.take(nameTx(nameNew(short, new Uint8Array(19)), [reward(2)]))
        const spent = [output(commitment), output(commitment, 1)]
        assert.strictEqual(
          shown(yield* node.refused(nameTx(first("x", new Uint8Array(19), short), spent))),
          "tx-firstupdate-invalid-rand, NAME_FIRSTUPDATE rand value is too short"
        )
        assert.strictEqual(
          shown(yield* node.refused(nameTx(first("x", saltOf(9), short), spent))),
          "tx-firstupdate-hash-mismatch, NAME_FIRSTUPDATE mismatch in hash / rand value"
        )
        assert.strictEqual(
          shown(yield* node.refused(nameTx(update("x"), [output(commitment), output(commitment, 1)]))),
          "tx-nameupdate-invalid-prev, Name input for NAME_UPDATE is not an update"
        )
        const again = yield* node.take(nameTx(nameNew(NAME, saltOf(5)), [reward(3)]))
        assert.strictEqual(
          shown(yield* node.refused(nameTx(first("x", saltOf(5)), [output(again), output(again, 1)]))),
          "tx-firstupdate-existing-name, NAME_FIRSTUPDATE on existing name"
        )
        assert.strictEqual(
          shown(yield* node.refused(pay([output(registration), output(registration, 1)]))),
          "tx-nonname-with-name-input, Non-name transaction has name input"
        )
        const long = nameTx({ op: "name_update", name: NAME, value: new Uint8Array(1024) }, [
          output(registration),
          output(registration, 1)
        ])
        assert.strictEqual(shown(yield* node.refused(long)), "tx-value-invalid, Invalid value")
        yield* node.take(nameTx({ op: "name_update", name: NAME, value: new Uint8Array(1023) }, [
          output(registration),
          output(registration, 1)
        ], { fee: 2 * FEE }))
      })
    ))

  it.live("M5: a mined registration removes the one of the pool, with its descendants", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const [a, b] = yield* twoCommitments(node)
        const registration = yield* node.take(registrationOf(a, 1))
        const later = yield* node.take(updateOf("later", registration))
        const bystander = yield* node.take(pay([reward(5)]))
        const removed = yield* removals(node)
        yield* node.mine([registrationOf(b, 2)])
        assert.isFalse(node.has(registration) || node.has(later))
        assert.isTrue(node.has(bystander))
        assert.deepStrictEqual(yield* removed, [[later.txidKey, "name-conflict"], [
          registration.txidKey,
          "name-conflict"
        ]])
      })
    ))

  it.live("M5: the pool drops updates of a name when its coin expires, one block before the name is free", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const registration = yield* register(node)
        const commitment = nameTx(nameNew(NAME, saltOf(7)), [reward(4)])
        yield* node.mine([commitment])
        const a = yield* node.take(updateOf("a", registration))
        const b = yield* node.take(updateOf("b", a))
        // Registered at h, expired at h + 30: its coin is gone with block h + 29; one block is mined already.
        yield* node.mineEmpty(27)
        assert.isTrue(node.has(a) && node.has(b))
        const early = nameTx(first("x", saltOf(7)), [output(commitment), output(commitment, 1)])
        assert.strictEqual((yield* node.refused(early)).reason, "tx-firstupdate-existing-name")
        const removed = yield* removals(node)
        yield* node.mineEmpty(1)
        assert.isFalse(node.has(a) || node.has(b))
        assert.deepStrictEqual((yield* removed).map(([, reason]) => reason), ["name-conflict", "name-conflict"])
        assert.strictEqual((yield* node.refused(updateOf("c", registration))).reason, "bad-txns-inputs-missingorspent")
        // Now any wallet may register it, and update that registration.
        yield* node.take(early)
        const after = yield* node.take(updateOf("after", early))
        yield* node.mineEmpty(2)
        assert.isTrue(node.has(early) && node.has(after))
      })
    ))

  it.live("M6: the pool drops a registration of a name that a reorg registers again", () =>
    withNode((node) =>
      Effect.gen(function*() {
        yield* register(node)
        const commitment = nameTx(nameNew(NAME, saltOf(7)), [reward(4)])
        yield* node.mine([commitment])
        yield* node.mineEmpty(28)
        const tip = yield* node.chain.tip
        const registration = yield* node.take(
          nameTx(first("x", saltOf(7)), [output(commitment), output(commitment, 1)])
        )
        const later = yield* node.take(updateOf("later", registration))
        const removed = yield* removals(node)
        yield* node.chain.control.invalidate(tip.hash)
        assert.isFalse(node.has(registration) || node.has(later))
        assert.deepStrictEqual((yield* removed).map(([, reason]) => reason), ["name-conflict", "name-conflict"])
      })
    ))

  it.live("a disconnected registration returns to the pool, with the updates made meanwhile as its children", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const registration = yield* register(node)
        const tip = yield* node.chain.tip
        const a = yield* node.take(updateOf("a", registration))
        yield* node.chain.control.invalidate(tip.hash)
        assert.isTrue(node.has(registration) && node.has(a))
        assert.deepStrictEqual(node.pool.parents(a.txidKey).map(({ transaction }) => transaction.txidKey), [
          registration.txidKey
        ])
        assert.deepStrictEqual(node.pool.pending(KEY).map(({ transaction }) => transaction.txidKey), [
          registration.txidKey,
          a.txidKey
        ])
        assert.strictEqual(node.pool.get(registration.txidKey)?.sequence, 0)
      })
    ))
})
