import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, FastCheck } from "effect"
import {
  afterRecord,
  decodeRecords,
  DeliveryRecord,
  type DeliveryState,
  encodeRecord,
  initialState,
  isFinished,
  nextDue,
  unreported
} from "../../../src/mail/relay/deliveryState.ts"
import { Envelope } from "../../../src/mail/relay/envelope.ts"
import {
  decodeEnvelope,
  decodePrologue,
  encodeEnvelope,
  encodePrologue,
  PROLOGUE_LENGTH
} from "../../../src/mail/relay/spoolFile.ts"

const REPLY = { code: 550, status: "5.1.1", text: "550 5.1.1 no" }

const envelope: Envelope = {
  id: "x-1",
  arrivedAt: 1_000,
  sender: "a@b.example",
  greeting: "c",
  client: "192.0.2.1",
  protocol: "ESMTP",
  hasMessageId: true,
  eightBit: false,
  recipients: [
    { address: "a@bit", targets: ["a@one.example", "a@two.example"], loops: false },
    { address: "b@bit", targets: ["b@one.example"], loops: false }
  ]
}

const after = (...records: ReadonlyArray<DeliveryRecord>): DeliveryState =>
  records.reduce((state, record) => afterRecord(envelope, state, record), initialState(envelope))

// JSON has only one zero, and no infinity.
const records = Arbitrary.make(DeliveryRecord).filter((record) =>
  !JSON.stringify(record).includes("null") && !Object.values(record).some((value) => Object.is(value, -0))
).map((record) => decodeRecords(encodeRecord(record))[0]).filter((record) => record !== undefined)

describe("delivery state", () => {
  it("begins with all recipients waiting, and is due at once", () => {
    const state = initialState(envelope)
    assert.deepStrictEqual([nextDue(state), isFinished(state), unreported(state)], [0, false, []])
  })

  it("goes on with the next address at once after a permanent refusal", () => {
    const [first] = after(
      { event: "deferred", recipient: 0, attempts: 1, nextAt: 5_000, reply: REPLY },
      { event: "refused", recipient: 0, target: 0, reply: REPLY }
    )
    assert.deepStrictEqual(first, {
      _tag: "Waiting",
      target: 1,
      attempts: 1,
      nextAt: 0,
      refusals: [{ address: "a@one.example", reply: REPLY }],
      last: REPLY
    })
  })

  it("is due when the first waiting recipient is", () => {
    const state = after(
      { event: "deferred", recipient: 0, attempts: 1, nextAt: 5_000, reply: REPLY },
      { event: "deferred", recipient: 1, attempts: 1, nextAt: 4_000, reply: REPLY }
    )
    assert.strictEqual(nextDue(state), 4_000)
    assert.strictEqual(
      nextDue(after({ event: "delivered", recipient: 0 }, { event: "delivered", recipient: 1 })),
      undefined
    )
  })

  it("is finished when all recipients are delivered to or reported", () => {
    const failed: DeliveryRecord = { event: "failed", recipient: 1, reply: REPLY }
    assert.isFalse(isFinished(after({ event: "delivered", recipient: 0 })))
    assert.isFalse(isFinished(after({ event: "delivered", recipient: 0 }, failed)))
    assert.deepStrictEqual(unreported(after(failed)), [1])
    const reported: DeliveryRecord = { event: "reported", recipients: [1] }
    assert.isTrue(isFinished(after({ event: "delivered", recipient: 0 }, failed, reported)))
    assert.isFalse(isFinished(after({ event: "delivered", recipient: 0 }, reported)))
  })

  it.prop("never reverts a delivered recipient", [FastCheck.array(records)], ([more]) => {
    const [first] = after({ event: "delivered", recipient: 0 }, ...more)
    assert.strictEqual(first?._tag, "Delivered")
  })

  it.prop("reads the records that it wrote, whatever was cut off in between", {
    before: FastCheck.array(records),
    cut: FastCheck.option(FastCheck.tuple(records, FastCheck.nat())),
    later: FastCheck.array(records)
  }, ({ before, cut, later }) => {
    const torn = cut === null ? "" : encodeRecord(cut[0]).slice(0, cut[1] % (encodeRecord(cut[0]).length - 1))
    const text = before.map(encodeRecord).join("") + torn + later.map(encodeRecord).join("")
    assert.deepStrictEqual(decodeRecords(text), [...before, ...later])
  })
})

describe("spool file", () => {
  it.prop("reads the first line that it wrote", [
    FastCheck.integer({ min: 0, max: 2 ** 40 }),
    FastCheck.nat(2 ** 31 - 1),
    FastCheck.integer({ min: 0, max: 2 ** 32 - 1 })
  ], ([bodyLength, envelopeLength, crc]) => {
    const bytes = encodePrologue({ bodyLength, envelopeLength, crc })
    assert.strictEqual(bytes.length, PROLOGUE_LENGTH)
    assert.deepStrictEqual(decodePrologue(bytes), { bodyLength, envelopeLength, crc })
    assert.isUndefined(decodePrologue(bytes.subarray(0, -1)))
    assert.isUndefined(decodePrologue(Buffer.alloc(PROLOGUE_LENGTH)))
  })

  it.prop("reads the envelope that it wrote", [Arbitrary.make(Envelope)], ([envelope]) => {
    FastCheck.pre(Number.isFinite(envelope.arrivedAt) && !Object.is(envelope.arrivedAt, -0))
    FastCheck.pre(
      envelope.reports === undefined ||
        envelope.reports.recipients.every((each) => Number.isFinite(each) && !Object.is(each, -0))
    )
    const bytes = encodeEnvelope(envelope)
    assert.deepStrictEqual(decodeEnvelope(bytes), envelope)
    assert.isUndefined(decodeEnvelope(bytes.subarray(0, -1)))
  })
})
