import { assert, describe, it } from "@effect/vitest"
import { spentCoins } from "../../src/consensus/connectBlock.ts"
import { type HistoricBug, historicBugsOf } from "../../src/consensus/historicBugs.ts"
import { regtestParams, withOverrides } from "../../src/consensus/params.ts"
import { blockSubsidy } from "../../src/consensus/subsidy.ts"
import type { Coin } from "../../src/consensus/view.ts"
import { MAX_MONEY } from "../../src/protocol/amount.ts"
import type { Block } from "../../src/protocol/block.ts"
import { type Bytes, concat, displayHash } from "../../src/protocol/bytes.ts"
import { NAME_TX_VERSION, nameScript } from "../../src/protocol/nameOperation.ts"
import { Op } from "../../src/protocol/script.ts"
import { connect, deltaOf, keyOf, NAME, outputs, pay, reasonOf } from "../support/connecting.ts"
import {
  ANYONE,
  buildBlock,
  currency,
  emptyChain,
  input,
  makeCoinbase,
  mine,
  nameNew,
  nameOutput,
  type Outpoint,
  rewardOf,
  saltOf,
  text
} from "../support/regtest.ts"

/** A chain with a few mature coinbases, shared by tests that do not change it. */
const base = emptyChain(105)

const COINS = 5_000_000_000

