import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { isDust } from "../../../src/mempool/policy/dust.ts"
import { feeOf } from "../../../src/mempool/policy/feeRate.ts"
import { NAME_TX_VERSION, nameScript, parseNameScript } from "../../../src/protocol/nameOperation.ts"
import { outpointKey } from "../../../src/protocol/transaction.ts"
import { signedWeight, type WeighedCoin } from "../../../src/wallet/payments/Draft.ts"
import { type FundedDraft, type FundInput, fundTransaction } from "../../../src/wallet/payments/fund.ts"
import type { PaymentRequest } from "../../../src/wallet/payments/WalletPayments.ts"
import { inputFee, legacy, P2PKH, P2PKH_WEIGHT, P2WPKH, seeded, segwit } from "./coins.ts"

const RATE = 100_000

const inputOf = (
  request: Partial<PaymentRequest>,
  candidates: ReadonlyArray<WeighedCoin>,
  overrides: Partial<FundInput> = {}
): FundInput => ({
  request: { outputs: [{ value: 1_000_000, script: P2PKH }], ...request },
  preset: [],
  candidates,
  feeRate: RATE,
  discardRate: 10_000,
  longTermRate: 1_000_000,
  dustRate: 3_000,
  change: { script: P2PKH, spendWeight: P2PKH_WEIGHT },
  tipHeight: 200,
  maxFee: 10_000_000,
  random: seeded(2),
  ...overrides
})

const funded = (input: FundInput): FundedDraft =>
  Either.getOrElse(fundTransaction(input), (failure) => assert.fail(failure.message))

const refused = (input: FundInput) =>
  Either.match(fundTransaction(input), {
    onLeft: (failure) => failure,
    onRight: () => assert.fail("was paid for")
  })

const spent = ({ coins }: FundedDraft): number => coins.reduce((sum, { output }) => sum + output.value, 0)
const paid = ({ transaction }: FundedDraft): number => transaction.outputs.reduce((sum, { value }) => sum + value, 0)

/** The signed size, from the offered coins. */
const signedVsize = (draft: FundedDraft, input: FundInput): number => {
  const offered = new Map([...input.preset, ...input.candidates].map((weighed) => [weighed.coin.outpoint, weighed]))
  const inputs = draft.coins.flatMap(({ outpoint }) => offered.get(outpoint) ?? [])
  return Math.ceil(signedWeight(inputs, draft.transaction.outputs) / 4)
}

