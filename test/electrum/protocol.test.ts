import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck as fc } from "effect"
import { CostMeter, delayAt, isExcessive } from "../../src/electrum/protocol/CostMeter.ts"
import { errorReply, readElectrum, resultReply } from "../../src/electrum/protocol/envelope.ts"
import { feeHistogram } from "../../src/electrum/protocol/feeHistogram.ts"
import { LineFrames } from "../../src/electrum/protocol/LineFrames.ts"
import { bindArguments, flag, nonNegativeInteger, scriptHash } from "../../src/electrum/protocol/parameters.ts"
import { quotedText, shownValue, withCommas } from "../../src/electrum/protocol/pythonText.ts"
import { readScriptHash, statusOf } from "../../src/electrum/protocol/status.ts"
import { negotiate } from "../../src/electrum/protocol/versions.ts"
import { displayHash, toHex } from "../../src/protocol/bytes.ts"
import { sha256 } from "../../src/protocol/hash.ts"
import { nameIndexHash } from "../../src/protocol/nameOperation.ts"
import type { Json } from "../../src/rpc/json/json.ts"
import { parseJson } from "../../src/rpc/json/readJson.ts"

const json = (text: string): Json => parseJson(text) ?? null

describe("versions", () => {
  const agreed = (asked: string): string | undefined => negotiate(json(asked))?.text

  it.each([
    ["null", "1.4"],
    ["\"1.4\"", "1.4"],
    ["\"1.4.1\"", "1.4.1"],
    ["\"1.4.2\"", "1.4.2"],
    ["\"1.4.3\"", "1.4.3"],
    ["\"1.6\"", "1.6"],
    ["[\"1.4\",\"1.6\"]", "1.6"],
    ["[\"1.4\",\"1.7\"]", "1.6"],
    ["[\"1.4\",\"1.5\"]", "1.4.3"],
    ["[\"1.4\",\"1.4.2\"]", "1.4.2"],
    ["[\"1.2\",\"1.4\"]", "1.4"],
    ["[\"1.4.1\",\"1.4.1\"]", "1.4.1"],
    ["\"1.6.0\"", "1.6.0"],
    ["\"1.5\"", undefined],
    ["\"1.2\"", undefined],
    ["\"1.7\"", undefined],
    ["[\"1.7\",\"2.0\"]", undefined],
    ["[\"0.8\",\"1.2\"]", undefined],
    ["[\"1.6\",\"1.4\"]", undefined],
    ["\"\"", undefined],
    ["\"x\"", undefined],
    ["1.4", undefined],
    ["[]", undefined],
    ["{}", undefined]
  ])("%s is answered with %s", (asked, text) => assert.strictEqual(agreed(asked), text))
})

describe("lines", () => {
  const text = fc.array(fc.string({ unit: "grapheme-ascii", maxLength: 20 }).map((line) => line.replaceAll("\n", "")), {
    maxLength: 20
  })

  it("are the same for all cuts", () => {
    fc.assert(fc.property(text, fc.array(fc.nat(400), { maxLength: 20 }), (lines, cuts) => {
      const frames = new LineFrames(100)
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""))
      const read: Array<string> = []
      let from = 0
      for (const cut of [...cuts.map((at) => Math.min(at, bytes.length)).toSorted((a, b) => a - b), bytes.length]) {
        frames.push(bytes.subarray(from, cut))
        from = cut
        for (let line = frames.next(); line !== undefined; line = frames.next()) read.push(Buffer.from(line).toString())
      }
      assert.deepStrictEqual(read, lines)
      assert.deepStrictEqual([frames.size, frames.isUnfinished, frames.isTooLong], [0, false, false])
    }))
  })

  it("end at one that is too long, behind those before it", () => {
    fc.assert(fc.property(fc.nat(200), fc.integer({ min: 1, max: 50 }), (length, piece) => {
      const frames = new LineFrames(100)
      const bytes = Buffer.from(`first\n${"x".repeat(length)}\nlast\n`)
      for (let at = 0; at < bytes.length; at += piece) frames.push(bytes.subarray(at, at + piece))
      const read: Array<number> = []
      for (let line = frames.next(); line !== undefined; line = frames.next()) read.push(line.length)
      assert.deepStrictEqual(read, length <= 100 ? [5, length, 4] : [5])
      assert.strictEqual(frames.isTooLong, length > 100)
      assert.isAtMost(frames.size, 100)
    }))
  })

  it("tell when one has begun", () => {
    const frames = new LineFrames(10)
    frames.push(Buffer.from("a\nb"))
    assert.deepStrictEqual([frames.isUnfinished, frames.size], [true, 3])
    frames.push(Buffer.from("\n"))
    assert.isFalse(frames.isUnfinished)
  })

  it("count their newlines, and are cut one by one", () => {
    const frames = new LineFrames(10)
    frames.push(Buffer.from("\n".repeat(1_000)))
    frames.push(Buffer.from("\n".repeat(1_000)))
    assert.strictEqual(frames.size, 2_000)
    assert.strictEqual(frames.next()?.length, 0)
    assert.strictEqual(frames.size, 1_999)
    let more = 0
    while (frames.next() !== undefined) more++
    assert.deepStrictEqual([more, frames.size], [1_999, 0])
  })
})

