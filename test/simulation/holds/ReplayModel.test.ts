import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { regtestParams } from "../../../src/consensus/params.ts"
import { firstOperationAt } from "../../../src/names/NameEntry.ts"
import { type Block, makeBlock } from "../../../src/protocol/block.ts"
import { displayHash, equal, fromBinaryString, toHex } from "../../../src/protocol/bytes.ts"
import { sha256 } from "../../../src/protocol/hash.ts"
import { makeHeader } from "../../../src/protocol/header.ts"
import { type Checkpoint, expectedSummary, fixtureBlocks, summarize } from "../../support/chainFixture.ts"
import { fixtureJson } from "../../support/fixtures.ts"
import { currency, makeCoinbase } from "../../support/regtest.ts"
import { supplyFault } from "./moneyHolds.ts"
import type { NamesContent, StateContent } from "./nodeFiles.ts"
import { type ModelState, outpointOf, ReplayModel } from "./ReplayModel.ts"
import { amountFault, claimsFault, coinsFault, namesFault } from "./storedFaults.ts"

const blocks = fixtureBlocks("regtest-names/blocks.dat")
const byHash = new Map(blocks.map((block) => [displayHash(block.hash), block]))
const { checkpoints } = fixtureJson<{ readonly checkpoints: ReadonlyArray<Checkpoint> }>("regtest-names/expected.json")

const known = (hash: Uint8Array): Block => {
  const block = byHash.get(displayHash(hash))
  if (block === undefined) throw new Error(`no block ${displayHash(hash)}`)
  return block
}

const hashAt = (height: number): Uint8Array => blocks[height]?.hash ?? new Uint8Array(32)

const newModel = (blockOf = known) => new ReplayModel(regtestParams.network.genesisHash, blockOf)

/** Its content, to compare two states. */
const told = ({ coins, height, money, names, operations }: ModelState) => {
  const ordered = <A>(map: ReadonlyMap<string, A>) => [...map].sort(([a], [b]) => a < b ? -1 : 1)
  const { coins: amount, txouts } = summarize(coins)
  const keys = [...coins.keys()].sort().join()
  return {
    height,
    amount,
    txouts,
    money,
    keys: sha256(new TextEncoder().encode(keys)),
    names: ordered(names),
    operations: [...operations]
  }
}

/** What a node in order stores at a state. */
const storedNames = ({ hash, height, names, operations }: ModelState): NamesContent => {
  const idOf = (each: ModelState["operations"][number]) => firstOperationAt(each.height) + each.position
  return {
    cursor: { height, hash },
    blocks: [{ height, hash }],
    beginning: undefined,
    operations: operations.map((each) => ({ ...each, id: idOf(each), rand: each.rand ?? null })),
    names: [...names.values()].map((each) => ({ ...each, operation: idOf(each) }))
  }
}

const storedState = ({ coins, hash, names }: ModelState): StateContent => ({
  best: hash,
  claims: [...names.values()].map((each) => ({ ...each, outpoint: fromBinaryString(outpointOf(each)) })),
  coins: [...coins]
})

