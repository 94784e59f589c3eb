import { assert, describe, it } from "@effect/vitest"
import { txidKey } from "../../../src/protocol/keys.ts"
import { parseNameScript } from "../../../src/protocol/nameOperation.ts"
import type { WalletCoin } from "../../../src/wallet/ledger/WalletLedger.ts"
import { eligible } from "../../../src/wallet/payments/eligible.ts"
import type { PaymentRequest } from "../../../src/wallet/payments/WalletPayments.ts"
import { coin, ownScript, P2PKH } from "./coins.ts"

const NAME = parseNameScript(Uint8Array.of(0x53, 1, 97, 1, 98, 0x6d, 0x75, ...P2PKH))

const TIP = 300

const isEligible = (overrides: Partial<WalletCoin>, request: Partial<PaymentRequest> = {}, watchOnly = false) =>
  eligible([coin(1, 5_000, overrides)], { outputs: [], ...request }, { tipHeight: TIP, watchOnly }).length === 1

describe("eligible", () => {
  it.each<{ coin: Partial<WalletCoin>; request?: Partial<PaymentRequest>; is: boolean; why: string }>([
    { coin: {}, is: true, why: "an ordinary coin" },
    { coin: { name: NAME }, is: false, why: "a name is not money" },
    { coin: { locked: true }, is: false, why: "the owner locked it" },
    { coin: { expired: true }, is: false, why: "it is gone" },
    { coin: { safe: false, height: undefined }, is: false, why: "another wallet may replace it" },
    { coin: { safe: false, height: undefined }, request: { includeUnsafe: true }, is: true, why: "asked for" },
    { coin: { height: undefined }, is: true, why: "change of our own" },
    { coin: { height: undefined }, request: { minConfirmations: 1 }, is: false, why: "not confirmed" },
    { coin: { height: undefined }, request: { version: 3 }, is: true, why: "the mempool takes the child" },
    { coin: { height: TIP }, request: { minConfirmations: 1 }, is: true, why: "one confirmation" },
    { coin: { height: TIP - 4 }, request: { minConfirmations: 6 }, is: false, why: "five of six" },
    { coin: { height: TIP - 5 }, request: { minConfirmations: 6 }, is: true, why: "six of six" },
    { coin: { height: TIP - 5 }, request: { maxConfirmations: 6 }, is: true, why: "six, no more than six" },
    { coin: { height: TIP - 6 }, request: { maxConfirmations: 6 }, is: false, why: "seven" },
    { coin: { coinbase: true, height: TIP - 99 }, is: false, why: "100 confirmations" },
    { coin: { coinbase: true, height: TIP - 100 }, is: true, why: "101 confirmations" },
    { coin: { own: ownScript({ spendable: false }) }, is: false, why: "this wallet has no key for it" }
  ])("returns $is: $why", ({ coin, is, request }) => {
    assert.strictEqual(isEligible(coin, request), is)
  })

  it("accepts coins without keys in a watch-only wallet", () => {
    assert.isTrue(isEligible({ own: ownScript({ spendable: false }) }, {}, true))
  })

  it("asks the mempool with the version of the payment for each unconfirmed coin, and for no other", () => {
    const asked: Array<readonly [string, number]> = []
    const takesChild = (parent: string, version: number): boolean => {
      asked.push([parent, version])
      return version === 3
    }
    const pending = coin(1, 5_000, { height: undefined })
    const choose = (version?: number) =>
      eligible([pending, coin(2, 5_000)], version === undefined ? {} : { version }, { tipHeight: TIP, takesChild })
    assert.strictEqual(choose().length, 1)
    assert.strictEqual(choose(3).length, 2)
    assert.deepStrictEqual(asked, [[txidKey(pending.txid), 2], [txidKey(pending.txid), 3]])
  })

  it("keeps the unconfirmed coins of one transaction for version 3: of the given parent, else of the largest sum", () => {
    const two = coin(1, 3_000, { height: undefined })
    const twin = { ...two, outpoint: coin(9, 1).outpoint, vout: 1 }
    const large = coin(2, 5_000, { height: undefined })
    const old = coin(3, 1)
    const choose = (version: number, ...parents: ReadonlyArray<WalletCoin>) =>
      eligible([two, twin, large, old], { version }, {
        tipHeight: TIP,
        parents: new Set(parents.map(({ txid }) => txidKey(txid)))
      })
    assert.deepStrictEqual(choose(3), [two, twin, old])
    assert.deepStrictEqual(choose(3, large), [large, old])
    assert.deepStrictEqual(choose(3, coin(7, 1)), [old])
    assert.deepStrictEqual(choose(2), [two, twin, large, old])
  })

  it("skips coins that are inputs of the request", () => {
    const { outpoint } = coin(1, 5_000)
    assert.isFalse(isEligible({}, { inputs: [{ outpoint }] }))
  })
})
