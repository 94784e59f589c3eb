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
  it("only blocks and headers are expected as answers", () => {
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

  it("received bytes reduce the allowance, whatever they contain", () => {
    const asked = new Asked()
    asked.sent(getdata(1), 0)
    asked.sent(getheaders, 0)
    assert.isTrue(asked.arrived(1_199_999, 0))
    assert.strictEqual(asked.bytes(0), 1)
    assert.isFalse(asked.arrived(2, 0))
    assert.strictEqual(asked.bytes(0), 0)
  })

  it("a repeated request allows no more bytes until it was answered", () => {
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

  it("the unused allowance ends when all blocks arrived, or were reported as missing", () => {
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

  it("answers count only for requests of their kind", () => {
    const asked = new Asked()
    asked.sent(getdata(1), 0)
    assert.isFalse(asked.answered(headers, 0))
    assert.isFalse(asked.answered({ type: "getaddr" }, 0))
    assert.strictEqual(asked.bytes(0), 1_000_000)
    asked.sent(getheaders, 0)
    assert.isTrue(asked.answered(block, 0))
    assert.strictEqual(asked.bytes(0), 200_000)
  })

  it("no more blocks are expected than the in-flight limit", () => {
    const asked = new Asked()
    for (let i = 0; i < 10; i++) asked.sent(getdata(10), 0)
    assert.strictEqual(asked.bytes(0), MOST_BLOCKS * 1_000_000)
    for (let i = 0; i < MOST_BLOCKS; i++) assert.isTrue(asked.answered(block, 0))
    assert.isFalse(asked.answered(block, 0))
  })

  it("distrust ends all allowances, but keeps the payload limits of outstanding answers", () => {
    const asked = new Asked()
    asked.sent(getheaders, 0)
    asked.sent(getdata(1), 0)
    asked.distrust()
    assert.strictEqual(asked.bytes(0), 0)
    assert.isFalse(asked.answered(headers, 0))
    assert.deepStrictEqual(asked.owed, { headers: true, blocks: true })
  })

  it("answers time out after two minutes, from the last request for blocks and the first for headers", () => {
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
