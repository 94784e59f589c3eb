import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import type { NameClaim } from "../../src/consensus/view.ts"
import { type NameKey, nameKey } from "../../src/protocol/keys.ts"
import { outpoint, outpointKey } from "../../src/protocol/transaction.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { applyAll, blockAt, text, withDb } from "./blocks.ts"

type Claims = ReadonlyArray<readonly [name: NameKey, claim: NameClaim]>

const blocks = [
  blockAt(0, [{ name: text("d/a") }, { name: text("d/b") }]),
  blockAt(1, [{ name: text("d/b") }, { name: Uint8Array.of(0xff) }])
]

/** The claims at the end of a chain of these blocks. */
const right: Claims = [
  ...new Map(
    blocks.flatMap(({ effects }) =>
      effects.map(({ height, name, transaction, vout }) =>
        [nameKey(name), { height, outpoint: outpointKey(outpoint(transaction.txid, vout)) }] as const
      )
    )
  )
]

/** Returns the faults that a comparison with these claims finds, after `spoil` ran on the file. */
const faultsWith = (claims: Claims, spoil = "", from = 0) =>
  Effect.gen(function*() {
    const filename = join(yield* temporaryDirectory, "names.db")
    yield* withDb(filename, (db) => applyAll(db, [blocks]))
    const database = new SQLite(filename)
    database.exec(spoil)
    database.close()
    // Without sums, the changed pages count as intact.
    rmSync(`${filename}.sums`)
    return yield* withDb(filename, (db) =>
      Effect.gen(function*() {
        const check = yield* db.check(from)
        for (const claim of claims) check.add([claim])
        return yield* check.result
      }))
  })

describe("a comparison with the claims of the chain state", () => {
  it.scoped("a comparison of matching claims finds no fault", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* faultsWith(right), { names: 3, faults: [] })
      assert.deepStrictEqual(yield* faultsWith([...right].reverse()), { names: 3, faults: [] })
    }))

  it.scoped("names below a height need no claim, and the others do", () =>
    Effect.gen(function*() {
      const recent = right.filter(([, { height }]) => height >= 1)
      assert.deepStrictEqual(yield* faultsWith(recent, "", 1), { names: 2, faults: [] })
      assert.deepStrictEqual(yield* faultsWith(right, "", 1), { names: 2, faults: [] })
      assert.deepStrictEqual((yield* faultsWith(recent)).faults, ["there are records of 3 names, and claims of 2"])
      const [missing] = recent
      const without = recent.filter((each) => each !== missing)
      assert.deepStrictEqual((yield* faultsWith(without, "", 1)).faults, [
        "there are records of 2 names, and claims of 1"
      ])
    }))

  it.scoped("a comparison of an empty file with no claims finds no fault", () =>
    Effect.gen(function*() {
      const result = yield* withDb(join(yield* temporaryDirectory, "names.db"), (db) =>
        Effect.flatMap(db.check(0), ({ result }) => result))
      assert.deepStrictEqual(result, { names: 0, faults: [] })
    }))

  const changed = (name: string, change: Partial<NameClaim>): Claims =>
    right.map(([key, claim]) => [key, key === name ? { ...claim, ...change } : claim])

  const unregistered: Claims = [[nameKey(Uint8Array.of(0xfe)), { height: 0, outpoint: "" }]]

  it.scoped.each([
    {
      what: "another height",
      claims: changed("d/a", { height: 1 }),
      fault: /'d\/a' is claimed at height 1, but its record is from height 0/
    },
    { what: "another output", claims: changed("d/b", { outpoint: "x" }), fault: /'d\/b' is claimed by an output/ },
    {
      what: "a claim without record",
      claims: [...right, ...unregistered],
      fault: /0xfe is claimed at height 0, but has no record/
    },
    { what: "a record without claim", claims: right.slice(1), fault: /records of 3 names, and claims of 2/ }
  ])("finds $what", ({ claims, fault }) =>
    Effect.gen(function*() {
      const { faults } = yield* faultsWith(claims)
      assert.match(faults[0] ?? "nothing", fault)
    }))

  it.scoped.each([
    {
      what: "a record that is not the newest operation",
      spoil: "UPDATE names SET operation = 1 WHERE name = x'642f62'",
      fault: /'d\/b' does not agree with its operations/
    },
    {
      what: "a record without operation",
      spoil: "DELETE FROM operations WHERE height = 0 AND name_id = 1",
      fault: /'d\/a' does not agree with its operations/
    },
    {
      what: "another owner in the record",
      spoil: "UPDATE names SET address = x'00' WHERE name = x'ff'",
      fault: /0xff does not agree with its operations/
    },
    {
      what: "an operation of no name",
      spoil:
        "INSERT INTO operations (id, name_id, txid, vout, amount, value, address) VALUES (9, 4, x'', 0, 0, x'', x'')",
      fault: /operations without a name, or above the last block/
    },
    {
      what: "a cursor below the last operation",
      spoil: "UPDATE cursor SET height = 0",
      fault: /operations without a name, or above the last block/
    }
  ])("finds $what", ({ fault, spoil }) =>
    Effect.gen(function*() {
      const { faults } = yield* faultsWith(right, spoil)
      assert.isTrue(faults.some((found) => fault.test(found)), faults.join("; ") || "found nothing")
    }))

  it.scoped("a comparison reports only some of very many faults", () =>
    Effect.gen(function*() {
      const wrong: Claims = Array.from(
        { length: 5_000 },
        (_, i) => [nameKey(text(`d/${i}`)), { height: 0, outpoint: "" }]
      )
      const { faults, names } = yield* faultsWith(wrong)
      assert.strictEqual(names, 5_000)
      assert.strictEqual(faults.length, 20)
    }))
})
