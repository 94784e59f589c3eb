import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { MemoryBudget } from "../../../src/base/MemoryBudget.ts"
import { Asked } from "../../../src/network/peer/Asked.ts"
import { decodedSize, PeerMemory } from "../../../src/network/peer/PeerMemory.ts"
import { limitByPhase } from "../../../src/network/peer/Reading.ts"
import { FrameParser } from "../../../src/network/wire/framing.ts"
import { decodeInSteps, decodeMessage, encodeMessage } from "../../../src/network/wire/message.ts"
import { MAX_ANNOUNCED, PackedItems } from "../../../src/network/wire/messages/inv.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { Writer } from "../../../src/protocol/Writer.ts"
import { eventually, pause } from "../../support/eventually.ts"
import { remotePeer } from "../../support/network.ts"
import { testNetwork } from "../../support/peerManager.ts"

/** The payload of an inventory with this many items. */
const inventory = (count: number): Uint8Array => {
  const writer = new Writer(9 + 36 * count).compactSize(count)
  for (let i = 0; i < count; i++) writer.u32(5).bytes(new Uint8Array(32).fill(i & 0xff))
  return writer.toBytes()
}

describe("inventories", () => {
  it("an inv keeps its first 5,000 items, and not the rest of the payload", () => {
    const message = decodeMessage("inv", inventory(50_000))
    if (message.type !== "inv" || !(message.items instanceof PackedItems)) return assert.fail("no packed inv")
    assert.strictEqual(message.items.length, MAX_ANNOUNCED)
    assert.strictEqual(message.items.at(4_999)?.hash.buffer.byteLength, 36 * MAX_ANNOUNCED)
    assert.strictEqual(message.items.at(4_999)?.hash[0], 4_999 & 0xff)
    assert.isUndefined(message.items.at(5_000))
    assert.isBelow(decodedSize("inv", inventory(50_000)), 181_000)
    assert.isAbove(decodedSize("inv", inventory(50_000), true), 1_800_000)
    const whole = decodeInSteps("inv", inventory(50_000), true).next().value
    assert.strictEqual(whole?.type === "inv" && whole.items.length, 50_000)
  })

  it("a getdata keeps all 50,000 items in one buffer", () => {
    const payload = inventory(50_000)
    const message = decodeMessage("getdata", payload)
    if (message.type !== "getdata") return assert.fail("no getdata")
    assert.strictEqual(message.items.length, 50_000)
    assert.strictEqual(message.items.at(49_999)?.hash.buffer, payload.buffer)
    assert.strictEqual([...message.items].length, 50_000)
  })
})

describe("payload limits", () => {
  it("long headers and blocktxn are allowed only while an answer is outstanding", () => {
    const asked = new Asked()
    const limit = limitByPhase(asked)
    limit("verack")
    assert.isAtMost(limit("headers"), 0x64000)
    assert.isAtMost(limit("blocktxn"), 0x20000)
    const [locator, stop] = [[], new Uint8Array(32)]
    asked.sent({ type: "getheaders", version: 1, locator, stop }, 0)
    assert.isAbove(limit("headers"), 6_000_000)
    // An announcement is not an answer, and a late answer is still read.
    asked.answered({ type: "headers", headers: [] }, 1_000_000)
    assert.isAbove(limit("headers"), 6_000_000)
    asked.sent({ type: "getblocktxn", hash: stop, indexes: [1] }, 0)
    assert.isAbove(limit("blocktxn"), 4_000_000)
    asked.answered({ type: "blocktxn", hash: stop, transactions: [] }, 0)
    assert.isAtMost(limit("blocktxn"), 0x20000)
    assert.isAbove(limit("block"), 4_000_000)
  })
})

describe("unfinished frames", () => {
  it("unfinished frames are counted while they grow, and released when complete", () => {
    let held = 0
    const memory = {
      take: (bytes: number) => (held += bytes) <= 200_000,
      give: (bytes: number) => void (held -= bytes)
    }
    const parser = new FrameParser(regtest.magic, { memory })
    const frame = encodeMessage(regtest.magic, { type: "unknown", command: "blob", payload: new Uint8Array(150_000) })
    assert.lengthOf(parser.push(frame.subarray(0, 100_000)), 0)
    assert.strictEqual(held, parser.held)
    assert.isAtLeast(held, 99_976)
    assert.strictEqual(parser.push(frame.subarray(100_000))[0]?.type, "frame")
    assert.strictEqual(held, 0)
    const long = encodeMessage(regtest.magic, { type: "unknown", command: "blob", payload: new Uint8Array(900_000) })
    const [last] = parser.push(long)
    if (last?.type !== "fatal") return assert.fail("the frame was kept")
    assert.strictEqual(last.error.reason, "memory")
    assert.strictEqual(parser.held, 0)
  })
})

describe("PeerMemory", () => {
  it.effect("a message is counted while it is handled, and refused if too large", () =>
    Effect.gen(function*() {
      const budget = new MemoryBudget(100_000)
      const memory = new PeerMemory(budget, { name: "a", type: "inbound", evict: () => {} })
      const most = budget.limit("messages") / 4
      let seen = 0
      const look = () => Effect.sync(() => void (seen = budget.held("messages")))
      assert.isTrue(yield* memory.holding(most, look))
      assert.strictEqual(seen, most)
      assert.strictEqual(budget.held("messages"), 0)
      assert.isFalse(yield* memory.holding(most + 1, look))
      memory.close()
      assert.isFalse(yield* memory.holding(1, look))
    }))
})

describe("many peers with unfinished frames", () => {
  it.scoped("unfinished frames stay within the budget: the largest holders are evicted, and an honest peer is answered", () =>
    Effect.gen(function*() {
      const budget = new MemoryBudget(10_000_000)
      const { logs, port } = yield* testNetwork({ listening: true, budget })
      // Peers that hold much memory wait some seconds at most before more is read.
      yield* Effect.fork(Effect.forever(Effect.zipRight(TestClock.adjust("100 millis"), pause)))
      const honest = yield* remotePeer(port)
      yield* honest.call()
      const header = encodeMessage(regtest.magic, {
        type: "unknown",
        command: "block",
        payload: new Uint8Array(1_000_000)
      })
      for (let i = 0; i < 40; i++) {
        const peer = yield* remotePeer(port)
        yield* peer.call()
        yield* peer.sendBytes(header.subarray(0, 200_000))
      }
      yield* eventually(
        "some are dropped",
        () => logs.some(({ facts }) => String(facts["reason"]).includes("held the most"))
      )
      assert.isAtMost(budget.held("frames"), budget.limit("frames"))
      yield* honest.alive
    }))
})