describe("fundTransaction", () => {
  it("spends coins of exactly the sum without change, even where the recipient pays the fee", () => {
    const candidates = [1, 2, 3].map((id) => segwit(id, 1e8))
    for (let seed = 1; seed <= 8; seed++) {
      const request = { outputs: [{ value: 2e8, script: P2WPKH }], subtractFeeFrom: [0] }
      const { changePosition, coins } = funded(
        inputOf(request, candidates, { longTermRate: 10_000, random: seeded(seed) })
      )
      assert.deepStrictEqual([coins.length, changePosition], [2, -1])
    }
  })

  it("refuses a payment of nothing for nothing, which would have no input", () => {
    const nothing = { outputs: [{ value: 0, script: Uint8Array.of(0x6a) }] }
    const reason = "Transaction requires one destination of non-zero value, a non-zero feerate, or a pre-selected input"
    const coins = [segwit(1, 1e8)]
    assert.deepInclude(refused(inputOf(nothing, coins, { feeRate: 0 })), { code: "nothing-paid" as const, reason })
    assert.lengthOf(funded(inputOf(nothing, [], { feeRate: 0, preset: coins })).coins, 1)
    assert.lengthOf(funded(inputOf(nothing, coins)).coins, 1)
  })

  it("pays, leaves change, and pays exactly the fee for the signed size", () => {
    const draft = funded(inputOf({}, [legacy(1, 50_000_000)]))
    // 226 bytes: a transaction with one such input and two such outputs.
    assert.strictEqual(draft.fee, feeOf(RATE, 226))
    assert.strictEqual(draft.transaction.outputs.length, 2)
    assert.strictEqual(draft.transaction.outputs[draft.changePosition]?.value, 49_000_000 - draft.fee)
    assert.strictEqual(draft.transaction.version, 2)
    assert.strictEqual(draft.transaction.lockTime, 200)
    assert.deepStrictEqual(draft.transaction.inputs.map(({ sequence }) => sequence), [0xfffffffd])
  })

  it("counts marker, flag and empty witnesses of legacy inputs if one input has a witness", () => {
    const preset = [legacy(1, 600_000), segwit(2, 600_000)]
    const draft = funded(inputOf({ addInputs: false }, [], { preset }))
    const size = 8 + 1 + 1 + 34 * 2
    const weight = 4 * size + 2 + P2PKH_WEIGHT + 1 + (4 * 41 + 108)
    assert.strictEqual(draft.fee, feeOf(RATE, Math.ceil(weight / 4)))
  })

  it.each([
    { over: 0, change: 0, why: "nothing is over" },
    { over: 3_400 + 1_819, change: 0, why: "one less than change has to be: dust at the discard rate" },
    { over: 3_400 + 1_820, change: 1_820, why: "as much as change has to be" }
  ])("leaves $change as change for an excess of $over: $why", ({ change, over }) => {
    // 192 bytes without change; 34 more with it, at 100 per byte. Spending costs 1,480; dust at 10 per byte is 182
    // bytes.
    const value = 1_000_000 + feeOf(RATE, 192) + over
    const draft = funded(inputOf({}, [legacy(1, value)]))
    assert.strictEqual(draft.transaction.outputs[draft.changePosition]?.value ?? 0, change)
    assert.strictEqual(draft.fee + paid(draft), value)
  })

  it("reports the missing amount, and the fee if only the fee is missing", () => {
    const without = refused(inputOf({}, [legacy(1, 999_999)]))
    assert.deepInclude(without, { _tag: "FundsMissing", needed: 1_000_000, available: 999_999 })
    const exact = refused(inputOf({}, [legacy(1, 1_000_000)]))
    assert.deepInclude(exact, {
      _tag: "FundsMissing",
      needed: 1_000_000,
      available: 1_000_000 - 14_800,
      fee: feeOf(RATE, 45)
    })
    assert.strictEqual(exact.message, "0.00019300 NMC are missing")
    assert.strictEqual(refused(inputOf({}, []))._tag, "FundsMissing")
    assert.strictEqual(refused(inputOf({}, [legacy(1, 1_019_199)]))._tag, "FundsMissing")
    assert.strictEqual(funded(inputOf({}, [legacy(1, 1_019_200)])).fee, 19_200)
  })

  it.each([
    { outputs: [], code: "nothing-paid" as const, reason: "Transaction must have at least one recipient" },
    { outputs: [{ value: 545, script: P2PKH }], reason: "Transaction amount too small" },
    { outputs: [{ value: -1, script: P2PKH }], reason: "Transaction amounts must not be negative" }
  ])("refuses $reason", ({ code = "too-small" as const, outputs, reason }) => {
    assert.deepInclude(refused(inputOf({ outputs }, [legacy(1, 5e7)])), { code, reason })
  })

  it("accepts an output just above dust, and data without value", () => {
    const outputs = [{ value: 546, script: P2PKH }, { value: 0, script: Uint8Array.of(0x6a, 1, 1) }]
    assert.strictEqual(funded(inputOf({ outputs }, [legacy(1, 5e7)])).transaction.outputs.length, 3)
  })

  it("refuses a fee above the maximum, and accepts the maximum", () => {
    const fee = feeOf(RATE, 226)
    assert.strictEqual(funded(inputOf({}, [legacy(1, 5e7)], { maxFee: fee })).fee, fee)
    assert.deepInclude(refused(inputOf({}, [legacy(1, 5e7)], { maxFee: fee - 1 })), { code: "fee-too-high" })
  })

  it("refuses a transaction whose outputs or inputs are too heavy", () => {
    const many = Array.from({ length: 3_000 }, () => ({ value: 1_000, script: P2PKH }))
    assert.deepInclude(refused(inputOf({ outputs: many }, [legacy(1, 5e9)])), { code: "too-large" })
    const small = Array.from({ length: 700 }, (_, i) => legacy(i, 100_000))
    const request = { outputs: [{ value: 700 * 85_000, script: P2PKH }] }
    assert.deepInclude(refused(inputOf(request, small)), { code: "too-large" })
    const fitting = { outputs: [{ value: 670 * 84_000, script: P2PKH }] }
    assert.isAtMost(funded(inputOf(fitting, small)).coins.length, 675)
  })

  it("prefers confirmed coins, and adds unconfirmed ones if they do not suffice", () => {
    const pending = legacy(1, 5_000_000, { height: undefined })
    const old = legacy(2, 3_000_000)
    const few = funded(inputOf({}, [pending, old]))
    assert.deepStrictEqual(few.coins, [old.coin])
    const all = funded(inputOf({ outputs: [{ value: 7_000_000, script: P2PKH }] }, [pending, old]))
    assert.strictEqual(all.coins.length, 2)
  })

  it("spends names only as given inputs, first and in order, and locks them again", () => {
    const operation = { op: "name_update", name: Uint8Array.of(1), value: Uint8Array.of(2) } as const
    const script = nameScript(operation, P2PKH)
    const held = legacy(1, 1_000_000, { name: parseNameScript(script), output: { value: 1_000_000, script } })
    const request = { outputs: [{ value: 1_000_000, script }], version: NAME_TX_VERSION }
    assert.strictEqual(refused(inputOf(request, [held]))._tag, "FundsMissing")
    const draft = funded(inputOf(request, [held, legacy(2, 40_000), legacy(3, 2e6)], { preset: [held] }))
    assert.strictEqual(draft.coins[0]?.outpoint, held.coin.outpoint)
    assert.strictEqual(draft.coins.filter(({ outpoint }) => outpoint === held.coin.outpoint).length, 1)
    assert.strictEqual(draft.transaction.version, NAME_TX_VERSION)
    assert.isTrue(draft.transaction.outputs.some((output) => output.script === script && output.value === 1_000_000))
  })

  it("adds no input if the given ones suffice, or if the request forbids it", () => {
    const preset = [legacy(1, 2_000_000)]
    assert.strictEqual(funded(inputOf({}, [legacy(2, 5e7)], { preset })).coins.length, 1)
    const request = { outputs: [{ value: 3_000_000, script: P2PKH }], addInputs: false }
    assert.match(
      refused(inputOf(request, [legacy(2, 5e7)], { preset })).message,
      /^The preselected coins total amount does not cover/
    )
  })

  it("keeps requested sequences and lock time, and sets no lock time beside a sequence", () => {
    const preset = [{ ...legacy(1, 5e7), sequence: 12 }]
    const own = funded(inputOf({}, [], { preset })).transaction
    assert.deepStrictEqual([own.inputs[0]?.sequence, own.lockTime], [12, 0])
    const given = funded(inputOf({ lockTime: 7, replaceable: false }, [legacy(1, 5e7)])).transaction
    assert.deepStrictEqual([given.inputs[0]?.sequence, given.lockTime], [0xfffffffe, 7])
  })

  it("sets the lock time to the tip, sometimes up to 99 blocks earlier", () => {
    const lockTimes = Array.from(
      { length: 300 },
      (_, i) => funded(inputOf({}, [legacy(1, 5e7)], { random: seeded(i) })).transaction.lockTime
    )
    const earlier = lockTimes.filter((lockTime) => lockTime !== 200)
    assert.isAbove(earlier.length, 5)
    assert.isBelow(earlier.length, 80)
    for (const lockTime of lockTimes) assert.isTrue(lockTime <= 200 && lockTime > 100)
  })

  it("puts change at the requested position, and refuses one out of range", () => {
    for (const changePosition of [0, 1]) {
      assert.strictEqual(funded(inputOf({ changePosition }, [legacy(1, 5e7)])).changePosition, changePosition)
    }
    assert.deepInclude(refused(inputOf({ changePosition: 2 }, [legacy(1, 5e7)])), { code: "range" })
  })

  it("subtracts the fee from recipients in equal parts, the remainder from the first", () => {
    const outputs = [1e6, 2e6, 3e6, 4e6].map((value) => ({ value, script: P2PKH }))
    const request = { outputs, subtractFeeFrom: [3, 0, 2], changePosition: 4 }
    const draft = funded(inputOf(request, [legacy(1, 5e7)], { feeRate: 100_003 }))
    const share = Math.floor(draft.fee / 3)
    assert.notStrictEqual(draft.fee % 3, 0)
    assert.deepStrictEqual(draft.transaction.outputs.map(({ value }) => value), [
      1e6 - share - draft.fee % 3,
      2e6,
      3e6 - share,
      4e6 - share,
      4e7
    ])
  })

  it.each([
    { value: 19_200 + 545, code: "too-small" as const, reason: "after the fee has been deducted" },
    { value: 19_199, code: "below-fee" as const, reason: "too small to pay the fee" }
  ])("refuses a recipient's amount of $value: $code", ({ code, reason, value }) => {
    const outputs = [{ value, script: P2PKH }]
    const failure = refused(inputOf({ outputs, subtractFeeFrom: [0] }, [legacy(1, value)]))
    assert.deepInclude(failure, { code })
    assert.include(failure.message, reason)
  })

  it("leaves a recipient an amount just above dust", () => {
    const outputs = [{ value: 19_200 + 546, script: P2PKH }]
    const draft = funded(inputOf({ outputs, subtractFeeFrom: [0] }, [legacy(1, 19_746)]))
    assert.deepStrictEqual(draft.transaction.outputs.map(({ value }) => value), [546])
  })

  it("gives no recipient more than requested", () => {
    const outputs = [{ value: 100_000, script: P2PKH }]
    const draft = funded(inputOf({ outputs, subtractFeeFrom: [0] }, [legacy(1, 101_000)], { feeRate: 1_000 }))
    assert.deepStrictEqual([draft.transaction.outputs[0]?.value, draft.fee], [100_000, 1_000])
  })

  it("finds inputs that need no change", () => {
    const exact = [3_000_000 - 14_800, 4_000_000].map((value, i) => legacy(i + 10, value + 14_800))
    const other = [9e6, 8e6, 17e6].map((value, i) => legacy(i + 20, value))
    const target = 7_000_000 - 14_800 - feeOf(RATE, 44)
    const draft = funded(inputOf({ outputs: [{ value: target, script: P2PKH }] }, [...other, ...exact]))
    assert.strictEqual(draft.changePosition, -1)
    assert.strictEqual(draft.coins.length, 2)
  })

  const anyCoin = FastCheck.record({
    value: FastCheck.oneof(
      FastCheck.integer({ min: 1, max: 60_000 }),
      FastCheck.integer({ min: 1, max: 20_000_000 }),
      FastCheck.integer({ min: 1, max: 5_000_000_000 })
    ),
    old: FastCheck.boolean(),
    pending: FastCheck.boolean()
  })
  const weighed = (coins: ReadonlyArray<{ value: number; old: boolean; pending: boolean }>, from: number) =>
    coins.map(({ old, pending, value }, i) =>
      (old ? legacy : segwit)(from + i, value, pending ? { height: undefined } : {})
    )

  const anyInput = FastCheck.record({
    coins: FastCheck.array(anyCoin, { maxLength: 14 }),
    preset: FastCheck.array(anyCoin, { maxLength: 2 }),
    values: FastCheck.array(FastCheck.integer({ min: 2_000, max: 90_000_000 }), { minLength: 1, maxLength: 4 }),
    feeRate: FastCheck.integer({ min: 0, max: 2_000_000 }),
    longTermRate: FastCheck.integer({ min: 0, max: 1_000_000 }),
    subtract: FastCheck.boolean(),
    segwitChange: FastCheck.boolean(),
    seed: FastCheck.integer({ min: 0, max: 1e9 })
  }).map(({ coins, feeRate, longTermRate, preset, seed, segwitChange, subtract, values }) => (): FundInput =>
    inputOf(
      {
        outputs: values.map((value) => ({ value, script: P2WPKH })),
        subtractFeeFrom: subtract ? values.map((_, i) => i) : []
      },
      weighed(coins, 100),
      {
        preset: weighed(preset, 1),
        feeRate,
        longTermRate,
        maxFee: Number.MAX_SAFE_INTEGER,
        change: { script: segwitChange ? P2WPKH : P2PKH, spendWeight: segwitChange ? 272 : P2PKH_WEIGHT },
        random: seeded(seed)
      }
    )
  )

  it.prop(
    "is balanced, pays the fee rate, makes no dust, and is deterministic",
    [anyInput],
    ([make]) => {
      const input = make()
      const result = fundTransaction(input)
      assert.deepStrictEqual(
        Either.map(fundTransaction(make()), ({ transaction }) => transaction.bytes),
        Either.map(result, ({ transaction }) => transaction.bytes)
      )
      if (Either.isLeft(result)) return
      const draft = result.right
      const { outputs } = input.request
      const fee = feeOf(input.feeRate, signedVsize(draft, input))
      assert.strictEqual(spent(draft), paid(draft) + draft.fee)
      assert.isAtLeast(draft.fee, fee)
      if (draft.changePosition !== -1) assert.strictEqual(draft.fee, fee)
      for (const output of draft.transaction.outputs) assert.isFalse(isDust(output, input.dustRate))
      assert.strictEqual(draft.transaction.outputs.length, outputs.length + (draft.changePosition === -1 ? 0 : 1))
      const receivers = draft.transaction.outputs.filter((_, i) => i !== draft.changePosition)
      for (const [i, { value }] of receivers.entries()) {
        if (input.request.subtractFeeFrom?.length === 0) assert.strictEqual(value, outputs[i]?.value)
        else assert.isAtMost(value, outputs[i]?.value ?? 0)
      }
      const keys = draft.transaction.inputs.map(({ prevout }) => outpointKey(prevout))
      assert.strictEqual(new Set(keys).size, keys.length)
      assert.deepStrictEqual(keys.slice(0, input.preset.length), input.preset.map(({ coin }) => coin.outpoint))
    },
    { fastCheck: { numRuns: 500 } }
  )

  it.prop("pays whenever the coins with a positive effective value pay (greedy oracle)", [anyInput], ([make]) => {
    const input = make()
    const result = fundTransaction(input)
    if (Either.isRight(result) || result.left._tag !== "FundsMissing") return
    const needed = input.request.outputs.reduce((sum, { value }) => sum + value, 0)
    const receiversPay = (input.request.subtractFeeFrom?.length ?? 0) > 0
    const useful = input.candidates.filter((coin) =>
      receiversPay || coin.coin.output.value > inputFee(coin, input.feeRate)
    )
    const sorted = [...useful].sort((a, b) => b.coin.output.value - a.coin.output.value)
    for (let count = 0; count <= sorted.length; count++) {
      const inputs = [...input.preset, ...sorted.slice(0, count)]
      if (inputs.length === 0) continue
      const value = inputs.reduce((sum, { coin }) => sum + coin.output.value, 0)
      const vsize = Math.ceil(signedWeight(inputs, input.request.outputs) / 4)
      assert.isBelow(value, needed + (receiversPay ? 0 : feeOf(input.feeRate, vsize)))
    }
  }, { fastCheck: { numRuns: 500 } })
})
