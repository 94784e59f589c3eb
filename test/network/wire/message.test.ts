import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { ProtocolViolation } from "../../../src/network/wire/codec.ts"
import { FrameParser, MAX_PAYLOAD } from "../../../src/network/wire/framing.ts"
import {
  commandOf,
  decodeInSteps,
  decodeMessage,
  encodeMessage,
  encodePayload,
  isMessageCommand,
  type Message,
  MESSAGE_COMMANDS,
  type MessageCommand,
  payloadLimit
} from "../../../src/network/wire/message.ts"
import { MAX_ADDRESSES } from "../../../src/network/wire/messages/addr.ts"
import { peekBlock, withoutWitnesses } from "../../../src/network/wire/messages/block.ts"
import { isWithinFilterLimits } from "../../../src/network/wire/messages/bloom.ts"
import {
  FULL_HEADERS_SIZE,
  headersSize,
  isFullHeaders,
  isTooLongHeaders,
  MAX_HEADERS,
  MAX_HEADERS_SIZE,
  MAX_LOCATOR
} from "../../../src/network/wire/messages/headers.ts"
import { isBlockItem, isTransactionItem, ItemType, MAX_INVENTORY } from "../../../src/network/wire/messages/inv.ts"
import { cleanUserAgent } from "../../../src/network/wire/messages/version.ts"
import { decodeBlock, encodeBlockHeader, makeBlock } from "../../../src/protocol/block.ts"
import { type Bytes, concat, toHex } from "../../../src/protocol/bytes.ts"
import { HEADER_SIZE } from "../../../src/protocol/header.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { DecodeError } from "../../../src/protocol/Reader.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { Writer } from "../../../src/protocol/Writer.ts"
import { bytesOf, decodeError, everyTruncationFails, hex } from "../../support/bytes.ts"
import { blockHeaders, blocks, messages } from "../../support/wireMessages.ts"

const payloadOf = (message: Message): Uint8Array => concat(...encodePayload(message))

/** The penalty for a payload; undefined if it is valid. */
const costOf = (command: string, payload: Bytes): "nothing" | ProtocolViolation["consequence"] | undefined => {
  try {
    decodeMessage(command, payload)
    return undefined
  } catch {
    const error = decodeError(() => decodeMessage(command, payload))
    return error instanceof ProtocolViolation ? error.consequence : "nothing"
  }
}

/** The message with its items as an array; decoded inventories are one buffer. */
const unpacked = (message: Message): Message => "items" in message ? { ...message, items: [...message.items] } : message

/** A count and this many copies of an entry. */
const repeated = (count: number, entry: Bytes): Uint8Array => {
  const writer = new Writer(16 + count * entry.length).compactSize(count)
  for (let i = 0; i < count; i++) writer.bytes(entry)
  return writer.toBytes()
}

describe.each(MESSAGE_COMMANDS)("%s", (command) => {
  const arbitrary: FastCheck.Arbitrary<Message> = messages[command]

  it("the message round-trips, and trailing bytes are tolerated", () => {
    FastCheck.assert(FastCheck.property(arbitrary, bytesOf(1, 20), (message, behind) => {
      const payload = payloadOf(message)
      const read = decodeMessage(command, payload)
      assert.deepStrictEqual(unpacked(read), message)
      assert.strictEqual(toHex(payloadOf(read)), toHex(payload))
      // Optional fields at the end would consume the trailing bytes.
      if (command !== "version" && command !== "ping" && command !== "pong") {
        assert.deepStrictEqual(unpacked(decodeMessage(command, concat(payload, behind))), message)
      }
    }))
  })

  it("the message round-trips in a frame", () => {
    FastCheck.assert(
      FastCheck.property(arbitrary, (message) => {
        const [framed] = new FrameParser(regtest.magic, { limitOf: payloadLimit }).push(
          encodeMessage(regtest.magic, message)
        )
        if (framed?.type !== "frame") return assert.fail("no frame")
        assert.strictEqual(framed.command, commandOf(message))
        assert.strictEqual(toHex(framed.payload), toHex(payloadOf(message)))
      }),
      { numRuns: 20 }
    )
  })

  it("any truncation fails with DecodeError, without penalty", () => {
    FastCheck.assert(
      FastCheck.property(arbitrary, (message) => {
        const payload = payloadOf(message)
        const whole = optionalFrom(message)
        for (let length = 0; length < payload.length; length++) {
          if (whole.has(length)) continue
          const error = decodeError(() => decodeMessage(command, payload.subarray(0, length)))
          assert.notInstanceOf(error, ProtocolViolation)
        }
      }),
      { numRuns: 15 }
    )
  })
})

