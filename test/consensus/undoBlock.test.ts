import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { undoBlock } from "../../src/consensus/connectBlock.ts"
import { isExpired } from "../../src/consensus/expiry.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import type { NameClaim } from "../../src/consensus/view.ts"
import type { Block } from "../../src/protocol/block.ts"
import { equal } from "../../src/protocol/bytes.ts"
import { type NameKey, nameKey } from "../../src/protocol/keys.ts"
import { nameCommitment, type NameOperation, parseNameScript } from "../../src/protocol/nameOperation.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import { commit, copy, first, keyOf, outputs, pay, reasonFor, register, update } from "../support/connecting.ts"
import type { MemoryChain } from "../support/MemoryChain.ts"
import { buildBlock, emptyChain, mine, type Outpoint, rewardOf, saltOf, text } from "../support/regtest.ts"

const COINS = 5_000_000_000

/** The next step of a random walk: the action, and the suitable coin. */
type Move = readonly [action: "pay" | "commit" | "register" | "update", pick: number]

describe("undoBlock", () => {
  const start = emptyChain(130)
  const NAMES = ["d/a", "d/b", "d/c", "d/d", "d/e", "d/f", "d/g"].map(text)
  const seen = { blocks: 0, registrations: 0, updates: 0, expiries: 0 }

  interface Found extends Outpoint {
    readonly operation: NameOperation | undefined
  }

  /** The unspent outputs of the chain. */
  const unspent = (chain: MemoryChain): ReadonlyArray<Found> => {
    const known: Array<Found> = []
    for (let height = 1; height <= chain.height; height++) {
      for (const transaction of chain.blockAt(height).transactions) {
        for (const made of outputs(transaction)) {
          const script = chain.coin(keyOf(made))?.script
          if (script !== undefined) known.push({ ...made, operation: parseNameScript(script)?.operation })
        }
      }
    }
    return known
  }

  /** A transaction that may be valid, depending on the rest of the block and on heights. */
  const propose = (coins: ReadonlyArray<Found>, [action, pick]: Move): Transaction | undefined => {
    const wanted = action === "pay" || action === "commit"
      ? undefined
      : action === "register"
      ? "name_new"
      : "name_update"
    const suitable = coins.filter(({ operation }) =>
      operation?.op === wanted || (action === "update" && operation?.op === "name_firstupdate")
    )
    const coin = suitable[pick % suitable.length]
    if (coin === undefined) return undefined
    const { operation } = coin
    if (action === "pay") return pay(coin, coin.transaction.outputs[coin.vout]?.value ?? 0)
    if (action === "commit") return commit(pick % 5, coin, NAMES[pick % NAMES.length])
    if (operation === undefined) return undefined
    if (operation.op !== "name_new") return update(coin, String(pick), operation.name)
    for (const name of NAMES) {
      for (let salt = 0; salt < 5; salt++) {
        if (equal(nameCommitment(saltOf(salt), name), operation.commitment)) return register(salt, coin, name)
      }
    }
    return undefined
  }

  /** Mines a block of the valid ones of the proposed transactions. */
  const step = (chain: MemoryChain, moves: ReadonlyArray<Move>): void => {
    const chosen: Array<Transaction> = []
    const coins = unspent(chain)
    for (const move of moves) {
      const candidate = propose(coins, move)
      if (candidate !== undefined && reasonFor(chain, ...chosen, candidate) === undefined) chosen.push(candidate)
    }
    const { effects, removed } = chain.connect(buildBlock(chain, chosen))
    const inputs = chosen.reduce((count, transaction) => count + transaction.inputs.length, 0)
    seen.blocks++
    seen.registrations += effects.filter(({ operation }) => operation.op === "name_firstupdate").length
    seen.updates += effects.filter(({ operation }) => operation.op === "name_update").length
    seen.expiries += removed.size > inputs ? 1 : 0
  }

  const move = FastCheck.tuple(
    FastCheck.constantFrom<Move[0]>("pay", "pay", "commit", "register", "register", "update"),
    FastCheck.nat(400)
  )

  it.prop("undoBlock restores the state before any connected blocks", {
    blocks: FastCheck.array(FastCheck.array(move, { maxLength: 3 }), { minLength: 90, maxLength: 120 })
  }, ({ blocks }) => {
    const states: Array<ReturnType<typeof copy>> = []
    for (const moves of blocks) {
      states.push(copy(start))
      step(start, moves)
    }
    for (const state of states.reverse()) {
      start.disconnect()
      assert.deepStrictEqual(copy(start), state)
    }
  }, { fastCheck: { numRuns: 10, endOnFailure: true } })

  /** Of names that a block on top may still update. */
  const unexpired = (chain: MemoryChain) => ({
    coins: new Map(chain.coins),
    claims: new Map([...chain.claims].filter(([, claim]) => !isExpired(claim, chain.height + 1, regtestParams)))
  })

  it.prop("a state without the claims of expired names, as a snapshot begins, goes back and forth as well", {
    blocks: FastCheck.array(FastCheck.array(move, { maxLength: 3 }), { minLength: 90, maxLength: 120 })
  }, ({ blocks }) => {
    const states: Array<ReturnType<typeof unexpired>> = []
    for (const moves of blocks) {
      states.push(unexpired(start))
      step(start, moves)
    }
    const { claims } = unexpired(start)
    for (const name of [...start.claims.keys()]) if (!claims.has(name)) start.claims.delete(name)
    const taken: Array<Block> = []
    for (const state of states.toReversed()) {
      taken.push(start.disconnect())
      assert.deepStrictEqual(unexpired(start), state)
    }
    for (const state of states) {
      assert.deepStrictEqual(unexpired(start), state)
      start.connect(taken.pop() ?? assert.fail())
    }
    for (const _ of blocks) start.disconnect()
  }, { fastCheck: { numRuns: 3, endOnFailure: true } })

  it("the random walks include registrations, updates and expiries", () => {
    assert.isAbove(seen.registrations, 0)
    assert.isAbove(seen.updates, 0)
    assert.isAbove(seen.expiries, 0)
  })

  it("undoBlock deletes all outputs of the block first and then restores the removed coins", () => {
    const chain = emptyChain(105)
    const parent = pay(rewardOf(chain, 1), COINS - 10, 5)
    const block = mine(chain, [parent, pay(first(parent), 1)])
    const before: ReadonlyMap<NameKey, NameClaim | undefined> = new Map([[nameKey(text("n")), undefined]])
    const { claims, coins } = undoBlock(
      block,
      { removed: chain.undoAt(106).removed, claimsBefore: before },
      { height: 106, params: regtestParams }
    )
    for (const transaction of block.transactions) {
      for (const made of outputs(transaction)) {
        assert.isTrue(coins.has(keyOf(made)))
        assert.isUndefined(coins.get(keyOf(made)))
      }
    }
    assert.strictEqual(coins.get(keyOf(rewardOf(chain, 1)))?.value, COINS)
    assert.deepStrictEqual(claims, before)
  })
})
