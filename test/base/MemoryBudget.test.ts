import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import * as FastCheck from "effect/FastCheck"
import { BUDGET_KINDS, type BudgetKind, type MemoryAccount, MemoryBudget } from "../../src/base/MemoryBudget.ts"

/** A budget and its members; an evicted member closes its account. */
const members = (total: number, shares: ReadonlyArray<number>, evictable = true) => {
  const budget = new MemoryBudget(total)
  const evicted: Array<number> = []
  const accounts: Array<MemoryAccount> = []
  for (const [i, share] of shares.entries()) {
    const evict = () => {
      evicted.push(i)
      accounts[i]?.close()
    }
    accounts.push(budget.open({ owner: `peer ${i}`, share, evictable, evict }))
  }
  const account = (i: number): MemoryAccount => {
    const found = accounts[i]
    if (found === undefined) throw new Error(`there is no member ${i}`)
    return found
  }
  return { budget, evicted, account }
}

describe("MemoryBudget", () => {
  it("the limits of all kinds add up to the total", () => {
    const budget = new MemoryBudget(1_000_000)
    const sum = BUDGET_KINDS.reduce((all, kind) => all + budget.limit(kind), 0)
    assert.approximately(sum, 1_000_000, BUDGET_KINDS.length)
    assert.isAtMost(sum, 1_000_000)
  })

  it("bytes that are given back twice create no room", () => {
    const { account, budget } = members(1_000, [0.5, 0.5])
    const some = Math.floor(budget.limit("frames") / 4)
    assert.isTrue(account(0).take("frames", some))
    assert.isTrue(account(1).take("frames", some))
    for (let time = 0; time < 2; time++) account(0).give("frames", some)
    assert.strictEqual(account(0).held("frames"), 0)
    assert.strictEqual(budget.held("frames"), some)
  })

  it("an account that asks for more than its share is refused, and nothing is counted", () => {
    const { account, budget } = members(1_000, [0.5])
    const half = budget.limit("frames") / 2
    assert.isTrue(account(0).take("frames", half))
    assert.isFalse(account(0).take("frames", 1))
    assert.strictEqual(budget.held("frames"), half)
  })

  it("the budget evicts the largest holder to make room for a smaller one", () => {
    const { account, budget, evicted } = members(1_000, [1, 1, 1])
    assert.isTrue(account(0).take("frames", 120))
    assert.isTrue(account(1).take("frames", 70))
    assert.isTrue(account(2).take("frames", 50))
    assert.deepStrictEqual(evicted, [0])
    assert.strictEqual(budget.held("frames"), 120)
  })

  it("the largest holder is refused, and no smaller one is evicted", () => {
    const { account, evicted } = members(1_000, [1, 1])
    assert.isTrue(account(0).take("frames", 90))
    assert.isTrue(account(1).take("frames", 100))
    assert.isFalse(account(1).take("frames", 50))
    assert.deepStrictEqual(evicted, [])
  })

  it("an account that is not evictable is never evicted", () => {
    const { account, evicted } = members(1_000, [1, 1], false)
    assert.isTrue(account(0).take("frames", 190))
    assert.isFalse(account(1).take("frames", 50))
    assert.deepStrictEqual(evicted, [])
  })

  it("an account that is not evictable displaces smaller evictable ones", () => {
    const { account, budget, evicted } = members(1_000, [1, 1])
    const chosen = budget.open({ owner: "chosen", share: 1, evictable: false, evict: () => {} })
    assert.isTrue(account(0).take("frames", 30))
    assert.isTrue(account(1).take("frames", 20))
    assert.isTrue(chosen.take("frames", 150))
    assert.isTrue(chosen.take("frames", 20))
    assert.deepStrictEqual(evicted, [0])
    assert.isFalse(chosen.take("frames", 31))
    assert.strictEqual(budget.held("frames"), 190)
  })

  it("the budget reports refusals and evictions to its listeners", () => {
    const { account, budget } = members(1_000, [1, 0.3])
    const events: Array<string> = []
    const stop = budget.listen(({ action, held, kind, owner }) => events.push(`${action} ${owner} ${kind} ${held}`))
    account(0).take("frames", 190)
    account(1).take("frames", 60)
    account(1).take("frames", 61)
    stop()
    account(1).take("frames", 61)
    assert.deepStrictEqual(events, ["evicted peer 0 frames 190", "refused peer 1 frames 60"])
  })

  it("accounts that hold more than an equal part wait first", () => {
    const { account, budget } = members(1_000, [1, 1])
    account(0).take("frames", 90)
    account(1).take("frames", 5)
    assert.isFalse(budget.isTight("frames", account(0)))
    account(0).take("frames", 10)
    assert.isTrue(budget.isTight("frames", account(0)))
    assert.isFalse(budget.isTight("frames", account(1)))
  })

  it.effect("waiting accounts continue one by one as bytes are given back, or after five seconds", () =>
    Effect.gen(function*() {
      const { account, budget } = members(1_000, [1, 1, 1, 1])
      const turns = Effect.repeatN(Effect.yieldNow(), 20)
      yield* budget.room(account(0), ["frames"])
      for (let i = 0; i < 3; i++) account(i).take("frames", 60)
      const done: Array<number> = []
      const waiting = yield* Effect.forEach(
        [0, 1, 2],
        (i) => Effect.fork(Effect.map(budget.room(account(i), ["frames", "messages"]), () => done.push(i)))
      )
      yield* turns
      assert.deepStrictEqual(done, [])
      account(0).give("frames", 30)
      yield* turns
      assert.deepStrictEqual(done, [0])
      account(2).close()
      yield* turns
      assert.deepStrictEqual(done, [0, 1])
      account(0).give("frames", 1)
      yield* Effect.forEach(waiting, Fiber.join)
      assert.deepStrictEqual(done, [0, 1, 2])

      account(3).take("frames", 110)
      const last = yield* Effect.fork(budget.room(account(3), ["frames"]))
      yield* TestClock.adjust("4999 millis")
      assert.isNull(last.unsafePoll())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(last)
    }))

  it.prop("each limit holds for any sequence of takes, gives and closes", {
    steps: FastCheck.array(
      FastCheck.record({
        holder: FastCheck.integer({ min: 0, max: 3 }),
        kind: FastCheck.constantFrom<BudgetKind>(...BUDGET_KINDS),
        bytes: FastCheck.integer({ min: 0, max: 300 }),
        what: FastCheck.constantFrom("take", "take", "take", "give", "close")
      }),
      { maxLength: 60 }
    )
  }, ({ steps }) => {
    const { account, budget } = members(1_000, [1, 0.75, 0.5, 0.25])
    for (const { bytes, kind, what, holder } of steps) {
      if (what === "take") account(holder).take(kind, bytes)
      else if (what === "give") account(holder).give(kind, bytes)
      else account(holder).close()
      for (const each of BUDGET_KINDS) {
        assert.isAtMost(budget.held(each), budget.limit(each))
        const sum = [0, 1, 2, 3].reduce((all, i) => all + account(i).held(each), 0)
        assert.strictEqual(budget.held(each), sum)
      }
    }
  })
})
