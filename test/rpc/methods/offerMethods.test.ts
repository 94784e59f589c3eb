import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { displayHash } from "../../../src/protocol/bytes.ts"
import type { NameOperation } from "../../../src/protocol/nameOperation.ts"
import { Op } from "../../../src/protocol/script.ts"
import { layer } from "../../support/layer.ts"
import { FEE, nameTx, output, pay, reward } from "../../support/mempool.ts"
import { MethodNode } from "../../support/methodNode.ts"
import { text } from "../../support/regtest.ts"
import { hexOf, mine, spendableNode } from "../../support/spendableNode.ts"

const idOf = ({ txid }: { readonly txid: Uint8Array }): string => displayHash(txid)

const FEE_EXCEEDED = "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)"
const BURN_EXCEEDED = "Unspendable output exceeds maximum configured by user (maxburnamount)"
const RATE_REFUSED = { code: -8, message: "Fee rates larger than or equal to 1BTC/kvB are not accepted" }

/** Version 1, one input that spends an unknown coin, one output. */
const LOST = "01000000011111111111111111111111111111111111111111111111111111111111111111000000000000000000" +
  "0140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

layer(spendableNode)("sendrawtransaction", (it) => {
  it.effect("accepts a transaction, returns its txid again, and refuses it once it is mined", () =>
    Effect.gen(function*() {
      const { call, pool, refusal } = yield* MethodNode
      const transaction = pay([reward(1)], { outputs: 2 })
      const { text } = yield* call("sendrawtransaction", hexOf(transaction))
      assert.strictEqual(text, `"${idOf(transaction)}"`)
      assert.isTrue(pool.isUnbroadcast(transaction.txidKey))
      pool.broadcastDone(transaction.txidKey)
      assert.strictEqual((yield* call("sendrawtransaction", hexOf(transaction).toUpperCase())).text, text)
      assert.isFalse(pool.isUnbroadcast(transaction.txidKey), "some peer has requested it")
      // One unspent output is enough to detect that.
      yield* mine(transaction, pay([output(transaction)]))
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", hexOf(transaction)), {
        code: -27,
        message: "Transaction outputs already in utxo set"
      })
    }))

  it.effect("refuses the transactions that the mempool refuses, with its reason", () =>
    Effect.gen(function*() {
      const { pool, refusal } = yield* MethodNode
      for (const maxfeerate of [undefined, 0]) {
        assert.deepStrictEqual(yield* refusal("sendrawtransaction", LOST, maxfeerate), {
          code: -25,
          message: "bad-txns-inputs-missingorspent"
        })
        const operation: NameOperation = { op: "name_update", name: text("d/x"), value: text("1") }
        assert.deepStrictEqual(
          yield* refusal("sendrawtransaction", hexOf(nameTx(operation, [reward(2)])), maxfeerate),
          {
            code: -26,
            message: "tx-nameupdate-without-name-input, Name update has no previous name input"
          }
        )
        const cheap = pay([reward(2)], { fee: 1 })
        assert.deepStrictEqual(yield* refusal("sendrawtransaction", hexOf(cheap), maxfeerate), {
          code: -26,
          message: `min relay fee not met, 1 < ${Math.ceil(cheap.virtualSize * 100)}`
        })
        assert.deepStrictEqual(yield* refusal("sendrawtransaction", hexOf(pay([reward(120)])), maxfeerate), {
          code: -26,
          message: "bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 21"
        })
      }
      assert.strictEqual(pool.info().size, 0)
    }))

  it.effect("refuses an undecodable transaction", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      // The last one has an output, but no inputs: only methods that build transactions read it.
      const empty = "0200000000010000000000000000015100000000"
      for (const given of ["", "c0ffee", "zz", LOST.slice(2), `${LOST}00`, empty]) {
        assert.deepStrictEqual(yield* refusal("sendrawtransaction", given), {
          code: -22,
          message: "TX decode failed. Make sure the tx has at least one input."
        })
      }
      assert.strictEqual((yield* refusal("sendrawtransaction", 1)).code, -3)
    }))

  it.effect("refuses a fee above the limit, and accepts one at it", () =>
    Effect.gen(function*() {
      const { call, pool, refusal } = yield* MethodNode
      const size = pay([reward(3)]).virtualSize
      const most = Math.ceil((0.1e8 * size) / 1000)
      const tooMuch = { code: -25, message: FEE_EXCEEDED }
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", hexOf(pay([reward(3)], { fee: most + 1 }))), tooMuch)
      assert.strictEqual(pool.info().size, 0)
      yield* call("sendrawtransaction", hexOf(pay([reward(3)], { fee: most })))
      const dear = hexOf(pay([reward(4)], { fee: 11 * most }))
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", dear), tooMuch)
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", dear, "0.2"), tooMuch)
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", dear, 1), RATE_REFUSED)
      assert.strictEqual((yield* refusal("sendrawtransaction", "c0ffee", 1)).code, -22, "the transaction comes first")
      assert.strictEqual((yield* refusal("sendrawtransaction", "c0ffee", [])).code, -22)
      assert.strictEqual((yield* refusal("sendrawtransaction", "c0ffee", 1, [])).code, -3, "but not before the burning")
      assert.strictEqual((yield* refusal("sendrawtransaction", dear, [])).code, -3)
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", dear, "1.00000001"), RATE_REFUSED)
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", dear, "0.99999999"), tooMuch)
      yield* call("sendrawtransaction", dear, 0)
      assert.strictEqual(pool.info().size, 2)
    }))

  it.effect("refuses to burn more than its caller allows", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const burning = (script: Uint8Array) => hexOf(pay([reward(5)], { more: [{ value: 1000, script }] }))
      const nullData = burning(Uint8Array.of(Op.OP_RETURN, 1, 7))
      const refused = { code: -25, message: BURN_EXCEEDED }
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", nullData), refused)
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", nullData, null, "0.00000999"), refused)
      // These outputs are unspendable too: an unknown opcode, a truncated push.
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", burning(Uint8Array.of(0xff))), refused)
      assert.deepStrictEqual(yield* refusal("sendrawtransaction", burning(Uint8Array.of(5, 1))), refused)
      yield* call("sendrawtransaction", nullData, null, "0.00001")
    }))
})