describe("connectBlock", () => {
  it("4.8.2: the genesis block changes nothing", () => {
    const delta = deltaOf(connect(base, base.blockAt(0), { height: 0 }))
    for (const map of [delta.coins, delta.removed, delta.claims, delta.claimsBefore]) assert.strictEqual(map.size, 0)
    assert.lengthOf(delta.effects, 0)
  })

  it("4.8.4: a block spends inputs and adds outputs, also within the block", () => {
    const parent = pay(rewardOf(base, 1), COINS - 10, 5)
    const child = pay({ transaction: parent, vout: 0 }, COINS - 30)
    const block = buildBlock(base, [parent, child])
    const delta = deltaOf(connect(base, block))
    const [coinbase] = block.transactions
    if (coinbase === undefined) throw new Error("a block has a coinbase")
    const reward = { transaction: coinbase, vout: 0 }
    assert.deepStrictEqual([...delta.coins], [
      [keyOf(reward), { value: COINS, script: ANYONE, height: 106, coinbase: true }],
      [keyOf(rewardOf(base, 1)), undefined],
      [keyOf({ transaction: parent, vout: 1 }), { value: 5, script: ANYONE, height: 106, coinbase: false }],
      [keyOf({ transaction: child, vout: 0 }), { value: COINS - 30, script: ANYONE, height: 106, coinbase: false }]
    ])
    assert.deepStrictEqual([...delta.removed], [[
      keyOf(rewardOf(base, 1)),
      { value: COINS, script: ANYONE, height: 1, coinbase: true }
    ]])
    assert.strictEqual(delta.fees, 5 + 20)
  })

  it("script checks are returned to the caller in the order of the block, or omitted", () => {
    const parent = pay(rewardOf(base, 1), COINS)
    const child = currency([input({ transaction: parent, vout: 0 }), input(rewardOf(base, 2))], [{
      value: 1,
      script: ANYONE
    }])
    const block = buildBlock(base, [parent, child])
    const { scripts } = deltaOf(connect(base, block))
    assert.deepStrictEqual(scripts.map(({ transaction }) => transaction), block.transactions.slice(1))
    assert.deepStrictEqual(scripts.map(({ coins }) => coins.map(({ height }) => height)), [[1], [106, 2]])
    assert.lengthOf(deltaOf(connect(base, block, { checkScripts: false })).scripts, 0)
  })

  it("5.2.6: unspendable outputs are not coins, according to the whole script", () => {
    const padded = (size: number): Uint8Array => concat(ANYONE, new Uint8Array(size - 1).fill(Op.OP_NOP))
    const scripts = [Uint8Array.of(Op.OP_RETURN), padded(10_001), padded(10_000), ANYONE]
    const transaction = currency([input(rewardOf(base, 1))], scripts.map((script) => ({ value: 1, script })))
    const delta = deltaOf(connect(base, buildBlock(base, [transaction])))
    assert.deepStrictEqual(outputs(transaction).map((made) => delta.coins.has(keyOf(made))), [false, false, true, true])
  })

  it("5.2.6: a name prefix before OP_RETURN creates a coin", () => {
    const script = nameScript({ op: "name_new", commitment: new Uint8Array(20) }, Uint8Array.of(Op.OP_RETURN))
    const transaction = currency([input(rewardOf(base, 1))], [{ value: 1_000_000, script }], {
      version: NAME_TX_VERSION
    })
    const delta = deltaOf(connect(base, buildBlock(base, [transaction])))
    assert.isTrue(delta.coins.has(keyOf({ transaction, vout: 0 })))
  })

  it("a coin can be spent once, and only after its creation", () => {
    const parent = pay(rewardOf(base, 1), COINS)
    const child = pay({ transaction: parent, vout: 0 }, COINS)
    const missing = "bad-txns-inputs-missingorspent"
    assert.isUndefined(reasonOf(connect(base, buildBlock(base, [parent, child]))))
    assert.strictEqual(reasonOf(connect(base, buildBlock(base, [child, parent]))), missing)
    assert.strictEqual(reasonOf(connect(base, buildBlock(base, [parent, pay(rewardOf(base, 1), 1)]))), missing)
    const again = pay({ transaction: parent, vout: 0 }, 7)
    assert.strictEqual(reasonOf(connect(base, buildBlock(base, [parent, child, again]))), missing)
  })

  it("1.1: a coinbase matures after 100 blocks", () => {
    assert.isUndefined(reasonOf(connect(base, buildBlock(base, [pay(rewardOf(base, 6), 1)]))))
    const early = connect(base, buildBlock(base, [pay(rewardOf(base, 7), 1)]))
    assert.strictEqual(reasonOf(early), "bad-txns-premature-spend-of-coinbase")
  })

  it("a refusal names the invalid transaction", () => {
    const bad = pay(rewardOf(base, 1), COINS + 1)
    const result = connect(base, buildBlock(base, [bad]))
    assert.deepStrictEqual(result, {
      reject: {
        reason: "bad-txns-in-belowout",
        kind: "consensus",
        detail: `value in (50.00) < value out (50.00000001) in transaction ${displayHash(bad.txid)}`
      },
      scripts: []
    })
  })

  it("4.8.5: the coinbase pays at most the subsidy and the fees", () => {
    const transaction = pay(rewardOf(base, 1), COINS - 77)
    const paying = (value: number) => ({
      coinbase: makeCoinbase(106, [{ value: 70, script: ANYONE }, { value, script: ANYONE }])
    })
    const reward = blockSubsidy(106, regtestParams) + 77
    assert.isUndefined(reasonOf(connect(base, buildBlock(base, [transaction], paying(reward - 70)))))
    assert.isUndefined(reasonOf(connect(base, buildBlock(base, [transaction], paying(0)))))
    const greedy = connect(base, buildBlock(base, [transaction], paying(reward - 69)))
    assert.strictEqual(reasonOf(greedy), "bad-cb-amount")
  })

  /** A view with coins of these values that can be spent without a signature, one for each input. */
  const richView = (inputs: ReadonlyArray<Outpoint>, values: ReadonlyArray<number>, script: Bytes = ANYONE) => {
    const coins = new Map(inputs.map((given, i): [string, Coin] => [
      keyOf(given),
      { value: values[i] ?? 0, script, height: 1, coinbase: false }
    ]))
    const coin = (key: string) => coins.get(key)
    return { coin, claim: () => undefined, claimsBetween: () => [] }
  }

  it("the fees of a block are at most the maximum amount of money", () => {
    const spent = [rewardOf(base, 1), rewardOf(base, 2)]
    const block = buildBlock(base, spent.map((given) => pay(given, 0)))
    const half = MAX_MONEY / 2
    assert.isUndefined(reasonOf(connect(base, block, { view: richView(spent, [half, half]) })))
    const result = connect(base, block, { view: richView(spent, [half, half + 1]) })
    assert.strictEqual(reasonOf(result), "bad-txns-accumulated-fee-outofrange")
  })

  it("5.4: signature operations of all kinds cost at most 80,000 together", () => {
    const spent = [rewardOf(base, 1), rewardOf(base, 2)]
    const checks = (count: number) => ({ value: 0, script: new Uint8Array(count).fill(Op.OP_CHECKSIG) })
    const block = (count: number) =>
      buildBlock(base, [
        currency([input(rewardOf(base, 1))], [checks(9_999)]),
        currency([input(rewardOf(base, 2))], [checks(count)])
      ], { coinbase: makeCoinbase(106, [checks(1)]) })
    const view = richView(spent, [1, 1])
    assert.isUndefined(reasonOf(connect(base, block(10_000), { view })))
    assert.strictEqual(reasonOf(connect(base, block(10_001), { view })), "bad-blk-sigops")
    const keyHash = richView(spent, [1, 1], concat(Uint8Array.of(0, 20), new Uint8Array(20)))
    assert.strictEqual(reasonOf(connect(base, block(10_000), { view: keyHash })), "bad-blk-sigops")
    assert.isUndefined(reasonOf(connect(base, block(9_999), { view: keyHash })))
  })

  it("BIP 68: relative locks hold if CSV is active, even for name transactions", () => {
    const locked = (sequence: number, version: number, height: number): Block => {
      const name = nameOutput(nameNew(NAME, saltOf(1)))
      const made = version === NAME_TX_VERSION ? name : { value: 1, script: ANYONE }
      return buildBlock(base, [currency([input(rewardOf(base, height), { sequence })], [made], { version })])
    }
    for (const version of [2, NAME_TX_VERSION]) {
      assert.isUndefined(reasonOf(connect(base, locked(105, version, 1))))
      assert.strictEqual(reasonOf(connect(base, locked(106, version, 1))), "bad-txns-nonfinal")
      const before = withOverrides(regtestParams, { activation: { csv: 107 } })
      assert.isUndefined(reasonOf(connect(base, locked(106, version, 1), { params: before })))
      const since = withOverrides(regtestParams, { activation: { csv: 106 } })
      assert.strictEqual(reasonOf(connect(base, locked(106, version, 1), { params: since })), "bad-txns-nonfinal")
    }
    assert.isUndefined(reasonOf(connect(base, locked(106, 1, 1))))
  })

  it("BIP 68: time locks count from the block before the coin's to the block before this one", () => {
    const units = Math.floor((base.medianTimePastAt(105) - base.medianTimePastAt(0)) / 512)
    const locked = (lock: number): Block => {
      const sequence = (1 << 22) | lock
      return buildBlock(base, [currency([input(rewardOf(base, 1), { sequence })], [{ value: 1, script: ANYONE }])])
    }
    assert.isUndefined(reasonOf(connect(base, locked(units))))
    assert.strictEqual(reasonOf(connect(base, locked(units + 1))), "bad-txns-nonfinal")
  })
})