describe("messages", () => {
  const replyTo = (text: string): string => {
    const read = readElectrum(text)
    if (read._tag !== "Single") return read._tag
    const { request } = read
    return "error" in request ? errorReply(request, request.error) : resultReply(request, "[]")
  }

  it.each([
    ["{\"id\":1,\"method\":\"m\"}", "{\"jsonrpc\":\"2.0\",\"result\":[],\"id\":1}"],
    [
      "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"m\",\"params\":{}}",
      "{\"jsonrpc\":\"2.0\",\"result\":[],\"id\":\"a\"}"
    ],
    ["{\"jsonrpc\":\"1.0\",\"id\":[1],\"method\":\"m\",\"params\":[]}", "{\"result\":[],\"error\":null,\"id\":[1]}"],
    ["{\"id\":1e3,\"method\":\"m\",\"params\":[]} ", "{\"jsonrpc\":\"2.0\",\"result\":[],\"id\":1e3}"],
    ["nonsense", "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"invalid JSON\"},\"id\":null}"],
    ["[]", "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"batch is empty\"},\"id\":null}"],
    [
      "5",
      "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"request object must be a dictionary\"},\"id\":null}"
    ],
    [
      "{\"id\":[1],\"method\":\"m\"}",
      "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"invalid \\\"id\\\": [1]\"},\"id\":null}"
    ],
    [
      "{\"id\":1,\"method\":\"m\",\"params\":\"x\"}",
      "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32602,\"message\":\"invalid request arguments: x\"},\"id\":1}"
    ],
    [
      "{\"id\":1,\"method\":null}",
      "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32601,\"message\":\"method must be a string\"},\"id\":1}"
    ],
    ["{\"id\":true,\"method\":\"m\"}", "{\"jsonrpc\":\"2.0\",\"result\":[],\"id\":true}"],
    [
      "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}",
      "{\"result\":null,\"error\":{\"code\":-32602,\"message\":\"invalid request arguments: None\"},\"id\":1}"
    ],
    ["{\"id\":1,\"result\":null}", "Answer"],
    ["{\"id\":1}", "Answer"],
    ["[{\"id\":1,\"method\":\"m\"}]", "Batch"]
  ])("%s", (text, reply) => assert.strictEqual(replyTo(text), reply))

  it("have fifty requests in a batch at most", () => {
    const batch = (count: number) =>
      readElectrum(JSON.stringify(Array.from({ length: count }, (_, id) => ({ id, method: "m" }))))
    assert.strictEqual(batch(50)._tag, "Batch")
    const refused = batch(51)
    assert.isTrue(refused._tag === "Single" && "error" in refused.request)
  })

  it("without an id have no answer", () => {
    const read = readElectrum("{\"method\":\"m\"}")
    assert.isTrue(read._tag === "Single" && read.request.id === undefined)
  })
})

