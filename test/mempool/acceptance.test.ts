import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { RejectionKind } from "../../src/mempool/errors.ts"
import { MAX_MONEY } from "../../src/protocol/amount.ts"
import { concat, displayHash } from "../../src/protocol/bytes.ts"
import { sha256 } from "../../src/protocol/hash.ts"
import { wtxidKey } from "../../src/protocol/keys.ts"
import { NAME_TX_VERSION } from "../../src/protocol/nameOperation.ts"
import { Op, pushData } from "../../src/protocol/script.ts"
import { outpoint, type Transaction } from "../../src/protocol/transaction.ts"
import {
  ADDRESS,
  BASE,
  FEE,
  nameTx,
  output,
  pay,
  reward,
  shown,
  spending,
  type TestNode,
  UNLOCK,
  withNode
} from "../support/mempool.ts"
import { coinbaseInput, currency, nameNew, saltOf, text } from "../support/regtest.ts"

const SOME_HASH = new Uint8Array(32).fill(7)

/** A witness program whose script is true. */
const TRUE_SCRIPT = Uint8Array.of(Op.OP_1)
const WITNESS_ADDRESS = concat(Uint8Array.of(Op.OP_0, 32), sha256(TRUE_SCRIPT))

const coin = reward(1)
const value = 5_000_000_000

const to = (amount: number, script = ADDRESS) => ({ value: amount, script })

const nullData = (size: number) => to(0, concat(Uint8Array.of(Op.OP_RETURN), pushData(new Uint8Array(size))))

const UNCLEAN = currency(
  [spending(coin, { scriptSig: concat(pushData(Uint8Array.of(1, 2)), UNLOCK) })],
  [to(value - FEE)]
)

const NAMED = nameTx(nameNew(text("d/a"), saltOf(1)), [coin])

const expectRefusal = (
  { pool, refused }: TestNode,
  transaction: Transaction,
  kind: RejectionKind,
  words: string
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const [trial] = yield* Effect.orDie(pool.test([transaction]))
    const error = yield* refused(transaction)
    assert.deepStrictEqual([error.kind, shown(error)], [kind, words])
    assert.strictEqual(error.txid, displayHash(transaction.txid))
    // A test returns the same, and leaves nothing in the pool.
    assert.deepStrictEqual(trial, { type: "rejected", rejected: error })
    assert.strictEqual(pool.get(transaction.txidKey), undefined)
  })

/** Refusals of transactions that only need coins of the base chain. */
const REFUSALS: ReadonlyArray<readonly [string, Transaction, RejectionKind, string]> = [
  ["without inputs", currency([], [to(1)]), "consensus", "bad-txns-vin-empty"],
  ["without outputs", currency([spending(coin)], []), "consensus", "bad-txns-vout-empty"],
  ["with a negative amount", currency([spending(coin)], [to(-1)]), "consensus", "bad-txns-vout-negative"],
  [
    "that spends a coin twice",
    currency([spending(coin), spending(coin)], [to(1)]),
    "consensus",
    "bad-txns-inputs-duplicate"
  ],
  [
    "with a null input",
    currency([spending(coin), coinbaseInput(UNLOCK)], [to(1)]),
    "consensus",
    "bad-txns-prevout-null"
  ],
  ["that is a coinbase", currency([coinbaseInput(UNLOCK)], [to(1)]), "consensus", "coinbase"],
  ["of version 0", pay([coin], { version: 0 }), "policy", "version"],
  ["of version 4", pay([coin], { version: 4 }), "policy", "version"],
  [
    "with a long scriptSig",
    currency([spending(coin, { scriptSig: new Uint8Array(1651) })], [to(1)]),
    "policy",
    "scriptsig-size"
  ],
  [
    "with code in its scriptSig",
    currency([spending(coin, { scriptSig: Uint8Array.of(Op.OP_1, Op.OP_DUP) })], [to(1)]),
    "policy",
    "scriptsig-not-pushonly"
  ],
  ["with a script of no known form", pay([coin], { more: [to(1000, TRUE_SCRIPT)] }), "policy", "scriptpubkey"],
  ["that is too heavy", pay([coin], { outputs: 3200 }), "policy", "tx-size"],
  ["with two outputs of dust", pay([coin], { fee: 0, more: [to(1), to(1)] }), "policy", "dust"],
  ["with dust and a fee", pay([coin], { more: [to(1)] }), "policy", "dust, tx with dust output must be 0-fee"],
  [
    "that could pass for a node of a tree",
    currency([spending(coin, { scriptSig: new Uint8Array(0) })], [to(0, Uint8Array.of(Op.OP_RETURN))]),
    "policy",
    "tx-size-small"
  ],
  ["that waits for a height", pay([coin], { lockTime: BASE + 1 }), "premature", "non-final"],
  [
    "with an unknown input",
    currency([spending(coin, { prevout: outpoint(SOME_HASH, 0) })], [to(1)]),
    "missing-inputs",
    "bad-txns-inputs-missingorspent"
  ],
  ["with a relative lock", pay([coin], { sequence: BASE + 1 }), "premature", "non-BIP68-final"],
  [
    "that spends a young coinbase",
    pay([reward(BASE - 98)]),
    "premature",
    "bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 99"
  ],
  [
    "that pays more than it has",
    currency([spending(coin)], [to(value + 1)]),
    "consensus",
    "bad-txns-in-belowout, value in (50.00) < value out (50.00000001)"
  ],
  [
    "with a witness that belongs nowhere",
    currency([spending(coin, { witness: [TRUE_SCRIPT] })], [to(value - FEE)]),
    "witness",
    "bad-witness-nonstandard"
  ],
  [
    "that pays a little too little",
    pay([coin], { fee: 8_499 }),
    "underpaid",
    "min relay fee not met, 8499 < 8500"
  ],
  [
    "with a name but not its version",
    currency(NAMED.inputs, NAMED.outputs),
    "consensus",
    "tx-nonname-with-name-output, Non-name transaction has name output"
  ],
  [
    "of the version of names without a name",
    pay([coin], { version: NAME_TX_VERSION }),
    "consensus",
    "tx-name-without-name-output, Name transaction has no name output"
  ],
  [
    "with too little in its name",
    nameTx(nameNew(text("d/a"), saltOf(1)), [coin], { amount: 999_999 }),
    "consensus",
    "tx-name-greedy, Greedy name operation"
  ],
  [
    "that updates without a name to spend",
    nameTx({ op: "name_update", name: text("d/a"), value: text("x") }, [coin]),
    "consensus",
    "tx-nameupdate-without-name-input, Name update has no previous name input"
  ],
  [
    "that leaves something on the stack",
    UNCLEAN,
    "policy",
    `mempool-script-verify-flag-failed (Stack size must be exactly one after execution), input 0 of ${
      displayHash(UNCLEAN.txid)
    } (wtxid ${displayHash(UNCLEAN.txid)}), spending ${displayHash(coin.transaction.txid)}:0`
  ]
]

