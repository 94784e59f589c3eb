import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { ScriptsBehind } from "../../../src/mempool/scripts/errors.ts"
import { scriptKeyOf, ScriptPool } from "../../../src/mempool/scripts/ScriptPool.ts"
import { Op } from "../../../src/protocol/script.ts"
import { pay, reward } from "../../support/mempool.ts"
import { entryOf } from "../../support/pool.ts"

const SCRIPTS = [1, 2, 3].map((value) => Uint8Array.of(Op.OP_1 + value))

const scriptAt = (at: number): Uint8Array => SCRIPTS[at] ?? assert.fail("no script")

const ENTRIES = Array.from({ length: 5 }, (_, i) => {
  const more = SCRIPTS.filter((_, at) => (i + at) % 3 !== 0).map((script) => ({ value: 1_000 + i, script }))
  return entryOf(pay([reward(i + 1)], { more }))
})

const stepArbitrary = FastCheck.record({
  entry: FastCheck.nat(ENTRIES.length - 1),
  // The scripts of the coins that it spends; `undefined` removes it.
  spends: FastCheck.option(FastCheck.array(FastCheck.nat(2), { maxLength: 2 }), { nil: undefined })
})

describe("the waiting transactions of scripts", () => {
  it("are those that were added last and not removed, with what each changes", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(stepArbitrary, { maxLength: 25 }), (steps) => {
        const pool = new ScriptPool()
        const spent = new Map<number, ReadonlyArray<number>>()
        for (const { entry: at, spends } of steps) {
          const entry = ENTRIES[at] ?? assert.fail("no entry")
          if (spends === undefined) {
            pool.remove(entry.transaction.txidKey)
            spent.delete(at)
          } else {
            pool.add(entry, spends.map((script) => ({ script: scriptAt(script), value: 300 })))
            spent.set(at, spends)
          }
          for (const [index, script] of SCRIPTS.entries()) {
            const wanted = [...spent].flatMap(([each, coins]) => {
              const { transaction } = ENTRIES[each] ?? assert.fail("no entry")
              const own = transaction.outputs.filter((output) => output.script === script)
              const paid = coins.filter((coin) => coin === index)
              const change = own.reduce((sum, { value }) => sum + value, 0) - 300 * paid.length
              return own.length + paid.length === 0 ? [] : [`${each}: ${change}`]
            })
            const key = scriptKeyOf(script)
            const found = pool.of(key).map(({ change, entry }) => `${ENTRIES.indexOf(entry)}: ${change}`)
            assert.deepStrictEqual(found.toSorted(), wanted.toSorted())
            assert.strictEqual(pool.count(key), wanted.length)
          }
        }
      })
    )
  })
})

it.each<readonly [height: number, says: string]>([
  [-1, "is being built and has 0 of 412,000 blocks"],
  [411_000, "is being built and has block 411,000 of 412,000"],
  [853_120, "has block 853,120, which the chain does not have at the moment"]
])("an index of addresses at block %d says where it is", (height, says) => {
  const { message } = new ScriptsBehind({ height, tip: 412_000 })
  assert.strictEqual(message, `the index of addresses ${says}; try again later`)
})