describe("ReplayModel", () => {
  it("has the coins and names of the reference node at each checkpoint", () => {
    const model = newModel()
    for (const { height, nameScanHex, utxo } of checkpoints) {
      const { coins, names } = model.moveTo(hashAt(height))
      assert.deepStrictEqual(summarize(coins), expectedSummary(utxo), `coins at ${height}`)
      assert.deepStrictEqual(
        [...names.values()].map((each) =>
          `${toHex(each.name)} ${toHex(each.value)} ${displayHash(each.txid)} ${each.height}`
        )
          .sort(),
        nameScanHex.map((row) => `${row.name} ${row.value} ${row.txid} ${row.height}`).sort(),
        `names at ${height}`
      )
    }
  })

  it("accounts for all money, and finds a coin that is worth more", () => {
    const model = newModel()
    for (const height of [1, 149, 300, blocks.length - 1, 200]) {
      const state = model.moveTo(hashAt(height))
      assert.isUndefined(supplyFault(state), `at ${height}`)
      assert.isUndefined(amountFault(storedState(state), state), `at ${height}`)
    }
    const state = model.moveTo(hashAt(blocks.length - 1))
    assert.isAbove(state.money.destroyed, 0)
    const coins = new Map(
      [...state.coins].map(([key, coin], i) => [key, i === 0 ? { ...coin, value: coin.value + 1 } : coin])
    )
    assert.match(supplyFault({ ...state, coins }) ?? "", /are worth/)
    assert.match(amountFault({ ...storedState(state), coins: [...coins] }, state) ?? "", /are worth/)
  })

  it("returns to the state of any earlier block", () => {
    const height = FastCheck.integer({ min: 0, max: blocks.length - 1 })
    FastCheck.assert(
      FastCheck.property(FastCheck.array(height, { minLength: 2, maxLength: 3 }), (heights) => {
        const model = newModel()
        for (const each of heights) {
          assert.deepStrictEqual(told(model.moveTo(hashAt(each))), told(newModel().moveTo(hashAt(each))))
        }
      }),
      { numRuns: 3 }
    )
  })

  it("refuses a block that pays too much or spends a coin twice, and stays at the block before", () => {
    const model = newModel()
    const tip = model.moveTo(hashAt(150))
    const [key] = [...tip.coins].find(([, coin]) => !coin.coinbase) ?? [""]
    const prevout = fromBinaryString(key)
    const input = { prevout, scriptSig: new Uint8Array(0), sequence: 0xffffffff, witness: [] }
    const before = told(tip)
    const script = Uint8Array.of(0x51)
    const twice = [currency([input], [{ value: 1, script }]), currency([input], [{ value: 2, script }])]
    for (
      const [transactions, said] of [
        [[makeCoinbase(151, [{ value: 60e8, script }])], /pays 6000000000 and may pay 2500000000/],
        [[makeCoinbase(151, [{ value: 0, script }]), ...twice], /is not a coin/]
      ] as const
    ) {
      const header = makeHeader({
        version: 4,
        prevHash: tip.hash,
        merkleRoot: prevout.subarray(0, 32),
        time: 0,
        bits: 0,
        nonce: 0
      })
      const child = makeBlock({ header, auxpow: undefined }, transactions)
      const other = newModel((hash) => equal(hash, child.hash) ? child : known(hash))
      other.moveTo(hashAt(150))
      assert.throws(() => other.moveTo(child.hash), said)
      assert.deepStrictEqual(told(other.state), before)
    }
  })
})

describe("faults of stored data", () => {
  const state = newModel().moveTo(hashAt(blocks.length - 1))
  const [names, chainstate] = [storedNames(state), storedState(state)]

  it("finds none where all is in order", () => {
    assert.deepStrictEqual(
      [namesFault(names, state), claimsFault(chainstate, state), coinsFault(chainstate, state)],
      [undefined, undefined, undefined]
    )
  })

  const dropped = <A>(all: ReadonlyArray<A>): ReadonlyArray<A> => all.slice(0, -1)

  it.each<readonly [string, RegExp, NamesContent]>([
    ["a missing operation", /is missing/, { ...names, operations: dropped(names.operations) }],
    ["an operation too many", /in no block/, {
      ...names,
      operations: [...names.operations, ...names.operations.slice(-1)]
    }],
    ["a changed value", /is stored as/, {
      ...names,
      operations: names.operations.map((each, i) => i === 3 ? { ...each, value: Uint8Array.of(7) } : each)
    }],
    ["a missing name", /the name .+ is missing/, { ...names, names: dropped(names.names) }],
    ["an older operation of a name", /is not as its last operation/, {
      ...names,
      names: names.names.map((each, i) => i === 0 ? { ...each, operation: each.operation - 1 } : each)
    }],
    ["another height", /the cursor has height/, { ...names, cursor: { ...names.cursor, height: 7 } }],
    ["a cursor without its block", /do not have block/, { ...names, blocks: [] }]
  ])("finds %s in names.db", (_, said, content) => {
    assert.match(namesFault(content, state) ?? "", said)
  })

  it("finds a claim and a coin that are missing, too many or different", () => {
    const { claims, coins } = chainstate
    const faults = [
      claimsFault({ ...chainstate, claims: dropped(claims) }, state),
      claimsFault({ ...chainstate, claims: claims.map((each) => ({ ...each, height: each.height - 1 })) }, state),
      coinsFault({ ...chainstate, coins: dropped(coins) }, state),
      coinsFault({ ...chainstate, coins: coins.map(([key, coin]) => [key, { ...coin, height: 0 }] as const) }, state),
      coinsFault({
        ...chainstate,
        coins: [...coins, [`${"x".repeat(36)}`, { value: 1, script: new Uint8Array(0), height: 1, coinbase: false }]]
      }, state)
    ]
    const said = [/claim of .+ is missing/, /has height/, /is missing/, /is not the coin/, /is stored, but/]
    for (const [i, fault] of faults.entries()) assert.match(fault ?? "", said[i] ?? /^$/)
  })
})
