import { assert, describe, it } from "@effect/vitest"
import { regtestParams } from "../../../src/consensus/params.ts"
import { binaryString, displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { addressScript, NAME_TX_VERSION, nameScript } from "../../../src/protocol/nameOperation.ts"
import { outpoint, outpointKey, type Transaction } from "../../../src/protocol/transaction.ts"
import type { OwnScript } from "../../../src/wallet/keys/WalletKeys.ts"
import { documentEntry } from "../../../src/wallet/ledger/entries.ts"
import { Ledger } from "../../../src/wallet/ledger/Ledger.ts"
import { ownScript } from "../../support/fakeWallet.ts"
import { ANYONE, currency, input, makeCoinbase, text } from "../../support/regtest.ts"

const mine = ownScript(1)

const own = (script: Uint8Array): OwnScript | undefined =>
  toHex(addressScript(script)) === toHex(mine.script) ? mine : undefined

const ledgerAt = (height: number): Ledger => {
  const ledger = new Ledger({ params: regtestParams, own })
  ledger.tip = { height, hash: new Uint8Array(32) }
  return ledger
}

const at = (
  height: number,
  index = 1
) => ({ type: "confirmed", height, hash: new Uint8Array(32), index, blockTime: height } as const)

const PENDING = { type: "pending" } as const
const INACTIVE = { type: "inactive", abandoned: false } as const
const ABANDONED = { type: "inactive", abandoned: true } as const

const foreign = currency([], [{ value: 9, script: ANYONE }])

const paying = (value: number, from: Transaction = foreign, vout = 0, script = mine.script) =>
  currency([input({ transaction: from, vout })], [{ value, script }])

const keyOf = (transaction: Transaction, vout = 0) => outpointKey(outpoint(transaction.txid, vout))

const named = (name: string, from: Transaction, value = "v", script = mine.script) =>
  currency(
    [input({ transaction: from, vout: 0 })],
    [{ value: 7, script: nameScript({ op: "name_update", name: text(name), value: text(value) }, script) }],
    { version: NAME_TX_VERSION }
  )

describe("Ledger", () => {
  it("confirmed coins and pending change of our own are trusted, payments of others are not", () => {
    const ledger = ledgerAt(10)
    const [old, incoming] = [paying(100), paying(40, foreign, 1)]
    ledger.put({ transaction: old, state: at(5), time: 1 })
    ledger.put({ transaction: incoming, state: PENDING, time: 2 })
    assert.deepStrictEqual(ledger.balances(), { trusted: 100, untrustedPending: 40, immature: 0 })
    const change = paying(90, old)
    ledger.put({ transaction: change, state: PENDING, time: 3 })
    assert.deepStrictEqual(ledger.balances(), { trusted: 90, untrustedPending: 40, immature: 0 })
    ledger.put({ transaction: paying(80, change), state: PENDING, time: 4 })
    assert.deepStrictEqual(ledger.balances(), { trusted: 80, untrustedPending: 40, immature: 0 })
    ledger.put({ transaction: paying(30, incoming), state: PENDING, time: 5 })
    assert.deepStrictEqual(ledger.balances(), { trusted: 80, untrustedPending: 30, immature: 0 })
    assert.deepStrictEqual(ledger.get(change.txidKey)?.spent, [old.outputs[0]])
  })

  it("a reward is immature up to a hundred blocks", () => {
    const coinbase = makeCoinbase(1, [{ value: 50, script: mine.script }])
    for (const [tip, immature] of [[1, 50], [100, 50], [101, 0]] as const) {
      const ledger = ledgerAt(tip)
      ledger.put({ transaction: coinbase, state: at(1, 0), time: 1 })
      assert.deepStrictEqual(ledger.balances(), { trusted: 50 - immature, untrustedPending: 0, immature })
    }
  })

  it("inactive transactions keep their inputs spent, abandoned and conflicted ones do not", () => {
    const ledger = ledgerAt(10)
    const old = paying(100)
    const [spend, after] = [paying(90, old), paying(80, paying(90, old))]
    ledger.put({ transaction: old, state: at(5), time: 1 })
    ledger.put({ transaction: spend, state: INACTIVE, time: 2 })
    ledger.put({ transaction: after, state: INACTIVE, time: 3 })
    assert.deepStrictEqual(ledger.coins(), [])
    assert.deepStrictEqual(ledger.abandon(spend.txidKey).map(({ key }) => key), [spend.txidKey, after.txidKey])
    assert.deepStrictEqual(ledger.coins().map((coin) => coin.outpoint), [keyOf(old)])
    ledger.report(spend.txidKey, INACTIVE)
    ledger.conflict(spend.txidKey, 9)
    assert.deepStrictEqual(ledger.get(after.txidKey)?.state, { type: "conflicted", height: 9 })
    assert.isTrue(ledger.isUnspent(keyOf(old)))
    ledger.rewind({ height: 9, hash: new Uint8Array(32) })
    assert.strictEqual(ledger.get(spend.txidKey)?.state.type, "conflicted")
    ledger.rewind({ height: 8, hash: new Uint8Array(32) })
    assert.deepStrictEqual(ledger.get(spend.txidKey)?.state, INACTIVE)
  })

  it("an abandoned transaction stays abandoned while it is conflicted, and after", () => {
    const ledger = ledgerAt(10)
    const old = paying(100)
    const spend = paying(90, old)
    ledger.put({ transaction: old, state: at(5), time: 1 })
    ledger.put({ transaction: spend, state: INACTIVE, time: 2 })
    const kept = () => documentEntry(ledger.entry(spend.txidKey) ?? assert.fail()).abandoned
    ledger.abandon(spend.txidKey)
    assert.isTrue(kept())
    ledger.conflict(spend.txidKey, 9)
    assert.isTrue(kept())
    ledger.rewind({ height: 8, hash: new Uint8Array(32) })
    assert.deepStrictEqual(ledger.get(spend.txidKey)?.state, { type: "inactive", abandoned: true })
    // A block contradicts that.
    ledger.report(spend.txidKey, at(9))
    assert.isFalse(kept())
    ledger.rewind({ height: 8, hash: new Uint8Array(32) })
    assert.deepStrictEqual(ledger.get(spend.txidKey)?.state, INACTIVE)
  })

  it("a conflict ends with the last of the blocks that justify it, in whatever order the wallet learns of them", () => {
    const back = (height: number) => ({ height, hash: new Uint8Array(32) })
    const conflicted = { type: "conflicted", height: 8 } as const
    const [left, right] = [paying(100), paying(100, foreign, 1)]
    const lost = currency([input({ transaction: left, vout: 0 }), input({ transaction: right, vout: 0 })], [
      { value: 150, script: mine.script }
    ])
    const child = paying(140, lost)
    const rivals = [paying(90, left), paying(90, right)] as const
    for (const childFirst of [true, false]) {
      const ledger = ledgerAt(10)
      ledger.put({ transaction: left, state: at(5), time: 1 })
      ledger.put({ transaction: right, state: at(5), time: 1 })
      ledger.put({ transaction: lost, state: PENDING, time: 2 })
      if (childFirst) ledger.put({ transaction: child, state: PENDING, time: 3 })
      // One block has a transaction of the wallet, the other one of a stranger.
      ledger.put({ transaction: rivals[0], state: at(8), time: 4 })
      ledger.conflict(lost.txidKey, 10)
      if (!childFirst) ledger.put({ transaction: child, state: PENDING, time: 3 })
      const states = () => [lost, child].map(({ txidKey }) => ledger.get(txidKey)?.state)
      assert.deepStrictEqual(states(), [conflicted, conflicted])
      ledger.rewind(back(9))
      assert.deepStrictEqual(states(), [conflicted, conflicted])
      ledger.put({ transaction: rivals[1], state: at(10), time: 5 })
      // The mempool may still have it, and a removed transaction leaves what it showed.
      ledger.report(lost.txidKey, PENDING)
      ledger.remove(rivals[0].txidKey)
      assert.deepStrictEqual(states(), [conflicted, conflicted])
      ledger.rewind(back(7))
      assert.deepStrictEqual(states(), [PENDING, PENDING])
    }
  })

  it("while the mempool has another transaction in its place, a payment and what depends on it keep no coins", () => {
    const ledger = ledgerAt(10)
    const [left, right] = [paying(100), paying(100, foreign, 1)]
    const lost = currency([input({ transaction: left, vout: 0 }), input({ transaction: right, vout: 0 })], [
      { value: 150, script: mine.script }
    ])
    for (const transaction of [left, right]) ledger.put({ transaction, state: at(5), time: 1 })
    const child = paying(140, lost)
    for (const transaction of [lost, child]) ledger.put({ transaction, state: INACTIVE, time: 2 })
    const rival = paying(90, left, 0, ANYONE)
    const displaced = () => [lost, child].map(({ txidKey }) => ledger.entry(txidKey)?.displacedBy.size)
    assert.deepStrictEqual(ledger.coins(), [])
    ledger.displace(rival, true)
    assert.deepStrictEqual(displaced(), [1, 1])
    assert.deepStrictEqual(ledger.coins().map(({ outpoint }) => outpoint), [keyOf(left), keyOf(right)])
    assert.isUndefined(ledger.claimant(rival))
    ledger.displace(rival, false)
    assert.deepStrictEqual(ledger.coins(), [])
    ledger.displace(rival, true)
    ledger.report(lost.txidKey, at(9))
    ledger.displace(rival, false)
    assert.deepStrictEqual(displaced(), [0, 0])
  })

  it("a payment is free of a displacement whose ancestors blocks have confirmed meanwhile", () => {
    const ledger = ledgerAt(10)
    const left = paying(100)
    ledger.put({ transaction: left, state: at(5), time: 1 })
    const first = paying(95, left)
    const second = paying(90, first)
    const third = paying(85, second)
    for (const transaction of [first, second, third]) ledger.put({ transaction, state: INACTIVE, time: 2 })
    const rival = paying(80, left, 0, ANYONE)
    ledger.displace(rival, true)
    for (const { txidKey } of [first, second]) ledger.report(txidKey, at(9))
    ledger.displace(rival, false)
    assert.deepStrictEqual([first, second, third].map(({ txidKey }) => ledger.entry(txidKey)?.displacedBy.size), [
      0,
      0,
      0
    ])
  })

  it("what depends on a removed conflict stays a conflict", () => {
    const ledger = ledgerAt(10)
    const old = paying(100)
    const [lost, child] = [paying(90, old), paying(80, paying(90, old))]
    for (const transaction of [old, lost, child]) ledger.put({ transaction, state: PENDING, time: 1 })
    ledger.conflict(lost.txidKey, 9)
    ledger.remove(lost.txidKey)
    assert.deepStrictEqual(ledger.get(child.txidKey)?.state, { type: "conflicted", height: 9 })
  })

  it("live transactions claim coins, except for the transaction itself and those that it replaced", () => {
    const ledger = ledgerAt(10)
    const old = paying(100)
    const [first, second] = [paying(90, old), paying(91, old)]
    ledger.put({ transaction: old, state: at(5), time: 1 })
    assert.isUndefined(ledger.claimant(first))
    ledger.put({ transaction: first, state: INACTIVE, time: 2 })
    assert.isUndefined(ledger.claimant(first))
    assert.strictEqual(ledger.claimant(second)?.key, first.txidKey)
    for (const [report, claims] of [[PENDING, true], [ABANDONED, false], [INACTIVE, true]] as const) {
      ledger.report(first.txidKey, report)
      assert.strictEqual(ledger.claimant(second) !== undefined, claims, report.type)
    }
    ledger.conflict(first.txidKey, 9)
    assert.isUndefined(ledger.claimant(second))
    ledger.rewind({ height: 8, hash: new Uint8Array(32) })
    ledger.report(first.txidKey, at(9))
    assert.isDefined(ledger.claimant(second))
    ledger.rewind({ height: 8, hash: new Uint8Array(32) })
    ledger.annotate(first.txidKey, { replacedBy: displayHash(second.txid) })
    assert.isUndefined(ledger.claimant(second))
    ledger.report(first.txidKey, PENDING)
    assert.isDefined(ledger.claimant(second), "the mempool still has it")
  })

  it("rivals are the transactions of any wallet that spend the same coins, and are identified by txid", () => {
    const ledger = ledgerAt(10)
    const old = paying(100)
    const [first, second] = [paying(90, old), paying(91, old)]
    ledger.put({ transaction: old, state: at(5), time: 1 })
    ledger.put({ transaction: first, state: PENDING, time: 2 })
    assert.deepStrictEqual(ledger.rivals(second).map(({ key }) => key), [first.txidKey])
    assert.deepStrictEqual(ledger.rivals(first), [])
    ledger.put({ transaction: second, state: at(10), time: 3 })
    assert.deepStrictEqual(ledger.conflictsOf(first.txidKey), [displayHash(second.txid)])
    ledger.remove(second.txidKey)
    assert.deepStrictEqual(ledger.conflictsOf(first.txidKey), [])
  })

  it("a rollback disconnects blocks, and a disconnected coinbase is worth nothing", () => {
    const ledger = ledgerAt(10)
    const [low, high] = [paying(1), paying(2, foreign, 1)]
    const coinbase = makeCoinbase(8, [{ value: 50, script: mine.script }])
    ledger.put({ transaction: low, state: at(7), time: 1 })
    ledger.put({ transaction: high, state: at(8), time: 2 })
    ledger.put({ transaction: coinbase, state: at(8, 0), time: 3 })
    assert.deepStrictEqual(ledger.confirmedAbove(7).map(({ key }) => key), [high.txidKey, coinbase.txidKey])
    ledger.rewind({ height: 7, hash: new Uint8Array(32) })
    assert.deepStrictEqual(ledger.get(high.txidKey)?.state, INACTIVE)
    assert.deepStrictEqual(ledger.get(coinbase.txidKey)?.state, { type: "inactive", abandoned: true })
    assert.deepStrictEqual(ledger.coins().map(({ outpoint }) => outpoint), [keyOf(low)])
  })

  it("a name's coin is not in the balance, and is gone once the name expires at the next block", () => {
    for (const [tip, expired] of [[38, false], [39, true]] as const) {
      const ledger = ledgerAt(tip)
      ledger.put({ transaction: named("d/a", foreign), state: at(10), time: 1 })
      assert.deepStrictEqual(ledger.balances(), { trusted: 0, untrustedPending: 0, immature: 0 })
      assert.deepStrictEqual(ledger.coins().map((coin) => coin.expired), [expired])
    }
  })

  it("names are listed with their newest confirmed operation, including names of others, in byte order", () => {
    const ledger = ledgerAt(20)
    const first = named("d/b", foreign, "old")
    const second = named("d/b", first, "new")
    const away = named("d/a", paying(3), "gone", ANYONE)
    ledger.put({ transaction: second, state: at(12), time: 2 })
    ledger.put({ transaction: first, state: at(11), time: 1 })
    ledger.put({ transaction: away, state: at(12, 2), time: 3 })
    ledger.put({ transaction: named("d/b", second, "pending"), state: PENDING, time: 4 })
    const listed = ledger.names().map(({ height, mine, name, operation }) => [
      binaryString(name),
      operation.op === "name_new" ? "" : binaryString(operation.value),
      height,
      mine
    ])
    assert.deepStrictEqual(listed, [["d/a", "gone", 12, false], ["d/b", "new", 12, true]])
  })

  it("parents recorded after the transactions that spend them do not count as unspent", () => {
    const ledger = ledgerAt(10)
    const parent = paying(100)
    const child = paying(90, parent)
    ledger.put({ transaction: child, state: at(6), time: 1 })
    assert.deepStrictEqual(ledger.get(child.txidKey)?.spent, [undefined])
    ledger.put({ transaction: parent, state: at(5), time: 1 })
    assert.deepStrictEqual(ledger.balances().trusted, 90)
    assert.deepStrictEqual(ledger.get(child.txidKey)?.spent, [parent.outputs[0]])
    assert.deepStrictEqual(ledger.transactions().map(({ order }) => order), [0, 1])
  })

  it("the ledger adds ten thousand chained transactions in little time", () => {
    const ledger = ledgerAt(20_000)
    let last = foreign
    const started = performance.now()
    for (let i = 0; i < 10_000; i++) {
      last = paying(20_000 - i, last)
      ledger.put({ transaction: last, state: at(i), time: i })
    }
    assert.strictEqual(ledger.balances().trusted, 10_001)
    assert.isBelow(performance.now() - started, 5_000)
  })
})
