import { assert, describe, it } from "@effect/vitest"
import * as Equal from "effect/Equal"
import * as Schema from "effect/Schema"
import { liveChangesOf } from "../../src/client/liveChanges.ts"
import {
  changeOf,
  Freshness,
  freshnessOf,
  LiveChange,
  NameChange,
  NameRecord,
  OperationResult,
  recordOf,
  SyncReport,
  UnconfirmedChange
} from "../../src/client/records.ts"
import { DROP_REASONS } from "../../src/names/events/kinds.ts"
import { regtest } from "../../src/protocol/networks.ts"

const asOf = { height: 700, synced: true, proof: "full" } as const

const fixed = { name: "d/x", value: "v", address: "n1", txid: "a".repeat(64), height: 690 }

const record = recordOf(fixed, { expiresIn: 20, expired: false, asOf: freshnessOf(asOf) })

const place = { type: "registered", name: "d/x", height: 690, hash: "b".repeat(64), cursor: "9-ff" } as const

const change = changeOf({ ...place, record, before: undefined, blocks: undefined })

const jsonOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** What a schema makes of a record on its way to another program and back. */
const sent = <A, I>(schema: Schema.Schema<A, I>, value: A): A =>
  Schema.decodeUnknownSync(schema)(jsonOf(Schema.encodeSync(schema)(value)))

describe("records", () => {
  it("are the instances that `new` makes, with the same fields in the same order", () => {
    const made = new NameRecord({ ...fixed, expiresIn: 20, expired: false, asOf: new Freshness(asOf) })
    assert.instanceOf(record, NameRecord)
    assert.instanceOf(record.asOf, Freshness)
    assert.isTrue(Equal.equals(record, made))
    assert.strictEqual(JSON.stringify(record), JSON.stringify(made))
    assert.deepStrictEqual(Object.keys(record), Object.keys(made))
    assert.instanceOf(change, NameChange)
    assert.isTrue(Equal.equals(changeOf({ ...place, record }), new NameChange({ ...place, record: made })))
  })

  it("their encoded form is their JSON, and comes back", () => {
    assert.deepStrictEqual(Schema.encodeSync(NameRecord)(record), {
      ...fixed,
      expiresIn: 20,
      expired: false,
      asOf
    })
    assert.deepStrictEqual(jsonOf(record), Schema.encodeSync(NameRecord)(record))
    assert.deepStrictEqual(jsonOf(change), jsonOf(Schema.encodeSync(NameChange)(change)))
    const back = sent(NameChange, change)
    assert.instanceOf(back.record, NameRecord)
    assert.isTrue(Equal.equals(back.record, record))
    const result = new OperationResult({ txHash: "c".repeat(64) })
    assert.isTrue(Equal.equals(sent(OperationResult, result), result))
  })

  it("what is absent stays absent: in JSON there is no null", () => {
    assert.notProperty(record, "valueHex")
    assert.notInclude(JSON.stringify([record, change]), "null")
    assert.deepStrictEqual(Object.keys(Object(jsonOf(change))), ["type", "name", "height", "hash", "cursor", "record"])
    const bytes = recordOf({ ...fixed, valueHex: "ff" }, { expiresIn: 0, expired: true, asOf: freshnessOf(asOf) })
    assert.strictEqual(sent(NameRecord, bytes).valueHex, "ff")
  })

  it("refuse what is not a record", () => {
    const decode = Schema.decodeUnknownEither(NameRecord)
    assert.strictEqual(decode({ ...Schema.encodeSync(NameRecord)(record), height: "690" })._tag, "Left")
    assert.strictEqual(decode({ ...Schema.encodeSync(NameRecord)(record), valueHex: null })._tag, "Left")
  })

  it("live changes are what their schema says, and come back from JSON", () => {
    const operation = {
      kind: "updated",
      name: new TextEncoder().encode("d/x"),
      value: Uint8Array.of(0xff),
      txid: new Uint8Array(32).fill(7),
      vout: 0,
      address: Uint8Array.of(0x51),
      ownerBefore: undefined,
      keepsValue: false
    } as const
    const live = [
      { type: "pending", operation },
      ...DROP_REASONS.map((reason) => ({ type: "pending_dropped", operation, reason }) as const),
      { type: "pending_reset" },
      { type: "synced", height: 7 }
    ] as const
    const changes = live.flatMap((event) => liveChangesOf(regtest, event))
    assert.lengthOf(changes, live.length)
    for (const change of changes) assert.deepStrictEqual(sent(LiveChange, change), change)
    const { type, ...pending } = changes[0] ?? assert.fail("there is one")
    assert.strictEqual(type, "pending")
    assert.isTrue(Schema.is(UnconfirmedChange)(pending))
    const decode = Schema.decodeUnknownEither(LiveChange)
    assert.strictEqual(decode({ ...changes[1], reason: "bored" })._tag, "Left")
    assert.strictEqual(decode({ ...changes[0], type: "registered" })._tag, "Left")
  })

  it("reports of a sync are too, with and without an estimate and a window", () => {
    const report = { phase: "ready", proof: "full", height: 7, headers: 7, synced: true, percent: 100 } as const
    const window = { blocks: 9, of: 130, names: 4, unchecked: 0 }
    for (const each of [report, { ...report, secondsLeft: 3, window }]) {
      assert.deepStrictEqual(sent(SyncReport, each), each)
    }
    assert.deepStrictEqual(sent(SyncReport, { ...report, secondsLeft: undefined, window: undefined }), report)
    assert.strictEqual(Schema.decodeUnknownEither(SyncReport)({ ...report, phase: "resting" })._tag, "Left")
  })
})
