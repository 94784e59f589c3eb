import { assert, describe, it } from "@effect/vitest"
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
    { coin: { name: NAME }, is: false, why: "a name is no money" },
    { coin: { locked: true }, is: false, why: "the owner locked it" },
    { coin: { expired: true }, is: false, why: "it is gone" },
    { coin: { trusted: false, height: undefined }, is: false, why: "another wallet may replace it" },
    { coin: { trusted: false, height: undefined }, request: { includeUnsafe: true }, is: true, why: "asked for" },
    { coin: { height: undefined }, is: true, why: "change of our own" },
    { coin: { height: undefined }, request: { minConfirmations: 1 }, is: false, why: "not confirmed" },
    { coin: { height: undefined }, request: { version: 3 }, is: false, why: "version 3 on another version" },
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

  it("skips coins that are inputs of the request", () => {
    const { outpoint } = coin(1, 5_000)
    assert.isFalse(isEligible({}, { inputs: [{ outpoint }] }))
  })
})
