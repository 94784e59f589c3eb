import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  finishReconstruction,
  isMutated,
  makeCompactBlock,
  startReconstruction
} from "../../../src/network/wire/compactBlock.ts"
import { decodeMessage, encodePayload } from "../../../src/network/wire/message.ts"
import type { CmpctBlock } from "../../../src/network/wire/messages/compact.ts"
import { type Block, makeBlock } from "../../../src/protocol/block.ts"
import { concat, EMPTY, toHex } from "../../../src/protocol/bytes.ts"
import { makeHeader } from "../../../src/protocol/header.ts"
import { merkleRoot } from "../../../src/protocol/merkle.ts"
import { makeTransaction, NO_WITNESS, type Transaction } from "../../../src/protocol/transaction.ts"
import { transactions } from "../../support/wireMessages.ts"

/** A transaction without witness, distinguished by its lock time. */
const plain = (lockTime: number, prevout = new Uint8Array(36).fill(1), scriptSig = EMPTY): Transaction =>
  makeTransaction({
    version: 2,
    inputs: [{ prevout, scriptSig, sequence: 0, witness: NO_WITNESS }],
    outputs: [{ value: 1, script: EMPTY }],
    lockTime
  })

const NULL_PREVOUT = new Uint8Array(36).fill(0xff, 32)
const coinbase = plain(0, NULL_PREVOUT)

const blockOf = (transactions: ReadonlyArray<Transaction>): Block =>
  makeBlock({
    header: makeHeader({
      version: 4,
      prevHash: new Uint8Array(32),
      merkleRoot: merkleRoot(transactions.map(({ txid }) => txid)).root,
      time: 1,
      bits: 0x207fffff,
      nonce: 0
    }),
    auxpow: undefined
  }, transactions)

const five = blockOf([coinbase, ...[1, 2, 3, 4].map((i) => plain(i))])

const startOf = (compact: CmpctBlock, candidates: ReadonlyArray<Transaction>) => {
  const start = startReconstruction(compact, candidates)
  return start.type === "ok" ? start.partial : assert.fail(start.type)
}

