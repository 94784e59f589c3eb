import { assert, describe, it } from "@effect/vitest"
import { chainInfo, confirmed, headerPlace, nameReply, registrationReply } from "../../src/client/replies.ts"
import type { Json } from "../../src/rpc/json/json.ts"
import { parseJson } from "../../src/rpc/json/readJson.ts"

const HASH = "a".repeat(64)

const reading = <A>(read: (reply: Json) => A | undefined) => (reply: object): A | undefined =>
  read(parseJson(JSON.stringify(reply)) ?? null)

const readInfo = reading(chainInfo)
const readName = reading(nameReply)
const readConfirmed = reading(confirmed)
const readPlace = reading(headerPlace)
const readRegistration = reading(registrationReply)

const INFO = { chain: "main", blocks: 5, bestblockhash: HASH }
const NAME = { name: "642f78", value: "7b7d", txid: HASH, height: 5, expires_in: 0 }
const PLACE = { height: 5, confirmations: -1 }
const REGISTRATION = { name: "642f78", step: "done", txid: HASH }

describe("a member that the client can do without", () => {
  const ODD = [null, {}, [], 1.5, 2 ** 60, "odd", "A".repeat(64)]

  /** Values of all types but one. */
  const others = (type: "boolean" | "string" | "number") => [...ODD, true, 1].filter((value) => typeof value !== type)

  it.each([...others("number"), 1.5, 2 ** 60])("is read as missing with %j instead of an integer", (odd) => {
    assert.deepStrictEqual(readInfo({ ...INFO, headers: odd }), readInfo(INFO))
    assert.deepStrictEqual(readConfirmed({ confirmations: 3, blockheight: odd }), {
      confirmations: 3,
      height: undefined
    })
  })

  it.each(others("boolean"))("is read as missing with %j instead of a boolean", (odd) => {
    assert.deepStrictEqual(readInfo({ ...INFO, initialblockdownload: odd })?.asOf, {
      height: 5,
      synced: true,
      proof: "full"
    })
    assert.isTrue(readName({ ...NAME, expired: odd })?.expired)
  })

  it.each(others("string"))("is read as missing with %j instead of text", (odd) => {
    assert.strictEqual(readName({ ...NAME, address: odd })?.shown?.address, "")
    const found = readRegistration({ ...REGISTRATION, note: odd })
    assert.deepStrictEqual([found?.step, found?.note], ["done", undefined])
  })

  it.each([...ODD, "b".repeat(63)])("is read as missing with %j instead of a hash", (odd) => {
    const place = readPlace({ ...PLACE, previousblockhash: odd })
    assert.deepStrictEqual([place?.height, place?.previousblockhash], [5, undefined])
    const found = readRegistration({ ...REGISTRATION, firstupdate_txid: odd })
    assert.deepStrictEqual([found?.step, found?.firstupdate_txid], ["done", undefined])
  })

  it("counts in its form", () => {
    assert.isFalse(readInfo({ ...INFO, headers: 6 })?.asOf.synced)
    assert.isFalse(readInfo({ ...INFO, initialblockdownload: true })?.asOf.synced)
    assert.isFalse(readName({ ...NAME, expired: false })?.expired)
    assert.strictEqual(readName({ ...NAME, address: "n1" })?.shown?.address, "n1")
    assert.strictEqual(readConfirmed({ confirmations: 3, blockheight: 9 })?.height, 9)
    assert.strictEqual(readPlace({ ...PLACE, previousblockhash: HASH })?.previousblockhash, HASH)
    const found = readRegistration({ ...REGISTRATION, note: "why", firstupdate_txid: HASH })
    assert.deepStrictEqual([found?.note, found?.firstupdate_txid], ["why", HASH])
  })
})

describe("a member that the client needs", () => {
  it.each([undefined, null, "5", true, 1.5, 2 ** 60])("refuses the reply with %j instead of an integer", (odd) => {
    assert.isUndefined(readInfo({ ...INFO, blocks: odd }))
    assert.isUndefined(readName({ ...NAME, height: odd }))
    assert.isUndefined(readConfirmed({ confirmations: odd }))
    assert.isUndefined(readPlace({ ...PLACE, height: odd }))
    assert.isUndefined(readPlace({ ...PLACE, confirmations: odd }))
  })
})
