import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import type { AddressType } from "../../../src/wallet/keys/WalletKeys.ts"
import { feeOfWeight, hasWitness, inputWeight, type WeighedCoin } from "../../../src/wallet/payments/Draft.ts"
import { type Funding, fundWith } from "../../../src/wallet/payments/fundWith.ts"
import { selectInputs, type SelectionRequest } from "../../../src/wallet/payments/selectInputs.ts"
import { coin, ownScript, P2PKH, P2PKH_WEIGHT, P2WPKH, P2WPKH_WEIGHT, seeded } from "./coins.ts"

/** Weight units of signed inputs. */
const WEIGHTS: Readonly<Record<AddressType, number>> = {
  legacy: P2PKH_WEIGHT,
  "p2sh-segwit": 4 * 64 + 108,
  bech32: P2WPKH_WEIGHT,
  bech32m: 4 * 41 + 66
}

const TYPES: ReadonlyArray<AddressType> = ["legacy", "p2sh-segwit", "bech32", "bech32m"]

const P2TR = new Uint8Array(34).fill(5)
P2TR.set([0x51, 32])

const SCRIPTS: Readonly<Record<AddressType, Uint8Array>> = {
  legacy: P2PKH,
  "p2sh-segwit": Uint8Array.of(0xa9, 20, ...new Uint8Array(20).fill(9), 0x87),
  bech32: P2WPKH,
  bech32m: P2TR
}

interface Held {
  readonly type: AddressType
  readonly value: number
  readonly pending: boolean
}

const weighed = (held: ReadonlyArray<Held>, from: number): ReadonlyArray<WeighedCoin> =>
  held.map(({ pending, type, value }, i) => ({
    coin: coin(from + i, value, {
      own: ownScript({ script: SCRIPTS[type], type }),
      ...(pending ? { height: undefined } : {})
    }),
    weight: WEIGHTS[type]
  }))

const typesOf = ({ inputs }: Pick<Funding, "inputs">): ReadonlySet<string> =>
  new Set(inputs.map(({ coin }) => coin.own.type))

const anyHeld = FastCheck.record({
  type: FastCheck.constantFrom(...TYPES),
  value: FastCheck.oneof(
    FastCheck.integer({ min: 1, max: 200_000 }),
    FastCheck.integer({ min: 1, max: 20_000_000 }),
    FastCheck.integer({ min: 1, max: 1_000_000_000 })
  ),
  pending: FastCheck.boolean()
})

const CHANGE_WEIGHT = 31 * 4

const anyRequest = FastCheck.record({
  held: FastCheck.array(anyHeld, { minLength: 1, maxLength: 16 }),
  preset: FastCheck.array(anyHeld, { maxLength: 1 }),
  values: FastCheck.array(FastCheck.integer({ min: 2_000, max: 60_000_000 }), { minLength: 1, maxLength: 3 }),
  feeRate: FastCheck.integer({ min: 1_000, max: 1_000_000 }),
  longTermRate: FastCheck.integer({ min: 1_000, max: 1_000_000 }),
  subtract: FastCheck.boolean(),
  seed: FastCheck.integer({ min: 0, max: 1e9 })
}).map(({ feeRate, held, longTermRate, preset, seed, subtract, values }): SelectionRequest => ({
  target: {
    outputs: values.map((value) => ({ value, script: P2WPKH })),
    subtractFeeFrom: subtract ? [0] : [],
    feeRate,
    changeScript: P2WPKH,
    leastChange: 5_000
  },
  preset: weighed(preset, 500),
  candidates: weighed(held, 1),
  longTermRate,
  costOfChange: feeOfWeight({ feeRate, weight: CHANGE_WEIGHT }) + 700,
  changeWeight: CHANGE_WEIGHT,
  maxWeight: 400_000,
  maxChildWeight: 400_000,
  random: seeded(seed)
}))

/** The candidates that are worth more than the fee of their inputs, beside the inputs that are given. */
const useful = ({ candidates, preset, target }: SelectionRequest): ReadonlyArray<WeighedCoin> => {
  const isFree = target.subtractFeeFrom.length > 0
  const witness = [...preset, ...candidates].some(hasWitness)
  return candidates.filter((each) =>
    isFree ||
    each.coin.output.value > feeOfWeight({ feeRate: target.feeRate, weight: inputWeight(each, witness) })
  )
}