describe("4.8.3: a coinbase that repeats an older one", () => {
  it("the coinbase replaces the older coins, and an undo restores them", () => {
    const params = withOverrides(regtestParams, { activation: { bip34: Infinity } })
    const chain = emptyChain(3, params)
    const [coinbase] = chain.blockAt(2).transactions
    if (coinbase === undefined) throw new Error("a block has a coinbase")
    const key = keyOf({ transaction: coinbase, vout: 0 })
    assert.strictEqual(chain.coin(key)?.height, 2)
    const block = mine(chain, [], { coinbase })
    assert.strictEqual(chain.coin(key)?.height, 4)
    assert.strictEqual(chain.coins.size, 3)
    assert.strictEqual(chain.undoAt(4).removed.get(key)?.height, 2)
    assert.strictEqual(chain.disconnect(), block)
    assert.strictEqual(chain.coin(key)?.height, 2)
    assert.strictEqual(chain.coins.size, 3)
  })
})

describe("4.9: historic exceptions", () => {
  /** A currency transaction with name outputs of all kinds, as an exception at height 106. */
  const connectBug = (bug: HistoricBug, version: number) => {
    const chain = emptyChain(105)
    const operations = [
      nameNew(NAME, saltOf(1)),
      { op: "name_firstupdate", name: NAME, rand: saltOf(1), value: text("{}") },
      { op: "name_update", name: text("d/other"), value: text("{}") }
    ] as const
    const made = operations.map((operation) => nameOutput(operation))
    const transaction = currency([input(rewardOf(chain, 1))], [...made, { value: 5, script: ANYONE }], { version })
    const params = {
      ...regtestParams,
      historicBugs: historicBugsOf([[106, displayHash(transaction.txid), bug]])
    }
    const block = buildBlock(chain, [transaction])
    const delta = deltaOf(connect(chain, block, { params }))
    return {
      coins: outputs(transaction).map((output) => delta.coins.get(keyOf(output)) !== undefined),
      claims: [...delta.claims.keys()],
      effects: delta.effects.length,
      unexcused: reasonOf(connect(chain, block))
    }
  }

  it.each(
    [
      { bug: "ignore", version: 2, coins: [true, false, false, true], names: 0 },
      { bug: "utxo", version: 2, coins: [true, true, true, true], names: 0 },
      { bug: "ignore", version: NAME_TX_VERSION, coins: [true, false, false, true], names: 0 },
      { bug: "utxo", version: NAME_TX_VERSION, coins: [true, true, true, true], names: 0 },
      { bug: "apply", version: NAME_TX_VERSION, coins: [true, true, true, true], names: 2 }
    ] as const
  )("F1 $bug in version $version: coins $coins, $names names set", ({ bug, coins, names, version }) => {
    const result = connectBug(bug, version)
    assert.deepStrictEqual(result.coins, [...coins])
    assert.lengthOf(result.claims, names)
    assert.strictEqual(result.effects, names)
    assert.strictEqual(result.unexcused, "tx-multiple-name-outputs")
  })
})

