import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { ClaimTable } from "../../../src/chain/state/ClaimTable.ts"
import type { NameClaim } from "../../../src/consensus/view.ts"
import { type NameKey, nameKey } from "../../../src/protocol/keys.ts"
import { outpoint, outpointKey } from "../../../src/protocol/transaction.ts"

/** More than the table has places for at first, so that it grows, more than once. */
const NAMES = 150
const HEIGHTS = 5

const nameOf = (n: number): NameKey => nameKey(new Uint8Array([n & 0xff, 0xff - (n >> 8)]))

const keyOf = (n: number): string => outpointKey(outpoint(new Uint8Array(32).fill(n), 0xff000000 + n))

/** What the table must hold: entries with their claims, and the names that differ from the stored claims. */
interface Model {
  readonly entries: Map<NameKey, NameClaim | undefined>
  readonly changed: Set<NameKey>
}

type Step =
  | { readonly type: "change" | "add"; readonly names: ReadonlyArray<number>; readonly height: number }
  | { readonly type: "settle" }
  | { readonly type: "clear" }

const names = FastCheck.oneof(
  FastCheck.array(FastCheck.nat(NAMES - 1), { maxLength: 6 }),
  // Many at once.
  FastCheck.tuple(FastCheck.nat(NAMES - 1), FastCheck.nat(100)).map(([from, count]) =>
    Array.from({ length: count }, (_, n) => (from + n) % NAMES)
  )
)

/** Height 0 stands for no claim. */
const height = FastCheck.nat(HEIGHTS)

const kind = FastCheck.nat(2).map((n): "change" | "add" => n === 0 ? "add" : "change")

const steps: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  { weight: 9, arbitrary: FastCheck.record({ type: kind, names, height }) },
  { weight: 2, arbitrary: FastCheck.constant({ type: "settle" as const }) },
  { weight: 1, arbitrary: FastCheck.constant({ type: "clear" as const }) }
)

const run = (table: ClaimTable, { changed, entries }: Model, step: Step): void => {
  if (step.type === "settle") {
    table.settle()
    changed.clear()
  } else if (step.type === "clear") {
    table.clear()
    changed.clear()
    entries.clear()
  } else {
    for (const n of step.names) {
      const name = nameOf(n)
      const claim = step.height === 0 ? undefined : { height: step.height, outpoint: keyOf(n ^ step.height) }
      if (step.type === "add") {
        if (entries.has(name)) continue
        table.add(name, claim)
      } else {
        table.change(name, claim)
        changed.add(name)
      }
      entries.set(name, claim)
    }
  }
}

const textOf = (claim: NameClaim | undefined): string =>
  claim === undefined ? "none" : `${claim.height} ${claim.outpoint}`

const lines = (entries: Iterable<readonly [name: NameKey, claim: NameClaim | undefined]>): ReadonlyArray<string> =>
  Array.from(entries, ([name, claim]) => `${name} ${textOf(claim)}`).sort()

const isEqual = (table: ClaimTable, { changed, entries }: Model): void => {
  for (let n = 0; n < NAMES; n++) {
    const name = nameOf(n)
    assert.strictEqual(table.has(name), entries.has(name))
    assert.strictEqual(table.hasChanged(name), changed.has(name))
    assert.strictEqual(textOf(table.get(name)), textOf(entries.get(name)))
  }
  const changes = [...changed].map((name) => [name, entries.get(name)] as const)
  assert.deepStrictEqual(lines(table.changes()), lines(changes))
  for (let height = -1; height <= HEIGHTS; height++) {
    const there = changes.filter(([, claim]) => claim?.height === height)
    assert.deepStrictEqual(lines(table.claimsAt(height)), lines(there))
  }
  assert.strictEqual(table.bytes === 0, entries.size === 0)
}

describe("ClaimTable", () => {
  it("ClaimTable holds what a map holds, and lists the changes by height, however much it grew or was cleared", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(steps, { minLength: 3, maxLength: 25 }), (steps) => {
        const table = new ClaimTable()
        const model: Model = { entries: new Map(), changed: new Set() }
        for (const step of steps) run(table, model, step)
        isEqual(table, model)
      }),
      { numRuns: 40 }
    )
  })
})
