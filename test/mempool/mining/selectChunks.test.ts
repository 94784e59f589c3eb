import { assert, describe, it } from "@effect/vitest"
import type { Coin } from "../../../src/consensus/view.ts"
import {
  BLOCK_LIMITS,
  type BlockToFill,
  RESERVED_WEIGHT,
  selectChunks
} from "../../../src/mempool/mining/selectChunks.ts"
import type { PoolEntry } from "../../../src/mempool/PoolEntry.ts"
import { nameScript } from "../../../src/protocol/nameOperation.ts"
import {
  makeTransaction,
  NO_WITNESS,
  outpoint,
  outpointKey,
  type Transaction
} from "../../../src/protocol/transaction.ts"
import { chunkOf, entryOf } from "../../support/pool.ts"
import { ANYONE, currency, input, nameNew, nameOutput, saltOf, text } from "../../support/regtest.ts"

let count = 0

/** Unique 32 bytes. */
const freshId = (): Uint8Array => {
  const id = new Uint8Array(32)
  new DataView(id.buffer).setUint32(0, ++count)
  return id
}

/** A transaction with arbitrary inputs, padded to a weight: the smallest has 244. */
const sized = (
  weight = 244,
  inputs = 1,
  overrides: { version?: number; lockTime?: number; sequence?: number } = {}
) => {
  const make = (padding: number): Transaction =>
    makeTransaction({
      version: overrides.version ?? 2,
      lockTime: overrides.lockTime ?? 0,
      inputs: Array.from({ length: inputs }, () => ({
        prevout: outpoint(freshId(), 0),
        scriptSig: new Uint8Array(0),
        sequence: overrides.sequence ?? 0xffffffff,
        witness: NO_WITNESS
      })),
      outputs: [{ value: 1, script: new Uint8Array(padding) }]
    })
  const bare = make(0)
  // The length prefix of the padding takes four bytes more than that of an empty script.
  const padding = (weight - bare.weight) / 4
  return make(padding < 0xfd ? Math.max(0, padding) : padding < 0x10002 ? padding - 2 : padding - 4)
}

const block = (overrides: Partial<BlockToFill> = {}): BlockToFill => ({
  height: 100,
  medianTimePast: 1_600_000_000,
  coin: () => undefined,
  ...overrides
})

const txids = ({ entries }: { readonly entries: ReadonlyArray<PoolEntry> }) =>
  entries.map(({ transaction }) => transaction.txidKey)

/** The selected ones of single transactions, by position. */
const chosen = (entries: ReadonlyArray<PoolEntry>, to: BlockToFill = block()): ReadonlyArray<number> => {
  const keys = txids(selectChunks(entries.map((entry) => chunkOf(entry)), to))
  return keys.map((key) => entries.findIndex(({ transaction }) => transaction.txidKey === key))
}

