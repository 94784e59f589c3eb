import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  encodeFrame,
  FRAME_HEADER_SIZE,
  type Framed,
  FrameParser,
  type FramingError,
  MAX_PAYLOAD
} from "../../../src/network/wire/framing.ts"
import { concat, toHex } from "../../../src/protocol/bytes.ts"
import { mainnet, regtest } from "../../../src/protocol/networks.ts"
import { bytesOf, hex } from "../../support/bytes.ts"

const { magic } = regtest

const parser = (maxPayload = MAX_PAYLOAD): FrameParser => new FrameParser(magic, { maxPayload })

/** A frame header with a length and the checksum of an empty payload. */
const header = (command: string, length: number): Uint8Array => {
  const frame = encodeFrame(magic, command, [])
  new DataView(frame.buffer).setUint32(16, length, true)
  return frame
}

const payloadsOf = (found: ReadonlyArray<Framed>): ReadonlyArray<string> =>
  found.map((each) => each.type === "frame" ? `${each.command}:${toHex(each.payload)}` : assert.fail(each.type))

const fatal = (found: ReadonlyArray<Framed>): FramingError => {
  const last = found.at(-1)
  return last?.type === "fatal" ? last.error : assert.fail(`not fatal: ${last?.type}`)
}

describe("a frame", () => {
  it("a frame is magic, command, length, checksum and payload", () => {
    // 5df6e0e2 is the checksum of every empty payload.
    assert.strictEqual(
      toHex(encodeFrame(mainnet.magic, "verack", [])),
      "f9beb4fe" + "76657261636b000000000000" + "00000000" + "5df6e0e2"
    )
  })

  it("a frame is built from a payload in parts, in order", () => {
    assert.strictEqual(
      toHex(encodeFrame(magic, "x", [hex("01"), hex(""), hex("0203")])),
      toHex(encodeFrame(magic, "x", [hex("010203")]))
    )
  })

  it.each(["", "thirteenchars", "tab\t", "ünder"])(
    "a frame is refused for the command %j",
    (command) => {
      assert.throws(() => encodeFrame(magic, command, []), RangeError)
    }
  )

  it("a frame is refused for more than 32 MiB", () => {
    const half = new Uint8Array(MAX_PAYLOAD / 2)
    assert.throws(() => encodeFrame(magic, "x", [half, half, Uint8Array.of(1)]), RangeError)
  })
})