describe("acceptance", () => {
  it.live("refuses transactions that break a rule, with the reference node's reason", () =>
    withNode((node) =>
      Effect.gen(function*() {
        for (const [, transaction, kind, words] of REFUSALS) yield* expectRefusal(node, transaction, kind, words)
        assert.strictEqual(node.pool.info().size, 0)
        assert.strictEqual(node.pool.info().sequence, 1)
      })
    ))

  it.live("accepts transactions just within the limits", () =>
    withNode(({ take, pool }) =>
      Effect.gen(function*() {
        yield* take(pay([reward(1)], { version: 1 }))
        yield* take(pay([reward(2)], { version: 3 }))
        yield* take(pay([reward(3)], { lockTime: BASE }))
        yield* take(pay([reward(4)], { lockTime: BASE + 1, sequence: 0xffffffff }))
        // Mined at height 5: the next block is at BASE + 1.
        yield* take(pay([reward(5)], { sequence: BASE + 1 - 5 }))
        yield* take(pay([reward(BASE - 99)]))
        yield* take(pay([reward(6)], { fee: 8_500 }))
        yield* take(pay([reward(7)], { fee: 60_000_000, more: [nullData(49_000), nullData(49_000)] }))
        assert.strictEqual(pool.info().size, 8)
      })
    ))

  it.live("refuses a wrong signature by consensus, not by policy", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const wrong = currency([spending(coin, { scriptSig: pushData(Uint8Array.of(Op.OP_1, Op.OP_NOP)) })], [to(1)])
        const error = yield* node.refused(wrong)
        assert.deepStrictEqual([error.kind, error.reason], [
          "consensus",
          "mempool-script-verify-flag-failed (Script evaluated without error but finished with a false/empty top stack element)"
        ])
      }), { policy: { requireStandard: false } }))

  it.live("follows the operator's policy", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const data = yield* node.refused(pay([reward(1)], { more: [nullData(100)] }))
        assert.strictEqual(data.reason, "datacarrier")
        const small = yield* node.refused(pay([reward(2)], { more: [{ value: 99_000, script: ADDRESS }], fee: FEE }))
        assert.strictEqual(small.reason, "dust")
        const parent = yield* node.take(pay([reward(3)]))
        const child = yield* node.take(pay([output(parent)]))
        const third = yield* node.refused(pay([output(child)]))
        assert.strictEqual(third.reason, "too-large-cluster")
        const heavy = node.pool.get(parent.txidKey)
        assert.strictEqual(heavy?.weight, Math.max(parent.weight, 10_000 * (heavy?.sigopCost ?? 0)))
      }), {
      policy: {
        maxNullData: 0,
        dustFeeRate: 1_000_000,
        weightPerSigopCost: 10_000,
        cluster: { count: 2, weight: 400_000 }
      }
    }))

  it.live("refuses a stripped witness as a witness failure", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const made = yield* node.take(pay([coin], { more: [to(1_000_000, WITNESS_ADDRESS)] }))
        const spent = { transaction: made, vout: 1 }
        const bare = currency([spending(spent, { scriptSig: new Uint8Array(0) })], [to(1_000_000 - FEE)])
        const stripped = yield* node.refused(bare)
        assert.deepStrictEqual([stripped.kind, stripped.reason], [
          "witness",
          "mempool-script-verify-flag-failed (Witness program was passed an empty witness)"
        ])
        const witness = [TRUE_SCRIPT]
        const whole = currency([spending(spent, { scriptSig: new Uint8Array(0), witness })], [to(1_000_000 - FEE)])
        assert.strictEqual(whole.txidKey, bare.txidKey)
        yield* node.take(whole)
        assert.strictEqual(node.pool.getByWtxid(wtxidKey(whole.wtxid))?.transaction, whole)
        yield* expectRefusalOf(node, whole, "txn-already-in-mempool")
        yield* expectRefusalOf(node, bare, "txn-same-nonwitness-data-in-mempool")
      })
    ))

  it.live("recognises confirmed transactions, and those that spend them", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const mined = pay([coin])
        yield* node.mine([mined])
        yield* expectRefusalOf(node, mined, "txn-already-known")
        const again = pay([coin], { fee: 2 * FEE })
        assert.strictEqual((yield* node.refused(again)).reason, "bad-txns-inputs-missingorspent")
        yield* node.take(pay([output(mined)]))
      })
    ))

  it.live("refuses scripts with too many signature operations", () =>
    withNode((node) =>
      Effect.gen(function*() {
        // Each output counts for 20 operations outside of witnesses, at four units each.
        const many = (count: number) =>
          currency([spending(coin)], [
            ...Array.from({ length: count }, () => to(1, new Uint8Array(10).fill(Op.OP_CHECKMULTISIG))),
            to(value - 10_000_000 - count)
          ])
        const error = yield* node.refused(many(21))
        assert.strictEqual(shown(error), "bad-txns-too-many-sigops, 16800")
        yield* node.take(many(20))
      }), { policy: { requireStandard: false } }))

  it.live("checks a fee below 0 against the minimum relay fee while the rolling minimum is 0", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const poor = pay([coin], { fee: 0 })
        yield* node.pool.prioritise(poor.txidKey, -100_000)
        assert.strictEqual(shown(yield* node.refused(poor)), "min relay fee not met, -100000 < 8500")
      })
    ))

  it.live("counts each change that affects a block template, and fee changes not as acceptances", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const counts = () => {
          const { changes, sequence } = node.pool.info()
          return [changes, sequence]
        }
        const stranger = pay([reward(2)])
        assert.deepStrictEqual(counts(), [0, 1])
        const taken = yield* node.take(pay([coin]))
        assert.deepStrictEqual(counts(), [1, 2])
        assert.isTrue(yield* node.pool.prioritise(taken.txidKey, 1))
        assert.deepStrictEqual(counts(), [2, 2])
        assert.isTrue(yield* node.pool.prioritise(stranger.txidKey, 1))
        assert.deepStrictEqual(counts(), [3, 2])
        yield* node.mine([taken])
        assert.deepStrictEqual(counts(), [4, 3])
      })
    ))

  it.live("limits the fee deltas of a transaction to all money, up or down", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const { txidKey } = yield* node.take(pay([coin]))
        const add = (delta: number) => node.pool.prioritise(txidKey, delta)
        assert.isTrue(yield* add(MAX_MONEY))
        const { changes } = node.pool.info()
        assert.isFalse(yield* add(1))
        assert.deepStrictEqual([node.pool.prioritised().get(txidKey), node.pool.info().changes], [MAX_MONEY, changes])
        assert.strictEqual(node.pool.get(txidKey)?.modifiedFee, FEE + MAX_MONEY)
        assert.isTrue(yield* add(-MAX_MONEY))
        assert.isTrue(yield* add(-MAX_MONEY))
        assert.isFalse(yield* add(-1))
        assert.isFalse(yield* add(NaN))
        assert.strictEqual(node.pool.prioritised().get(txidKey), -MAX_MONEY)
      })
    ))

  it.live("counts fee deltas", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const poor = pay([coin], { fee: 0 })
        assert.strictEqual(shown(yield* node.refused(poor)), "min relay fee not met, 0 < 8500")
        yield* node.pool.prioritise(poor.txidKey, 8_499)
        assert.strictEqual(shown(yield* node.refused(poor)), "min relay fee not met, 8499 < 8500")
        yield* node.pool.prioritise(poor.txidKey, 1)
        yield* node.take(poor)
        assert.deepStrictEqual([...node.pool.prioritised()], [[poor.txidKey, 8_500]])
        const entry = node.pool.get(poor.txidKey)
        assert.deepStrictEqual([entry?.fee, entry?.modifiedFee], [0, 8_500])
        assert.strictEqual(node.pool.chunkOf(poor.txidKey)?.fee, 8_500)
        yield* node.pool.prioritise(poor.txidKey, -8_500)
        assert.strictEqual(node.pool.prioritised().size, 0)
        assert.strictEqual(node.pool.chunkOf(poor.txidKey)?.fee, 0)
      })
    ))
})

const expectRefusalOf = ({ refused }: TestNode, transaction: Transaction, reason: string): Effect.Effect<void> =>
  Effect.map(refused(transaction), (error) => {
    assert.deepStrictEqual([error.reason, error.kind], [reason, "conflict"])
  })