describe("selectChunks", () => {
  it("takes all chunks that fit, in their order, and adds them up", () => {
    const entries = [entryOf(sized(400), { fee: 7 }), entryOf(sized(800), { fee: 11, modifiedFee: 5 })]
    const selection = selectChunks(entries.map((entry) => chunkOf(entry)), block())
    assert.deepStrictEqual(selection.entries, entries)
    assert.strictEqual(selection.fees, 18, "what is paid, not what it counts with")
    assert.strictEqual(selection.weight, RESERVED_WEIGHT + 1200)
    assert.deepStrictEqual(selectChunks([], block()), { entries: [], fees: 0, weight: RESERVED_WEIGHT })
  })

  it("fills a block to below its weight limit, and goes on with smaller chunks", () => {
    const room = 4_000_000 - RESERVED_WEIGHT
    const big = sized(room - 4)
    assert.strictEqual(big.weight, room - 4)
    assert.deepStrictEqual(chosen([entryOf(big)]), [0])
    assert.deepStrictEqual(chosen([entryOf(sized(room))]), [])
    assert.deepStrictEqual(chosen([entryOf(sized(room - 244)), entryOf(sized(248)), entryOf(sized(244))]), [0])
    assert.deepStrictEqual(chosen([entryOf(sized(room - 248)), entryOf(sized(248)), entryOf(sized(244))]), [0, 2])
  })

  it("keeps the configured weight for header and coinbase", () => {
    const taken = (reservedWeight: number, weight: number): number =>
      selectChunks([chunkOf(entryOf(sized(weight)))], block(), { ...BLOCK_LIMITS, reservedWeight }).entries.length
    const room = 4_000_000 - RESERVED_WEIGHT
    assert.deepStrictEqual([taken(RESERVED_WEIGHT, room), taken(2_000, room), taken(2_000, 3_998_000)], [0, 1, 0])
    assert.strictEqual(selectChunks([], block(), { ...BLOCK_LIMITS, reservedWeight: 2_000 }).weight, 2_000)
  })

  it("counts the weight of signature operations for the fee rate, but not for the block", () => {
    const heavy = entryOf(sized(400), { weight: 3_000_000 })
    assert.deepStrictEqual(chosen([heavy, entryOf(sized(3_000_000))]), [0, 1])
    assert.deepStrictEqual(chosen([entryOf(sized(3_000_000)), heavy]), [0])
  })

  it("fills a block to below its limit of signature operations", () => {
    const room = 80_000 - 400
    assert.deepStrictEqual(chosen([entryOf(sized(), { sigopCost: room - 1 })]), [0])
    assert.deepStrictEqual(chosen([entryOf(sized(), { sigopCost: room })]), [])
    const parts = [40_000, room - 40_000, room - 40_001].map((sigopCost) => entryOf(sized(), { sigopCost }))
    assert.deepStrictEqual(chosen(parts), [0, 2])
  })

  it("skips chunks that pay less than one unit a kilobyte", () => {
    // 4,000 weight units are a thousand virtual bytes.
    assert.deepStrictEqual(chosen([entryOf(sized(4_000), { fee: 1 })]), [0])
    assert.deepStrictEqual(chosen([entryOf(sized(4_004), { fee: 1 })]), [])
    assert.deepStrictEqual(chosen([entryOf(sized(4_004), { fee: 2 })]), [0])
    assert.deepStrictEqual(chosen([entryOf(sized(), { fee: 0 }), entryOf(sized())]), [], "the rest pays even less")
  })

  it("takes transactions whose lock time allows it, by height and by median time past", () => {
    const locked = (lockTime: number, sequence = 0) => entryOf(sized(244, 1, { lockTime, sequence }))
    assert.deepStrictEqual(chosen([locked(99), locked(100), locked(100, 0xffffffff)]), [0, 2])
    assert.deepStrictEqual(chosen([locked(1_599_999_999), locked(1_600_000_000)]), [0])
  })

  it("skips chunks that depend on skipped ones, and keeps the rest", () => {
    const parent = sized(244, 1, { lockTime: 200, sequence: 0 })
    const child = currency([input({ transaction: parent, vout: 0 })], [{ value: 1, script: ANYONE }])
    const grandchild = currency([input({ transaction: child, vout: 0 })], [{ value: 1, script: ANYONE }])
    const entries = [parent, child, sized(), grandchild].map((transaction) => entryOf(transaction))
    assert.deepStrictEqual(chosen(entries), [2])
    assert.deepStrictEqual(chosen(entries, block({ height: 201 })), [0, 1, 2, 3])
    const [first, second] = [entryOf(parent), entryOf(child)]
    assert.isEmpty(selectChunks([chunkOf(first, second)], block()).entries, "a chunk is taken as a whole")
    assert.lengthOf(selectChunks([chunkOf(first, second)], block({ height: 201 })).entries, 2)
  })

  it("enforces the lock rule, with room for the coinbase", () => {
    // Its own id, and those of its inputs; the coinbase takes two.
    assert.deepStrictEqual(chosen([entryOf(sized(244, 4_497))]), [0])
    assert.deepStrictEqual(chosen([entryOf(sized(244, 4_498))]), [])
    assert.deepStrictEqual(chosen([entryOf(sized(244, 4_496, { version: 0x7100 }))]), [0])
    assert.deepStrictEqual(chosen([entryOf(sized(244, 4_497, { version: 0x7100 }))]), [])
    assert.deepStrictEqual(chosen([sized(244, 4_000), sized(244, 498), sized(244, 496)].map((one) => entryOf(one))), [
      0,
      2
    ])
  })

  it("counts an id once, however often it occurs", () => {
    const parent = sized(244, 4_000)
    const spends = Array.from({ length: 400 }, (_, vout) => input({ transaction: parent, vout }))
    const child = currency(spends, [{ value: 1, script: ANYONE }])
    assert.lengthOf(
      selectChunks([chunkOf(entryOf(parent), entryOf(child)), chunkOf(entryOf(sized(244, 494)))], block()).entries,
      3
    )
    assert.lengthOf(selectChunks([chunkOf(entryOf(parent)), chunkOf(entryOf(child))], block()).entries, 2)
  })

  it("takes a registration once its commitment is confirmed and twelve blocks deep", () => {
    const name = text("d/mined")
    const rand = saltOf(1)
    const commitment = makeTransaction({
      version: 0x7100,
      lockTime: 0,
      inputs: [input({ transaction: sized(), vout: 0 })],
      outputs: [nameOutput(nameNew(name, rand))]
    })
    const spend = [input({ transaction: commitment, vout: 0 })]
    const registration = currency(
      spend,
      [nameOutput({ op: "name_firstupdate", name, rand, value: text("x") })],
      { version: 0x7100 }
    )
    const update = currency(
      [input({ transaction: registration, vout: 0 })],
      [nameOutput({ op: "name_update", name, value: text("y") })],
      { version: 0x7100 }
    )
    const key = outpointKey(outpoint(commitment.txid, 0))
    const at = (height: number, script = nameScript(nameNew(name, rand), ANYONE)) => {
      const coin: Coin = { value: 1_000_000, script, height, coinbase: false }
      return block({ coin: (outpoint) => outpoint === key ? coin : undefined })
    }
    const chunk = [chunkOf(entryOf(registration), entryOf(update))]
    assert.lengthOf(selectChunks(chunk, at(88)).entries, 2)
    assert.isEmpty(selectChunks(chunk, at(89)).entries)
    assert.isEmpty(selectChunks(chunk, block()).entries, "not confirmed")
    assert.isEmpty(selectChunks(chunk, at(1, ANYONE)).entries, "no commitment")
    const whole = [chunkOf(entryOf(commitment), entryOf(registration)), chunkOf(entryOf(update))]
    assert.deepStrictEqual(txids(selectChunks(whole, block())), [commitment.txidKey], "the commitment goes first")
    assert.lengthOf(selectChunks([chunkOf(entryOf(commitment)), ...chunk], block()).entries, 1)
  })

  it("mines what is final of a chunk at its own fee rate, and what depends on it after it", () => {
    const parent = sized(400)
    const spending = (transaction: Transaction, vout: number, lockTime = 0) =>
      currency([{ ...input({ transaction, vout }), sequence: 0 }], [{ value: 1, script: new Uint8Array(60) }], {
        lockTime
      })
    const early = spending(parent, 0, 100_000)
    const child = spending(parent, 1)
    const [rich, poor] = [sized(400), sized(400)]
    const chunks = (childFee: number) => [
      chunkOf(entryOf(parent, { fee: 10 }), entryOf(early, { fee: 10_000 })),
      chunkOf(entryOf(rich, { fee: 1_000 })),
      chunkOf(entryOf(child, { fee: childFee })),
      chunkOf(entryOf(poor, { fee: 8 }))
    ]
    assert.deepStrictEqual(
      txids(selectChunks(chunks(12), block())),
      [rich, parent, child, poor].map((tx) => tx.txidKey)
    )
    const withoutParent = chunks(900).map((chunk, i) => i === 0 ? chunkOf(entryOf(parent, { fee: 0 })) : chunk)
    assert.deepStrictEqual(
      txids(selectChunks(withoutParent.slice(1), block())),
      [rich, child, poor].map((tx) => tx.txidKey)
    )
    const lost = [chunkOf(entryOf(early, { fee: 10 })), chunkOf(entryOf(spending(early, 0), { fee: 9 }))]
    assert.isEmpty(selectChunks(lost, block()).entries)
  })

  it("stops when a nearly full block has skipped many chunks in a row, and not before", () => {
    const room = 4_000_000 - RESERVED_WEIGHT
    const filling = (weight: number) => [
      entryOf(sized(weight)),
      ...Array.from({ length: 1_001 }, () => entryOf(sized(), { weight: 10_000 })),
      entryOf(sized())
    ]
    assert.deepStrictEqual(chosen(filling(room - 3_996)), [0])
    assert.deepStrictEqual(chosen(filling(room - 4_000)), [0, 1_002])
  })
})
