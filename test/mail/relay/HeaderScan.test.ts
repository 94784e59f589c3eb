import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { HeaderScan, type Scanned } from "../../../src/mail/relay/HeaderScan.ts"

const scan = (text: string, cut = text.length + 1): Scanned => {
  const bytes = Buffer.from(text, "latin1")
  const scanned = new HeaderScan()
  for (let at = 0; at < bytes.length; at += cut) scanned.push(bytes.subarray(at, at + cut))
  return scanned.end()
}

const NOTHING: Scanned = {
  received: 0,
  deliveredTo: [],
  hasMessageId: false,
  eightBit: false,
  bareLineEnd: false,
  hasNul: false,
  startsFolded: false
}

describe("HeaderScan", () => {
  it.each([
    { text: "", found: {}, why: "nothing" },
    { text: "\r\nReceived: x\r\n", found: {}, why: "a body has no fields" },
    {
      text: "Received: a\r\nRECEIVED : b\r\n\tReceived: c\r\nX-Received: d\r\n\r\nReceived: e\r\n",
      found: { received: 2 },
      why: "fields, not continuations"
    },
    {
      text: "Delivered-To: Alice@Bit \r\nDelivered-To:b@bit\r\n\r\n",
      found: { deliveredTo: ["alice@bit", "b@bit"] },
      why: "traces"
    },
    { text: "message-id: <a@b>\r\n\r\n", found: { hasMessageId: true }, why: "an id" },
    { text: "Subject: x", found: {}, why: "a header without an end" },
    { text: "Message-ID: x", found: { hasMessageId: true }, why: "the last line counts" },
    { text: "A: b\r\n\r\n\xff", found: { eightBit: true }, why: "bytes beyond ASCII" },
    { text: "A: b\n\r\n", found: { bareLineEnd: true }, why: "LF alone in the header" },
    { text: "A: b\r\n\r\nx\n", found: { bareLineEnd: true }, why: "LF alone in the body" },
    { text: "A: b\r\n\r\n.\0\r\n", found: { hasNul: true }, why: "NUL in the body" },
    { text: "A: b\0\r\n\r\nx\r\n", found: { hasNul: true }, why: "NUL in the header" },
    { text: "A: b\r\n\r\nx\ry", found: { bareLineEnd: true }, why: "CR alone" },
    { text: "A: b\r\n\r\nx\r\r\n", found: { bareLineEnd: true }, why: "CR before a line end" },
    { text: "A: b\r\n\r\nx\r", found: { bareLineEnd: true }, why: "CR at the end" },
    { text: "\nA: b\r\n\r\n", found: { bareLineEnd: true }, why: "LF at the beginning" },
    { text: " folded\r\nA: b\r\n\r\n", found: { startsFolded: true }, why: "a continuation of nothing" },
    { text: "A: b\r\n folded\r\n\r\n", found: {}, why: "a continuation of something" }
  ])("$why", ({ found, text }) => {
    assert.deepStrictEqual(scan(text), { ...NOTHING, ...found })
  })

  it("keeps no more of long lines and many traces than it needs", () => {
    const long = scan(`Delivered-To: ${"a".repeat(1_000_000)}\r\n\r\n`)
    assert.isBelow((long.deliveredTo[0] ?? "").length, 400)
    assert.strictEqual(scan("Delivered-To: a@bit\r\n".repeat(5_000)).deliveredTo.length, 200)
  })

  const piece = FastCheck.constantFrom(
    "Received: a\r\n",
    "Delivered-To: a@b\r\n",
    "\r\n",
    "\n",
    "\r",
    " x\r\n",
    "\xff",
    "Message-ID: x\r\n"
  )
  it.prop("finds the same in any chunks of the bytes", {
    pieces: FastCheck.array(piece, { maxLength: 12 }),
    cut: FastCheck.integer({ min: 1, max: 9 })
  }, ({ cut, pieces }) => {
    const text = pieces.join("")
    assert.deepStrictEqual(scan(text, cut), scan(text))
  })
})