/** Lengths at which a message may end early: in front of its optional fields. */
const optionalFrom = (message: Message): ReadonlySet<number> => {
  if (message.type === "ping" || message.type === "pong") return new Set([0])
  if (message.type !== "version") return new Set()
  const { userAgent } = message
  const shorter = [
    { ...message, relay: undefined },
    { ...message, relay: undefined, startHeight: undefined },
    { ...message, relay: undefined, startHeight: undefined, userAgent: undefined },
    { ...message, relay: undefined, startHeight: undefined, userAgent: undefined, sender: undefined }
  ]
  assert.isTrue(userAgent === undefined || userAgent.length <= 256)
  return new Set(shorter.map((each) => payloadOf(each).length))
}

describe("commands", () => {
  it.each(["", "xyzzy", "constructor", "toString", "__proto__", "hasOwnProperty", "VERSION", "unknown"])(
    "%j is unknown, and its payload is kept",
    (command) => {
      const payload = hex("0102")
      const message = decodeMessage(command, payload)
      assert.deepStrictEqual(message, { type: "unknown", command, payload })
      assert.isFalse(isMessageCommand(command))
      assert.strictEqual(commandOf(message), command)
      assert.strictEqual(toHex(payloadOf(message)), "0102")
    }
  )

  it("the commands are those of reference/protocol.md 6.6", () => {
    assert.strictEqual(MESSAGE_COMMANDS.length, 36)
    for (const command of MESSAGE_COMMANDS) assert.match(command, /^[a-z0-9]{2,12}$/)
  })

  it("payload limits are above the protocol's limits, so that violations are detected", () => {
    const more: ReadonlyArray<readonly [MessageCommand, number]> = [
      ["inv", 9 + 36 * (MAX_INVENTORY + 1)],
      ["getdata", 9 + 36 * (MAX_INVENTORY + 1)],
      ["addr", 3 + 30 * (MAX_ADDRESSES + 1)],
      ["addrv2", 3 + (4 + 9 + 1 + 3 + 512 + 2) * (MAX_ADDRESSES + 1)],
      ["headers", MAX_HEADERS_SIZE + 3 + MAX_HEADERS],
      ["getheaders", 4 + 1 + 32 * (MAX_LOCATOR + 1) + 32],
      ["block", 4_000_000],
      ["tx", 400_000],
      ["filterload", 36_000 + 12],
      ["cfheaders", 65 + 3 + 32 * 2000]
    ]
    for (const [command, size] of more) {
      assert.isAbove(payloadLimit(command), size, command)
      assert.isBelow(payloadLimit(command), MAX_PAYLOAD, command)
    }
    assert.isAtMost(payloadLimit("xyzzy"), 0x20000)
  })
})