layer(spendableNode)("testmempoolaccept", (it) => {
  it.effect("reports whether one transaction would be accepted", () =>
    Effect.gen(function*() {
      const { call, pool } = yield* MethodNode
      const good = pay([reward(1)])
      const ids = { txid: idOf(good), wtxid: displayHash(good.wtxid) }
      assert.deepStrictEqual((yield* call("testmempoolaccept", [hexOf(good)])).value, [{
        ...ids,
        allowed: true,
        vsize: good.virtualSize,
        fees: {
          base: 0.001,
          "effective-feerate": Math.floor((FEE * 1000) / good.virtualSize) / 1e8,
          "effective-includes": [ids.wtxid]
        }
      }])
      assert.strictEqual(pool.info().size, 0)
      assert.deepStrictEqual((yield* call("testmempoolaccept", [hexOf(good)], "0.00100000")).value, [
        { ...ids, allowed: false, "reject-reason": "max-fee-exceeded" }
      ])
      const [lost] = Object((yield* call("testmempoolaccept", [LOST])).value)
      assert.deepInclude(lost, { allowed: false, "reject-reason": "missing-inputs" })
      assert.notProperty(lost, "reject-details")
      const cheap = pay([reward(1)], { fee: 1 })
      assert.deepStrictEqual((yield* call("testmempoolaccept", [hexOf(cheap)])).value, [{
        txid: idOf(cheap),
        wtxid: displayHash(cheap.wtxid),
        allowed: false,
        "reject-reason": "min relay fee not met",
        "reject-details": `min relay fee not met, 1 < ${cheap.virtualSize * 100}`
      }])
      yield* Effect.orDie(pool.accept(good))
      assert.deepStrictEqual((yield* call("testmempoolaccept", [hexOf(good)])).value, [{
        ...ids,
        allowed: false,
        "reject-reason": "txn-already-in-mempool",
        "reject-details": "txn-already-in-mempool"
      }])
    }))

  it.effect("reports the first failure of several transactions, and no verdict on the later ones", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const parent = pay([reward(2)])
      const child = pay([output(parent)])
      const ids = [parent, child].map((each) => ({ txid: idOf(each), wtxid: displayHash(each.wtxid) }))
      const verdicts = (...given: ReadonlyArray<string>) =>
        Effect.map(call("testmempoolaccept", given), ({ value }): ReadonlyArray<unknown> => Object(value))
      const good = yield* verdicts(hexOf(parent), hexOf(child))
      assert.deepInclude(good[0], { ...ids[0], allowed: true })
      assert.deepInclude(good[1], { ...ids[1], allowed: true })
      assert.deepStrictEqual(yield* verdicts(hexOf(child), hexOf(parent)), [
        { ...ids[1], "package-error": "package-not-sorted" },
        { ...ids[0], "package-error": "package-not-sorted" }
      ])
      const [before, refused] = yield* verdicts(hexOf(parent), LOST)
      assert.deepStrictEqual(before, ids[0])
      assert.deepInclude(refused, { allowed: false, "reject-reason": "missing-inputs" })
      // A transaction with too high a fee ends the list too; the ones before it are validated.
      const dear = pay([output(parent)], { fee: 3_000_000 })
      const last = pay([output(dear)])
      const [first, second, third] = yield* verdicts(hexOf(parent), hexOf(dear), hexOf(last))
      assert.deepInclude(first, { allowed: true })
      assert.deepInclude(second, { allowed: false, "reject-reason": "max-fee-exceeded" })
      assert.deepStrictEqual(third, { txid: idOf(last), wtxid: displayHash(last.wtxid) })
    }))

  it.effect("refuses invalid packages", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const count = { code: -8, message: "Array must contain between 1 and 25 transactions." }
      assert.deepStrictEqual(yield* refusal("testmempoolaccept", []), count)
      assert.deepStrictEqual(yield* refusal("testmempoolaccept", Array.from({ length: 26 }, () => LOST)), count)
      assert.deepStrictEqual(yield* refusal("testmempoolaccept", [LOST, "c0ffee"]), {
        code: -22,
        message: "TX decode failed: c0ffee Make sure the tx has at least one input."
      })
      assert.deepStrictEqual(yield* refusal("testmempoolaccept", [LOST], 1), RATE_REFUSED)
      assert.deepStrictEqual(yield* refusal("testmempoolaccept", ["c0ffee"], 1), RATE_REFUSED)
      assert.deepStrictEqual(yield* refusal("testmempoolaccept", [], 1), count)
      assert.strictEqual((yield* refusal("testmempoolaccept", [1])).code, -3)
    }))
})
