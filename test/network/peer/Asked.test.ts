import { assert, describe, it } from "@effect/vitest"
import { ANSWER_TIME, Asked, MOST_BLOCKS } from "../../../src/network/peer/Asked.ts"
import type { Message } from "../../../src/network/wire/message.ts"
import { ItemType } from "../../../src/network/wire/messages/inv.ts"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { regtest } from "../../../src/protocol/networks.ts"

const hash = new Uint8Array(32)
const getheaders: Message = { type: "getheaders", version: 1, locator: [], stop: hash }
const headers: Message = { type: "headers", headers: [] }
const block: Message = { type: "block", block: decodeBlock(regtest.genesisBlock) }

const getdata = (count: number): Message => ({
  type: "getdata",
  items: Array.from({ length: count }, () => ({ type: ItemType.witnessBlock, hash }))
})

describe("Asked", () => {
  it("expects blocks and headers, and nothing else", () => {
    const asked = new Asked()
    const items = [{ type: ItemType.witnessBlock, hash }, { type: ItemType.wtx, hash }, { type: ItemType.block, hash }]
    for (const message of [{ type: "inv", items }, { type: "getaddr" }, { type: "ping", nonce: 1n }] as const) {
      asked.sent(message, 0)
    }
    assert.strictEqual(asked.bytes(0), 0)
    asked.sent({ type: "getdata", items }, 0)
    assert.strictEqual(asked.bytes(0), 2_000_000)
    asked.sent({ type: "getblocktxn", hash, indexes: [1] }, 0)
    assert.strictEqual(asked.bytes(0), 3_000_000)
    asked.sent(getheaders, 0)
    assert.strictEqual(asked.bytes(0), 3_200_000)
  })

  it("counts down with what comes, whatever it is", () => {
    const asked = new Asked()
    asked.sent(getdata(1), 0)
    asked.sent(getheaders, 0)
    assert.isTrue(asked.arrived(1_199_999, 0))
    assert.strictEqual(asked.bytes(0), 1)
    assert.isFalse(asked.arrived(2, 0))
    assert.strictEqual(asked.bytes(0), 0)
  })

  it("allows no more for a question that is put again, until it was answered", () => {
    const asked = new Asked()
    asked.sent(getheaders, 0)
    asked.arrived(150_000, 0)
    for (let i = 0; i < 10; i++) asked.sent(getheaders, 1_000)
    assert.strictEqual(asked.bytes(1_000), 50_000)
    assert.isTrue(asked.answered(headers, 1_000))
    assert.strictEqual(asked.bytes(1_000), 0)
    assert.isFalse(asked.answered(headers, 1_000))
    asked.sent(getheaders, 1_000)
    assert.strictEqual(asked.bytes(1_000), 200_000)
  })

  it("takes back what is left when all blocks came, or were said to be missing", () => {
    const asked = new Asked()
    asked.sent(getdata(3), 0)
    assert.isTrue(asked.answered(block, 0))
    assert.strictEqual(asked.bytes(0), 3_000_000)
    assert.isFalse(asked.answered({ type: "notfound", items: [{ type: ItemType.wtx, hash }] }, 0))
    assert.isTrue(asked.answered({ type: "blocktxn", hash, transactions: [] }, 0))
    assert.isFalse(asked.answered({ type: "notfound", items: [{ type: ItemType.witnessBlock, hash }] }, 0))
    assert.strictEqual(asked.bytes(0), 0)
    assert.isFalse(asked.answered(block, 0))
  })

  it("takes answers of one kind for that kind alone", () => {
    const asked = new Asked()
    asked.sent(getdata(1), 0)
    assert.isFalse(asked.answered(headers, 0))
    assert.isFalse(asked.answered({ type: "getaddr" }, 0))
    assert.strictEqual(asked.bytes(0), 1_000_000)
    asked.sent(getheaders, 0)
    assert.isTrue(asked.answered(block, 0))
    assert.strictEqual(asked.bytes(0), 200_000)
  })

  it("waits for no more blocks than are asked for at a time", () => {
    const asked = new Asked()
    for (let i = 0; i < 10; i++) asked.sent(getdata(10), 0)
    assert.strictEqual(asked.bytes(0), MOST_BLOCKS * 1_000_000)
    for (let i = 0; i < MOST_BLOCKS; i++) assert.isTrue(asked.answered(block, 0))
    assert.isFalse(asked.answered(block, 0))
  })

  it("waits for nothing any more of a peer whose answers were worth nothing, and allows for long ones all the same", () => {
    const asked = new Asked()
    asked.sent(getheaders, 0)
    asked.sent(getdata(1), 0)
    asked.distrust()
    assert.strictEqual(asked.bytes(0), 0)
    assert.isFalse(asked.answered(headers, 0))
    assert.deepStrictEqual(asked.owed, { headers: true, blocks: true })
  })

  it("waits two minutes, from the last question for blocks and the first for headers", () => {
    const asked = new Asked()
    asked.sent(getheaders, 0)
    asked.sent(getdata(1), 0)
    asked.sent(getheaders, 10)
    asked.sent(getdata(1), 10)
    assert.strictEqual(asked.bytes(ANSWER_TIME - 1), 2_200_000)
    assert.strictEqual(asked.bytes(ANSWER_TIME), 2_000_000)
    assert.isFalse(asked.answered(headers, ANSWER_TIME))
    assert.strictEqual(asked.bytes(ANSWER_TIME + 10), 0)
    assert.isFalse(asked.answered(block, ANSWER_TIME + 10))
  })
})