describe("counts (reference/protocol.md 6.6, 6.11)", () => {
  const entry = new Uint8Array(30)
  const v2Entry = hex("00000000 00 01 04 01020304 0000")
  const item = new Uint8Array(36)
  const plain = concat(new Uint8Array(HEADER_SIZE), Uint8Array.of(0))

  it.each(
    [
      ["addr", entry, MAX_ADDRESSES],
      ["addrv2", v2Entry, MAX_ADDRESSES],
      ["inv", item, MAX_INVENTORY],
      ["getdata", item, MAX_INVENTORY],
      ["headers", plain, MAX_HEADERS]
    ] as const
  )("more %s than allowed are misbehaviour", (command, one, limit) => {
    assert.strictEqual(costOf(command, repeated(limit, one)), undefined)
    assert.strictEqual(costOf(command, repeated(limit + 1, one)), "misbehaving")
  })

  it.each(["addr", "inv", "getdata"])(
    "a wrong count of %s is an invalid payload",
    (command) => {
      assert.strictEqual(costOf(command, new Writer().compactSize(60_000).bytes(item).toBytes()), "nothing")
      assert.strictEqual(costOf(command, new Writer().compactSize(0x2000001).bytes(item).toBytes()), "nothing")
    }
  )

  it("headers are counted before they are decoded", () => {
    assert.strictEqual(costOf("headers", hex("fdd107")), "misbehaving")
    assert.strictEqual(costOf("headers", hex("fdd007")), "nothing")
  })

  it.each(["getheaders", "getblocks"])(
    "a locator of %s may have 101 hashes; more disconnect",
    (command) => {
      const question = (count: number): Uint8Array =>
        concat(new Uint8Array(4), repeated(count, new Uint8Array(32)), new Uint8Array(32))
      assert.strictEqual(costOf(command, question(MAX_LOCATOR)), undefined)
      assert.strictEqual(costOf(command, question(MAX_LOCATOR + 1)), "disconnect")
    }
  )

  it("notfound may have any number of items", () => {
    assert.strictEqual(costOf("notfound", repeated(MAX_INVENTORY + 1, item)), undefined)
  })

  it("the first byte of sendcmpct is 0 or 1", () => {
    const offer = (announce: string): Uint8Array => hex(`${announce} 0200000000000000`)
    assert.deepStrictEqual(decodeMessage("sendcmpct", offer("00")), {
      type: "sendcmpct",
      highBandwidth: false,
      version: 2n
    })
    assert.strictEqual(costOf("sendcmpct", offer("01")), undefined)
    assert.strictEqual(costOf("sendcmpct", offer("02")), "misbehaving")
    assert.strictEqual(costOf("sendcmpct", offer("02").subarray(0, 8)), "nothing")
  })

  it("a user agent has at most 256 bytes", () => {
    const front = new Writer().bytes(new Uint8Array(80))
    const hello = (size: number): Uint8Array => concat(front.toBytes(), repeated(size, Uint8Array.of(0x41)))
    assert.strictEqual(costOf("version", hello(256)), undefined)
    assert.strictEqual(costOf("version", hello(257)), "nothing")
  })

  it("an address has at most 512 bytes", () => {
    const gossip = (size: number): Uint8Array =>
      concat(hex("01 00000000 00 aa"), repeated(size, Uint8Array.of(1)), hex("0000"))
    assert.strictEqual(costOf("addrv2", gossip(512)), undefined)
    assert.strictEqual(costOf("addrv2", gossip(513)), "nothing")
  })

  it("indexes have 16 bits", () => {
    const ask = (...steps: ReadonlyArray<number>): Uint8Array => {
      const writer = new Writer().bytes(new Uint8Array(32)).compactSize(steps.length)
      for (const step of steps) writer.compactSize(step)
      return writer.toBytes()
    }
    const read = decodeMessage("getblocktxn", ask(0, 1, 0xfffc))
    assert.deepStrictEqual(read.type === "getblocktxn" ? read.indexes : undefined, [0, 2, 0xffff])
    assert.strictEqual(costOf("getblocktxn", ask(0xffff)), undefined)
    assert.strictEqual(costOf("getblocktxn", ask(0x10000)), "nothing")
    assert.strictEqual(costOf("getblocktxn", ask(0xffff, 0)), "nothing")
    assert.strictEqual(costOf("getblocktxn", ask(...new Array<number>(4_500).fill(0))), undefined)
    assert.strictEqual(costOf("getblocktxn", ask(...new Array<number>(4_501).fill(0))), "misbehaving")
  })

  it("a compact block has at most as many transactions as a valid block", () => {
    const smallest = Uint8Array.of(0, ...new Uint8Array(10))
    const compact = (ids: number, prefilled = 0): Uint8Array =>
      concat(new Uint8Array(88), repeated(ids, new Uint8Array(6)), repeated(prefilled, smallest))
    assert.strictEqual(costOf("cmpctblock", compact(4_500)), undefined)
    assert.strictEqual(costOf("cmpctblock", compact(4_501)), "nothing")
    assert.strictEqual(costOf("cmpctblock", compact(4_499, 1)), undefined)
    assert.strictEqual(costOf("cmpctblock", compact(4_499, 2)), "nothing")
  })

  it("filters have limits that matter only to nodes with bloom filters", () => {
    const load = { type: "filterload", tweak: 0, flags: 0 } as const
    const within = (size: number, hashFunctions: number): boolean =>
      isWithinFilterLimits({ ...load, filter: new Uint8Array(size), hashFunctions })
    assert.deepStrictEqual([within(36_000, 50), within(36_001, 50), within(36_000, 51)], [true, false, false])
    const add = (size: number): boolean => isWithinFilterLimits({ type: "filteradd", data: new Uint8Array(size) })
    assert.deepStrictEqual([add(520), add(521)], [true, false])
  })
})

describe("headers by bytes (reference/protocol.md 6.7)", () => {
  it("headers are counted with their proofs and without the transaction counts", () => {
    FastCheck.assert(FastCheck.property(FastCheck.array(blockHeaders, { maxLength: 4 }), (headers) => {
      assert.strictEqual(headersSize(headers), concat(...headers.map(encodeBlockHeader)).length)
      assert.strictEqual(payloadOf({ type: "headers", headers }).length, headersSize(headers) + headers.length + 1)
    }))
  })

  it.each([
    [1999, FULL_HEADERS_SIZE - 1, 110_000, false, "neither limit is reached"],
    [2000, 1, 110_000, true, "the count"],
    [2000, 1, 70_016, true, "the count, for all versions"],
    [1, FULL_HEADERS_SIZE, 110_000, true, "4 MiB"],
    [1, FULL_HEADERS_SIZE, 109_999, false, "an old peer has no byte limit"],
    [0, 0, 110_016, false, "nothing"]
  ])("%d of %d bytes of version %d are full: %s, %s", (count, size, version, full) => {
    assert.strictEqual(isFullHeaders({ count, size, peerVersion: version }), full)
  })

  it.each([
    [MAX_HEADERS_SIZE, 110_000, false],
    [MAX_HEADERS_SIZE + 1, 110_000, true],
    [MAX_HEADERS_SIZE + 1, 109_999, false]
  ])("%d bytes of version %d are too long: %s", (size, version, tooLong) => {
    assert.strictEqual(isTooLongHeaders({ size, peerVersion: version }), tooLong)
  })

  it("headers need no zero after them", () => {
    const read = decodeMessage("headers", concat(Uint8Array.of(1), new Uint8Array(HEADER_SIZE), hex("fd0010")))
    assert.strictEqual(read.type === "headers" ? read.headers.length : -1, 1)
  })
})