describe("selectInputs", () => {
  it.prop("mixes address types only if the confirmed coins of no type pay", [anyRequest], ([request]) => {
    const found = selectInputs(request)
    if (found === undefined || typesOf({ inputs: found.inputs.slice(request.preset.length) }).size < 2) return
    const onlyConfirmed = found.inputs.slice(request.preset.length).every(({ coin }) => coin.height !== undefined)
    for (const type of TYPES) {
      const alike = useful(request).filter(({ coin }) =>
        coin.own.type === type && (!onlyConfirmed || coin.height !== undefined)
      )
      assert.isUndefined(fundWith([...request.preset, ...alike], request.target), `coins of ${type} pay`)
    }
  }, { fastCheck: { numRuns: 1_500 } })

  it.prop("adds to given inputs coins of their type, if those pay", [anyRequest], ([request]) => {
    const [given] = request.preset
    const found = selectInputs(request)
    if (given === undefined || found === undefined || found.inputs.length === 1) return
    const { type } = given.coin.own
    const alike = useful(request).filter(({ coin }) => coin.own.type === type && coin.height !== undefined)
    if (fundWith([given, ...alike], request.target) !== undefined) assert.deepStrictEqual([...typesOf(found)], [type])
  }, { fastCheck: { numRuns: 1_500 } })

  it.prop("takes no more inputs than the largest coins, unless fees are low", [anyRequest], ([request]) => {
    const { feeRate } = request.target
    const [first] = request.candidates
    const one = request.candidates
      .filter(({ coin }) => coin.own.type === first?.coin.own.type && coin.height !== undefined)
      .sort((a, b) => b.coin.output.value - a.coin.output.value)
    const alone = { ...request, preset: [], candidates: one, longTermRate: Math.min(request.longTermRate, feeRate) }
    const found = selectInputs(alone)
    if (found === undefined || found.change === 0) return
    const roomy = { ...request.target, leastChange: 50_000 + alone.costOfChange }
    for (let count = 1; count <= one.length; count++) {
      const funded = fundWith(one.slice(0, count), roomy)
      if (funded === undefined || funded.change === 0) continue
      assert.isAtMost(found.inputs.length, count)
      return
    }
  }, { fastCheck: { numRuns: 1_500 } })

  it("spends a few coins between the long-term rate and three times of it, where a random draw would take many", () => {
    const many = weighed(
      Array.from({ length: 60 }, (_, i) => ({ type: "bech32", value: i === 0 ? 9e6 : 200_000, pending: false })),
      1
    )
    for (let seed = 0; seed < 20; seed++) {
      const found = selectInputs({
        target: {
          outputs: [{ value: 5_000_000, script: P2WPKH }],
          subtractFeeFrom: [],
          feeRate: 20_000,
          changeScript: P2WPKH,
          leastChange: 5_000
        },
        preset: [],
        candidates: many,
        longTermRate: 10_000,
        costOfChange: 1_000,
        changeWeight: CHANGE_WEIGHT,
        maxWeight: 400_000,
        maxChildWeight: 400_000,
        random: seeded(seed)
      })
      assert.lengthOf(found?.inputs ?? [], 1)
    }
  })

  it("breaks the smallest coin that pays, not the largest", () => {
    const coins = weighed([5e8, 2e7, 1e8, 6e5, 3e7].map((value) => ({ type: "bech32", value, pending: false })), 1)
    const found = selectInputs({
      target: {
        outputs: [{ value: 1_000_000, script: P2WPKH }],
        subtractFeeFrom: [],
        feeRate: 20_000,
        changeScript: P2WPKH,
        leastChange: 5_000
      },
      preset: [],
      candidates: coins,
      longTermRate: 10_000,
      costOfChange: 1_000,
      changeWeight: CHANGE_WEIGHT,
      maxWeight: 400_000,
      maxChildWeight: 400_000,
      random: seeded(1)
    })
    assert.deepStrictEqual(found?.inputs.map(({ coin }) => coin.output.value), [2e7])
  })

  it("keeps a payment with an unconfirmed coin below the weight of a child, and one without below its own", () => {
    const request = (pending: boolean, maxChildWeight: number): SelectionRequest => ({
      target: {
        outputs: [{ value: 500_000, script: P2WPKH }],
        subtractFeeFrom: [],
        feeRate: 1_000,
        changeScript: P2WPKH,
        leastChange: 5_000
      },
      preset: [],
      candidates: weighed([1, 2, 3, 4, 5, 6].map(() => ({ type: "legacy", value: 100_000, pending })), 1),
      longTermRate: 1_000,
      costOfChange: 1_000,
      changeWeight: CHANGE_WEIGHT,
      maxWeight: 40_000,
      maxChildWeight,
      random: seeded(1)
    })
    assert.isDefined(selectInputs(request(true, 4_000)))
    assert.isUndefined(selectInputs(request(true, 3_000)))
    assert.isDefined(selectInputs(request(false, 3_000)))
  })
})