describe("spentCoins", () => {
  it("spentCoins returns the coins of all inputs, from before the block or from the block itself", () => {
    const chain = emptyChain(105)
    const parent = pay(rewardOf(chain, 1), COINS - 10, 5)
    const child = currency([input({ transaction: parent, vout: 1 }), input(rewardOf(chain, 2))], [{
      value: 1,
      script: ANYONE
    }])
    const block = mine(chain, [parent, child])
    const coinOf = (value: number, height: number, coinbase: boolean): Coin => ({
      value,
      script: ANYONE,
      height,
      coinbase
    })
    assert.deepStrictEqual(spentCoins(block, 106, chain.undoAt(106).removed), [
      [],
      [coinOf(COINS, 1, true)],
      [coinOf(5, 106, false), coinOf(COINS, 2, true)]
    ])
  })

  it("spentCoins throws for the undo data of another block", () => {
    const chain = emptyChain(105)
    const block = mine(chain, [pay(rewardOf(chain, 1), 1)])
    assert.throws(() => spentCoins(block, 106, new Map()), displayHash(block.hash))
  })
})

describe("connecting without script checks", () => {
  it("connecting without script checks reaches the same state", () => {
    const trusting = emptyChain(105)
    const block = buildBlock(trusting, [pay(rewardOf(trusting, 1), 1)])
    const checked = deltaOf(connect(trusting, block))
    const trusted = deltaOf(connect(trusting, block, { checkScripts: false }))
    assert.deepStrictEqual({ ...trusted, scripts: [] }, { ...checked, scripts: [] })
  })
})
