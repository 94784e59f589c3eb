import { assert, describe, it } from "@effect/vitest"
import { newestOperations, operationsWithin } from "../../../src/names/events/blockOperations.ts"
import type { LoggedOperation, OperationLog } from "../../../src/names/events/OperationLog.ts"
import { firstOperationAt } from "../../../src/names/NameEntry.ts"

const operation = (id: number): LoggedOperation => ({
  id,
  kind: "updated",
  record: {
    name: new Uint8Array(1),
    value: new Uint8Array(0),
    height: 0,
    txid: new Uint8Array(32),
    vout: 0,
    address: new Uint8Array(0),
    op: "name_update",
    amount: 0
  },
  before: undefined
})

/** The log of blocks with so many operations, by height. */
const logOf = (counts: ReadonlyArray<number>, beginning = -1): OperationLog => {
  const all = counts.flatMap((count, height) => Array.from({ length: count }, (_, at) => firstOperationAt(height) + at))
  const within = ({ from, to }: { readonly from: number; readonly to: number }) =>
    all.filter((id) => id >= from && id < to)
  return {
    last: counts.length === 0 ? undefined : { height: counts.length - 1, hash: new Uint8Array(32) },
    beginning,
    operations: (range, { limit }) => within(range).slice(0, limit).map(operation),
    count: (range) => within(range).length,
    newest: () => [],
    recordBelow: () => undefined
  }
}

describe("operationsWithin", () => {
  it("counts the operations of whole blocks", () => {
    assert.strictEqual(operationsWithin(logOf([1, 2, 0, 4]), { from: 1, to: 3 }), 6)
    assert.strictEqual(operationsWithin(logOf([1, 2, 0, 4]), { from: 2, to: 2 }), 0)
  })

  it("does not know blocks that the log lacks, behind its last one and up to its beginning", () => {
    assert.isUndefined(operationsWithin(logOf([1, 2]), { from: 1, to: 2 }))
    assert.isUndefined(operationsWithin(logOf([]), { from: 0, to: 0 }))
    assert.isUndefined(operationsWithin(logOf([1, 2, 3], 1), { from: 1, to: 2 }))
    assert.strictEqual(operationsWithin(logOf([1, 2, 3], 1), { from: 2, to: 2 }), 3)
  })
})

describe("newestOperations", () => {
  const ids = (log: OperationLog, blocks: number, limit: number) =>
    newestOperations(log, { blocks, limit }).map(({ id }) => id)

  it("has the newest ones of the last blocks, the newest first", () => {
    const log = logOf([5, 1, 0, 2])
    const [first, last] = [firstOperationAt(0), firstOperationAt(3)]
    assert.deepStrictEqual(ids(log, 4, 5), [last + 1, last, firstOperationAt(1), first + 4, first + 3])
    assert.deepStrictEqual(ids(log, 2, 5), [last + 1, last])
    assert.deepStrictEqual(ids(log, 4, 1), [last + 1])
  })

  it("has none of the blocks up to the beginning of the log", () => {
    assert.deepStrictEqual(ids(logOf([1, 1, 1], 1), 9, 9), [firstOperationAt(2)])
    assert.deepStrictEqual(ids(logOf([]), 9, 9), [])
  })
})