describe("block", () => {
  it("a block without witnesses keeps its proof unchanged", () => {
    FastCheck.assert(FastCheck.property(blocks, (block) => {
      const stripped = decodeBlock(concat(...withoutWitnesses(block)))
      assert.strictEqual(stripped.size, block.strippedSize)
      assert.strictEqual(toHex(encodeBlockHeader(stripped)), toHex(encodeBlockHeader(block)))
      assert.isFalse(stripped.transactions.some(({ hasWitness }) => hasWitness))
      assert.deepStrictEqual(
        stripped.transactions.map(({ txid }) => toHex(txid)),
        block.transactions.map(({ txid }) => toHex(txid))
      )
    }))
  })

  it("a block is not copied before it is framed", () => {
    const [block] = FastCheck.sample(blocks, 1)
    if (block === undefined) return assert.fail("no block")
    assert.strictEqual(encodePayload({ type: "block", block })[0], block.bytes)
  })

  it("the header of a block is decoded before the rest", () => {
    const { genesisBlock, genesisHash } = regtest
    assert.strictEqual(toHex(peekBlock("block", genesisBlock).header.header.hash), toHex(genesisHash))
    assert.strictEqual(peekBlock("block", genesisBlock).transactions, 1)
    everyTruncationFails(genesisBlock.subarray(0, HEADER_SIZE + 1), (bytes) => peekBlock("block", bytes))
  })

  it("a block decoded in steps equals one decoded at once, and has the hashes of its transactions", () => {
    const large = decodeBlock(regtest.genesisBlock)
    const [coinbase] = large.transactions
    if (coinbase === undefined) return assert.fail("there is a coinbase")
    const block = makeBlock(large, new Array<Transaction>(2_000).fill(coinbase))
    const steps = decodeInSteps("block", block.bytes)
    let count = 0
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) count++
    assert.isAtLeast(count, 5)
    const message = step.value
    if (message.type !== "block") return assert.fail("it is a block")
    assert.deepStrictEqual(message.block.bytes, block.bytes)
    assert.strictEqual(message.block.transactions.length, 2_000)
    assert.deepStrictEqual(message.block.merkle, block.merkle)
    const missing = concat(new Uint8Array(32), block.bytes.subarray(HEADER_SIZE))
    const other = decodeInSteps("blocktxn", missing)
    for (step = other.next(); step.done !== true;) step = other.next()
    assert.deepStrictEqual(encodePayload(step.value), encodePayload(decodeMessage("blocktxn", missing)))
    assert.throws(() => [...decodeInSteps("block", block.bytes.subarray(0, -1))], DecodeError)
  })
})

describe("inventory", () => {
  it.each([
    [ItemType.tx, "transaction"],
    [ItemType.wtx, "transaction"],
    [ItemType.witnessTx, "transaction"],
    [ItemType.block, "block"],
    [ItemType.filteredBlock, "block"],
    [ItemType.compactBlock, "block"],
    [ItemType.witnessBlock, "block"],
    [0, "nothing"],
    [6, "nothing"],
    // Reserved by BIP 144, and unused.
    [0x40000003, "nothing"],
    [0x80000001, "nothing"]
  ])("type %d is a %s", (type, what) => {
    const item = { type, hash: new Uint8Array(32) }
    const kind = isTransactionItem(item) ? "transaction" : isBlockItem(item) ? "block" : "nothing"
    assert.strictEqual(kind, what)
  })
})

describe("version", () => {
  it("any non-zero relay byte means true, as upstream", () => {
    const read = (byte: string) => decodeMessage("version", concat(new Uint8Array(80), hex(`00 00000000 ${byte}`)))
    assert.include(read("00"), { relay: false })
    assert.include(read("01"), { relay: true })
    assert.include(read("02"), { relay: true })
  })

  it("a user agent is shown without dangerous characters", () => {
    assert.strictEqual(
      cleanUserAgent("/Satoshi:31.1.0(a_b; c@d)/\n\u001b[31m<b>\"'\u00ff"),
      "/Satoshi:31.1.0(a_b; c@d)/31mb"
    )
  })
})