describe("FrameParser", () => {
  const frames = FastCheck.array(
    FastCheck.record({
      command: FastCheck.string({
        minLength: 1,
        maxLength: 12,
        unit: FastCheck.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code))
      }),
      payload: bytesOf(0, 80)
    }),
    { maxLength: 8 }
  )

  it.prop("the parser returns the same frames for any chunk sizes", {
    frames,
    cuts: FastCheck.array(FastCheck.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 20 })
  }, ({ cuts, frames }) => {
    const stream = concat(...frames.map(({ command, payload }) => encodeFrame(magic, command, [payload])))
    const parse = parser()
    const seen: Array<Framed> = []
    for (let at = 0, i = 0; at < stream.length; i++) {
      const size = cuts[i % cuts.length] ?? 1
      seen.push(...parse.push(stream.subarray(at, at + size)))
      at += size
    }
    assert.deepStrictEqual(payloadsOf(seen), frames.map(({ command, payload }) => `${command}:${toHex(payload)}`))
    assert.isTrue(parse.idle)
    assert.strictEqual(parse.held, 0)
  })

  it("payloads are not views of the chunks, even of Node's buffers", () => {
    const chunk = Buffer.from(encodeFrame(magic, "x", [hex("0102")]))
    const [found] = parser().push(chunk)
    chunk.fill(0xff)
    if (found?.type !== "frame") return assert.fail("no frame")
    assert.strictEqual(toHex(found.payload), "0102")
    assert.strictEqual(found.payload.buffer.byteLength, 2)
    assert.notInstanceOf(found.payload, Buffer)
  })

  it("a frame with a wrong checksum is dropped, and the next one is parsed", () => {
    // The frame that the reference node received in the session bad-checksum.
    const bad = hex("fabfb5da70696e67000000000000000008000000deadbeef0102030405060708")
    const [dropped, next, ...more] = parser().push(concat(bad, encodeFrame(magic, "ping", [hex("00")])))
    assert.deepStrictEqual(dropped, { type: "dropped", command: "ping", reason: "checksum", size: 8 })
    assert.deepStrictEqual(next, { type: "frame", command: "ping", payload: hex("00") })
    assert.lengthOf(more, 0)
  })

  it.each([
    ["a character after the end", "70696e670078000000000000", "ping"],
    ["a control character", "70696e670a00000000000000", "ping"],
    ["a byte above ASCII", "70696e67ff00000000000000", "ping"],
    ["a delete character", "70696e677f00000000000000", "ping"]
  ])("a frame whose command has %s is dropped, and only printable characters are shown", (_, command, shown) => {
    const frame = encodeFrame(magic, "ping", [])
    frame.set(hex(command), 4)
    assert.deepStrictEqual(parser().push(frame), [{ type: "dropped", command: shown, reason: "command", size: 0 }])
  })

  it("a command of twelve characters, and an empty one, are accepted", () => {
    assert.deepStrictEqual(payloadsOf(parser().push(encodeFrame(magic, "twelve_chars", []))), ["twelve_chars:"])
    const unnamed = encodeFrame(magic, "x", [])
    unnamed[4] = 0
    assert.deepStrictEqual(payloadsOf(parser().push(unnamed)), [":"])
  })

  it("the parser fails at the first wrong byte of the magic, after the frames before it", () => {
    const good = encodeFrame(magic, "verack", [])
    for (let i = 0; i < 4; i++) {
      const wrong = magic.slice()
      wrong[i] = (wrong[i] ?? 0) ^ 1
      const parse = parser()
      const found = parse.push(concat(good, wrong.subarray(0, i + 1)))
      assert.lengthOf(found, 2)
      assert.strictEqual(fatal(found).reason, "magic")
      assert.strictEqual(fatal(found)._tag, "FramingError")
      assert.lengthOf(parse.push(good), 0)
      assert.isFalse(parse.idle)
    }
    assert.lengthOf(parser().push(magic), 0)
  })

  it("the parser fails at a length above the limit", () => {
    assert.lengthOf(parser(100).push(header("x", 100)), 0)
    const error = fatal(parser(100).push(header("x", 101)))
    assert.strictEqual(error.reason, "length")
    assert.include(error.message, "101")
    assert.lengthOf(parser().push(header("x", MAX_PAYLOAD)), 0)
    assert.strictEqual(fatal(parser().push(header("x", MAX_PAYLOAD + 1))).reason, "length")
    assert.strictEqual(fatal(parser().push(header("x", 0xffffffff))).reason, "length")
  })

  it("a payload that is too long for its command is skipped without being stored", () => {
    const parse = new FrameParser(magic, { limitOf: (command) => command === "big" ? 1000 : 10 })
    const eleven = encodeFrame(magic, "small", [new Uint8Array(11)])
    const found: Array<Framed> = []
    for (let at = 0; at < eleven.length; at += 3) {
      found.push(...parse.push(eleven.subarray(at, at + 3)))
      assert.strictEqual(parse.held, 0)
    }
    found.push(...parse.push(encodeFrame(magic, "small", [new Uint8Array(10)])))
    found.push(...parse.push(encodeFrame(magic, "big", [new Uint8Array(11)])))
    assert.deepStrictEqual(found.map(({ type }) => type), ["dropped", "frame", "frame"])
    assert.deepStrictEqual(found[0], { type: "dropped", command: "small", reason: "length", size: 11 })
  })

  it("memory grows with the received bytes, not with the announced length", () => {
    const parse = parser()
    parse.push(header("block", MAX_PAYLOAD))
    assert.strictEqual(parse.held, 0)
    parse.push(new Uint8Array(1))
    assert.isAtMost(parse.held, 0x10000)
    const chunk = new Uint8Array(50_000)
    for (let received = 1; received < 3_000_000; received += chunk.length) {
      assert.isAtMost(parse.held, Math.max(0x10000, 2 * received))
      parse.push(chunk)
    }
  })

  it("the memory finally equals the payload, and single bytes are not slow", () => {
    const payload = new Uint8Array(1_000_001).map((_, i) => i)
    const frame = encodeFrame(magic, "block", [payload])
    const parse = parser()
    let found: ReadonlyArray<Framed> = []
    let most = 0
    for (let at = 0; at < frame.length; at++) {
      found = parse.push(frame.subarray(at, at + 1))
      most = Math.max(most, parse.held)
    }
    assert.strictEqual(most, payload.length)
    const [one] = found
    if (one?.type !== "frame") return assert.fail("no frame")
    assert.strictEqual(one.payload.buffer.byteLength, payload.length)
    assert.strictEqual(one.payload.length, frame.length - FRAME_HEADER_SIZE)
    assert.isTrue(one.payload.every((byte, i) => byte === payload[i]))
  })
})
