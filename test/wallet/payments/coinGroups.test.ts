import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { groupsOf } from "../../../src/wallet/payments/coinGroups.ts"
import type { WeighedCoin } from "../../../src/wallet/payments/Draft.ts"
import { fundTransaction } from "../../../src/wallet/payments/fund.ts"
import type { PaymentRequest } from "../../../src/wallet/payments/WalletPayments.ts"
import { legacy, ownScript, P2PKH, P2PKH_WEIGHT, seeded } from "./coins.ts"

const OTHER = P2PKH.map((byte, at) => at === 5 ? byte + 1 : byte)

/** Coins of 1,000,000, each of one of two scripts. */
const coins = (count: number, script = P2PKH, from = 1): ReadonlyArray<WeighedCoin> =>
  Array.from({ length: count }, (_, n) => legacy(from + n, 1_000_000, { own: ownScript({ script }) }))

/** The number of inputs of a payment. */
const spent = (candidates: ReadonlyArray<WeighedCoin>, value: number, request: Partial<PaymentRequest> = {}): number =>
  Either.match(
    fundTransaction({
      request: { outputs: [{ value, script: P2PKH }], avoidPartialSpends: true, ...request },
      preset: [],
      candidates,
      feeRate: 1_000,
      discardRate: 1_000,
      longTermRate: 1_000,
      dustRate: 3_000,
      change: { script: P2PKH, spendWeight: P2PKH_WEIGHT },
      tipHeight: 200,
      maxFee: 100_000_000,
      random: seeded(3)
    }),
    { onLeft: ({ message }) => assert.fail(message), onRight: ({ coins }) => coins.length }
  )

describe("coins of one script", () => {
  it("are one group up to a hundred, and the rest of more is partial", () => {
    const sizes = (groups: ReadonlyArray<ReadonlyArray<unknown>>) => groups.map(({ length }) => length)
    const three = groupsOf([...coins(202), ...coins(3, OTHER, 300)])
    assert.deepStrictEqual([sizes(three.whole), sizes(three.partial)], [[100, 100, 3], [2]])
    const one = groupsOf(coins(100))
    assert.deepStrictEqual([sizes(one.whole), sizes(one.partial)], [[100], []])
    assert.deepStrictEqual(groupsOf([]), { whole: [], partial: [] })
  })

  it("are spent together or not at all", () => {
    assert.strictEqual(spent(coins(5), 500_000), 5)
    assert.strictEqual(spent(coins(5), 500_000, { avoidPartialSpends: false }), 1)
    assert.strictEqual(spent([...coins(5), ...coins(2, OTHER, 50)], 6_500_000), 7)
  })

  it("are spent from whole groups first, and from partial ones where those do not suffice", () => {
    assert.strictEqual(spent(coins(101), 500_000), 100)
    assert.strictEqual(spent(coins(202), 200_500_000), 202)
  })

  it("stay apart from unconfirmed coins of other scripts while the confirmed ones suffice", () => {
    const fresh = legacy(90, 1_000_000, { own: ownScript({ script: OTHER }), height: undefined })
    assert.strictEqual(spent([...coins(2), fresh], 1_500_000), 2)
    assert.strictEqual(spent([...coins(2), fresh], 2_500_000), 3)
  })
})