describe("arguments", () => {
  const signature = { required: ["height"], optional: ["cp_height"] }
  const bind = (params: string) => {
    const given = json(params)
    if (!Array.isArray(given) && !(typeof given === "object" && given !== null && "get" in given)) {
      throw new Error("params")
    }
    return Either.match(bindArguments(signature, { method: "m", params: given, id: null, isLegacy: false }), {
      onLeft: ({ code, message }) => `${code} ${message}`,
      onRight: (values) =>
        signature.required.concat(signature.optional).slice(0, values.length)
          .map((_, at) => shownValue(values[at] ?? "-")).join(" ")
    })
  }

  it.each([
    ["[5]", "5"],
    ["[5,6]", "5 6"],
    ["{\"height\":5}", "5 -"],
    ["{\"cp_height\":6,\"height\":5}", "5 6"],
    ["[]", "-32602 0 arguments passed to method \"m\" but it requires 1"],
    ["[1,2,3]", "-32602 3 arguments passed to method m taking at most 2"],
    ["{}", "-32602 method \"m\" requires parameter \"height\""],
    ["{\"height\":1,\"x\":1,\"a\":2}", "-32602 method \"m\" does not take parameters \"a\", \"x\""]
  ])("%s: %s", (params, found) => assert.strictEqual(bind(params), found))

  it.each([
    ["5", 5],
    ["5.9", 5],
    ["\"7\"", 7],
    ["\" 1_000 \"", 1_000],
    ["true", 1],
    ["-0", 0],
    ["-1", "-1 should be a non-negative integer"],
    ["null", "None should be a non-negative integer"],
    ["\"x\"", "x should be a non-negative integer"],
    ["\"1.5\"", "1.5 should be a non-negative integer"],
    ["1e999", "inf should be a non-negative integer"],
    ["[1,\"a\",null]", "[1, 'a', None] should be a non-negative integer"],
    ["{\"a\":true}", "{'a': True} should be a non-negative integer"]
  ])(
    "the integer %s is %s",
    (given, found) =>
      assert.strictEqual(
        Either.match(nonNegativeInteger(json(given)), { onLeft: (error) => error.message, onRight: (whole) => whole }),
        found
      )
  )

  it("have ElectrumX's texts", () => {
    const messageOf = <A>(read: Either.Either<A, { readonly message: string }>) =>
      Either.match(read, { onLeft: ({ message }) => message, onRight: String })
    assert.strictEqual(messageOf(scriptHash("ab")), "ab is not a valid script hash")
    assert.strictEqual(messageOf(flag("verbose", "yes")), "\"verbose\" must be a boolean")
    assert.strictEqual(messageOf(flag("verbose", json("1"))), "true")
    assert.deepStrictEqual([quotedText("it's"), quotedText("'\""), quotedText("a\n\u0001")], [
      "\"it's\"",
      "'\\'\"'",
      "'a\\n\\x01'"
    ])
    assert.strictEqual(withCommas(1_234_567), "1,234,567")
  })
})

describe("script hashes", () => {
  it("of names are those of ElectrumX", () => {
    // sha256(53 09 "d/example" 00 6d 75 6a)
    const script = Buffer.concat([Buffer.from([0x53, 9]), Buffer.from("d/example"), Buffer.from([0, 0x6d, 0x75, 0x6a])])
    assert.strictEqual(toHex(nameIndexHash(Buffer.from("d/example"))), toHex(sha256(script)))
    const key = readScriptHash(displayHash(sha256(script)))
    assert.strictEqual(key, Buffer.from(sha256(script)).toString("latin1"))
  })

  it("have a status that hashes their history", () => {
    assert.isNull(statusOf([]))
    const txid = new Uint8Array(32).fill(1)
    const text = `${"01".repeat(32)}:5:${"01".repeat(32)}:-1:`
    assert.strictEqual(
      statusOf([{ txid, height: 5 }, { txid, height: -1 }]),
      toHex(sha256(Buffer.from(text)))
    )
  })
})

describe("costs", () => {
  it("fall by one a second for each session that shares them", () => {
    const meter = new CostMeter(0)
    meter.join(0)
    meter.add({ cost: 1_000, now: 0 })
    assert.strictEqual(meter.at(5_000), 1_000)
    meter.join(5_000)
    assert.strictEqual(meter.at(15_000), 985)
    meter.leave(15_000)
    meter.leave(15_000)
    assert.strictEqual(meter.at(16_000), 984)
    assert.strictEqual(meter.at(10_000_000), 0)
  })

  it("slow answers down, and end a session", () => {
    assert.deepStrictEqual([0, 1_000, 5_500, 10_000, 50_000].map(delayAt), [0, 0, 1_000, 2_000, 2_000])
    assert.deepStrictEqual([9_999, 10_000].map(isExcessive), [false, true])
  })
})

describe("the fee histogram", () => {
  it("has bins from the highest rate on, each a tenth larger", () => {
    const paid = (count: number, rate: number) =>
      Array.from({ length: count }, () => ({ fee: rate * 1_000, size: 1_000 }))
    assert.deepStrictEqual(feeHistogram([]), [])
    assert.deepStrictEqual(feeHistogram(paid(100, 5)), [])
    assert.deepStrictEqual(feeHistogram(paid(101, 5)), [[5, 101_000]])
    // A lump of more than two bins gets its own, and what was left before it another.
    assert.deepStrictEqual(feeHistogram([...paid(10, 9), ...paid(300, 5), ...paid(200, 2)]), [
      [9, 10_000],
      [5, 300_000],
      [2, 200_000]
    ])
    assert.deepStrictEqual(feeHistogram([{ fee: 1_059, size: 1_000 }, ...paid(101, 1)]), [[1, 102_000]])
  })
})