describe("reconstruction (BIP 152)", () => {
  it("any block is reconstructed over the wire from any part of its transactions and others", () => {
    const parts = FastCheck.record({
      // Different transactions: a duplicate would be a collision.
      list: FastCheck.uniqueArray(transactions, {
        minLength: 1,
        maxLength: 8,
        selector: ({ wtxid }) => toHex(wtxid)
      }),
      others: FastCheck.array(transactions, { maxLength: 5 }),
      nonce: FastCheck.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
      seed: FastCheck.nat()
    })
    FastCheck.assert(FastCheck.property(parts, ({ list, nonce, others, seed }) => {
      const block = blockOf([coinbase, ...list])
      const payload = concat(...encodePayload(makeCompactBlock(block, nonce)))
      const compact = decodeMessage("cmpctblock", payload)
      if (compact.type !== "cmpctblock") return assert.fail(compact.type)
      const known = list.filter((_, i) => ((seed >> i) & 1) === 1)
      const partial = startOf(compact, [...others, ...known.toReversed(), ...known])
      const missing = partial.missing.map((index) => block.transactions[index] ?? assert.fail("no such index"))
      assert.isTrue(missing.every((transaction) => !known.includes(transaction)))
      const witnesses = block.transactions.some(({ hasWitness }) => hasWitness)
      const done = finishReconstruction(partial, missing, true)
      // Witnesses need a commitment, which this coinbase does not have.
      if (witnesses) return assert.strictEqual(done.type, "collision")
      assert.strictEqual(done.type === "ok" ? toHex(done.block.bytes) : done.type, toHex(block.bytes))
    }))
  })

  it("a transaction that matches two candidates is requested", () => {
    const header = makeHeader({
      version: 4,
      prevHash: new Uint8Array(32),
      merkleRoot: new Uint8Array(32),
      time: 1,
      bits: 0x207fffff,
      nonce: 0
    })
    // Found by a search over 36 million lock times: both have this short id under this header and nonce.
    const [one, other, id] = [plain(19_361_911), plain(22_430_146), 29_006_867_491_759]
    const compact: CmpctBlock = {
      type: "cmpctblock",
      header: { header, auxpow: undefined },
      nonce: 7n,
      shortIds: [id, 1],
      prefilled: [{ index: 0, transaction: coinbase }]
    }
    assert.deepStrictEqual(startOf(compact, [one]).missing, [2])
    assert.deepStrictEqual(startOf(compact, [other]).missing, [2])
    // The same transaction twice, as from two pools, is not disputed.
    assert.deepStrictEqual(startOf(compact, [one, one]).missing, [2])
    assert.deepStrictEqual(startOf(compact, [one, other]).missing, [1, 2])
    assert.deepStrictEqual(startOf(compact, [one, other, one]).missing, [1, 2])
  })

  it("prefilled transactions are accepted anywhere", () => {
    const whole = makeCompactBlock(five, 7n)
    const compact: CmpctBlock = {
      ...whole,
      shortIds: whole.shortIds.filter((_, i) => i !== 3 && i !== 1),
      prefilled: [0, 2, 4].map((index) => ({ index, transaction: five.transactions[index] ?? assert.fail() }))
    }
    const read = decodeMessage("cmpctblock", concat(...encodePayload(compact)))
    if (read.type !== "cmpctblock") return assert.fail(read.type)
    assert.deepStrictEqual(read.prefilled.map(({ index }) => index), [0, 2, 4])
    assert.deepStrictEqual(startOf(read, []).missing, [1, 3])
    const done = finishReconstruction(startOf(read, [plain(3)]), [plain(1)], false)
    assert.strictEqual(done.type, "ok")
  })

  it.each<readonly [string, Partial<CmpctBlock>]>([
    ["a block without transactions", { shortIds: [], prefilled: [] }],
    ["a prefilled transaction beyond the end of the block", { prefilled: [{ index: 5, transaction: coinbase }] }],
    ["the index of a prefilled transaction is above 16 bits", {
      prefilled: [{ index: 0x10000, transaction: coinbase }]
    }],
    [
      "an empty prefilled transaction",
      { prefilled: [{ index: 0, transaction: makeTransaction({ version: 1, inputs: [], outputs: [], lockTime: 0 }) }] }
    ],
    [
      "an empty header",
      {
        header: {
          header: makeHeader({
            version: 0,
            prevHash: new Uint8Array(32),
            merkleRoot: new Uint8Array(32),
            time: 0,
            bits: 0,
            nonce: 0
          }),
          auxpow: undefined
        }
      }
    ]
  ])("a compact block is invalid: %s", (reason, change) => {
    const start = startReconstruction({ ...makeCompactBlock(five, 7n), ...change }, [])
    assert.deepStrictEqual(start, { type: "invalid", reason })
  })

  it("a prefilled transaction is accepted in the last place", () => {
    const compact = { ...makeCompactBlock(five, 7n), prefilled: [{ index: 4, transaction: coinbase }] }
    assert.deepStrictEqual(startOf(compact, []).missing, [0, 1, 2, 3])
  })

  it("two equal short ids require the whole block", () => {
    const compact = makeCompactBlock(five, 7n)
    const [first = 0, ...rest] = compact.shortIds
    assert.strictEqual(
      startReconstruction({ ...compact, shortIds: [first, ...rest.slice(1), first] }, []).type,
      "collision"
    )
  })

  it("transactions that do not match the header require the whole block", () => {
    const partial = startOf(makeCompactBlock(five, 7n), [plain(1), plain(2), plain(3)])
    assert.deepStrictEqual(partial.missing, [4])
    assert.strictEqual(finishReconstruction(partial, [plain(5)], false).type, "collision")
    assert.strictEqual(finishReconstruction(partial, [plain(4)], false).type, "ok")
  })

  it("the places of short ids are found in any order, around prefilled transactions", () => {
    const transactions = Array.from({ length: 200 }, (_, i) => plain(1_000 + i))
    const [first, ...rest] = transactions
    if (first === undefined) return assert.fail("no transactions")
    const block = makeBlock({ header: five.header, auxpow: undefined }, transactions)
    const compact = makeCompactBlock(block, 9n)
    const last = rest.at(-1) ?? first
    const shortened = {
      ...compact,
      shortIds: compact.shortIds.slice(0, -1),
      prefilled: [...compact.prefilled, { index: 199, transaction: last }]
    }
    const partial = startOf(shortened, rest.toReversed())
    assert.lengthOf(partial.missing, 0)
    assert.deepStrictEqual(
      partial.transactions.map((each) => each?.txidKey),
      transactions.map(({ txidKey }) => txidKey)
    )
  })

  it("too few and too many transactions are invalid", () => {
    const partial = startOf(makeCompactBlock(five, 7n), [plain(1), plain(2), plain(3)])
    assert.strictEqual(finishReconstruction(partial, [], false).type, "invalid")
    assert.strictEqual(finishReconstruction(partial, [plain(4), plain(4)], false).type, "invalid")
  })

  it("short ids chosen by a peer do not make the search slow", () => {
    // Multiples of 2^32 collide in a hash table that uses the low bits.
    const shortIds = Array.from({ length: 60_000 }, (_, i) => i * 2 ** 32)
    const start = performance.now()
    assert.strictEqual(startReconstruction({ ...makeCompactBlock(five, 7n), shortIds }, [plain(1)]).type, "ok")
    assert.isBelow(performance.now() - start, 5000)
  })
})

describe("isMutated (upstream IsBlockMutated)", () => {
  const withWitness = makeTransaction({
    version: 2,
    inputs: [{ prevout: new Uint8Array(36).fill(1), scriptSig: EMPTY, sequence: 0, witness: [Uint8Array.of(1)] }],
    outputs: [],
    lockTime: 0
  })

  /** Version, input, one output without script, and lock time are 60 bytes. */
  const sized = (size: number): Transaction => plain(9, undefined, new Uint8Array(size - 60))

  it.each<readonly [string, Block, boolean, boolean]>([
    ["a good block", five, true, false],
    ["another order", makeBlock(five, [coinbase, plain(2), plain(1), plain(3), plain(4)]), true, true],
    [
      "the last transactions twice",
      makeBlock(blockOf([coinbase, plain(1), plain(2)]), [
        coinbase,
        plain(1),
        plain(2),
        plain(2)
      ]),
      true,
      true
    ],
    ["a witness before segwit", blockOf([coinbase, withWitness]), false, true],
    ["a witness without a commitment", blockOf([coinbase, withWitness]), true, true],
    ["64 bytes in place of the coinbase", blockOf([sized(64)]), true, true],
    ["63 bytes in place of the coinbase", blockOf([sized(63)]), true, false],
    ["65 bytes in place of the coinbase", blockOf([sized(65)]), true, false],
    ["64 bytes behind a coinbase", blockOf([coinbase, sized(64)]), true, false]
  ])("%s", (_, block, segwitActive, expected) => {
    assert.strictEqual(isMutated(block, segwitActive), expected)
  })
})
