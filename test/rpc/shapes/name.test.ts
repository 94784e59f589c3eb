import { assert, describe, it } from "@effect/vitest"
import { mainnetParams, regtestParams } from "../../../src/consensus/params.ts"
import { concat, displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { nameScript, parseNameScript } from "../../../src/protocol/nameOperation.ts"
import { mainnet, regtest } from "../../../src/protocol/networks.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { encodeJson } from "../../../src/rpc/json/encodeJson.ts"
import type { Json } from "../../../src/rpc/json/json.ts"
import type { ShapeContext } from "../../../src/rpc/shapes/context.ts"
import {
  type ConfirmedName,
  nameInfoJson,
  nameInfoText,
  nameOpJson,
  nameOutputJson
} from "../../../src/rpc/shapes/name.ts"
import { hash, hex } from "../../support/bytes.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { at, items, recordedJson, recordedText, stringAt } from "../../support/recordedJson.ts"

const ascii: ShapeContext = { network: regtest, nameEncoding: "ascii", valueEncoding: "ascii" }
const inHex: ShapeContext = { network: regtest, nameEncoding: "hex", valueEncoding: "hex" }

/** Every record in the history of the fixture chain, by outpoint. */
const records: ReadonlyMap<string, ConfirmedName> = (() => {
  const found = new Map<string, ConfirmedName>()
  const collect = ({ outputs, txid }: Transaction, height: number): void => {
    for (const [vout, { script }] of outputs.entries()) {
      const parsed = parseNameScript(script)
      if (parsed === undefined || parsed.operation.op === "name_new") continue
      const { name, value } = parsed.operation
      found.set(`${displayHash(txid)}:${vout}`, { name, value, txid, vout, address: parsed.address, height })
    }
  }
  for (const [height, block] of fixtureBlocks("regtest-names/blocks.dat").entries()) {
    for (const transaction of block.transactions) collect(transaction, height)
  }
  return found
})()

const recordOf = (shown: Json): ConfirmedName =>
  records.get(`${stringAt(shown, "txid")}:${recordedText(at(shown, "vout"))}`) ?? assert.fail("no such record")

const clock = (tipHeight: number) => ({ tipHeight, params: regtestParams })

/** The record as JSON, by both functions: one of them keeps texts between the calls. */
const shownAs = (context: ShapeContext, record: ConfirmedName, now: ReturnType<typeof clock>): string => {
  const text = encodeJson(nameInfoJson(context, record, now))
  assert.strictEqual(nameInfoText(context, record, { clock: now, ismine: undefined }).text, text)
  const mine = nameInfoText(context, record, { clock: now, ismine: true }).text
  assert.strictEqual(mine, `${text.slice(0, -1)},"ismine":true}`)
  return text
}

describe("records that the reference node printed", () => {
  const names = items(at(recordedJson("regtest-names/tip-names.json"), "names"))
  const tip = clock(600)

  it("name_show and name_history of every name at the tip, in hex", () => {
    assert.isAbove(names.length, 300)
    for (const name of names) {
      for (const shown of [at(name, "show"), ...items(at(name, "history"))]) {
        assert.strictEqual(shownAs(inHex, recordOf(shown), tip), recordedText(shown))
      }
    }
  })

  it("name_scan at every checkpoint, in hex and as ascii text", () => {
    for (const checkpoint of items(at(recordedJson("regtest-names/expected.json"), "checkpoints"))) {
      const height = Number(recordedText(at(checkpoint, "height")))
      for (const shown of items(at(checkpoint, "nameScanHex"))) {
        assert.strictEqual(shownAs(inHex, recordOf(shown), clock(height)), recordedText(shown))
      }
      for (const shown of items(at(checkpoint, "nameScanAscii"))) {
        assert.strictEqual(shownAs(ascii, recordOf(shown), clock(height)), recordedText(shown))
      }
    }
  })
})

const P2PKH = hex("76a914751e76e8199196d454941c45d1b3a323f1433bd688ac")
const NAME = new TextEncoder().encode("d/ä")
const VALUE = new TextEncoder().encode("x")

const record: ConfirmedName = {
  name: NAME,
  value: VALUE,
  txid: hash(`${"ab".repeat(31)}01`),
  vout: 3,
  address: P2PKH,
  height: 100
}

describe("a record", () => {
  it.each(
    [
      ["utf8", "ascii", "\"name\":\"d/ä\",\"name_encoding\":\"utf8\",\"value\":\"x\",\"value_encoding\":\"ascii\","],
      [
        "ascii",
        "hex",
        "\"name_error\":\"invalid data for ascii\",\"name_encoding\":\"ascii\",\"value\":\"78\",\"value_encoding\":\"hex\","
      ],
      ["hex", "utf8", "\"name\":\"642fc3a4\",\"name_encoding\":\"hex\",\"value\":\"x\",\"value_encoding\":\"utf8\","]
    ] as const
  )("in %s and %s", (nameEncoding, valueEncoding, start) => {
    const text = encodeJson(nameOutputJson({ network: mainnet, nameEncoding, valueEncoding }, record))
    assert.strictEqual(
      text,
      `{${start}"txid":"${"ab".repeat(31)}01","vout":3,"address":"N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR"}`
    )
  })

  it.each([
    ["a bare key", "21" + "02".repeat(33) + "ac", "<nonstandard>"],
    ["nothing", "", "<nonstandard>"],
    ["a second name prefix", "5301610162 6d75" + toHex(P2PKH), "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"]
  ])("held by %s", (_, address, expected) => {
    assert.strictEqual(nameOutputJson(ascii, { ...record, address: hex(address) })["address"], expected)
  })

  it.each([
    [100, 30, false],
    [129, 1, false],
    [130, 0, true],
    [131, -1, true]
  ])("seen from tip %i", (tipHeight, expiresIn, expired) => {
    const info = nameInfoJson(ascii, record, clock(tipHeight))
    assert.deepStrictEqual([info["height"], info["expires_in"], info["expired"]], [100, expiresIn, expired])
  })

  it.each([
    [23_999, 12_000],
    [24_000, 12_000],
    [30_000, 18_000],
    [48_000, 36_000],
    [800_000, 36_000]
  ])("expires on mainnet by the rule of the tip's height %i", (tipHeight, depth) => {
    const info = nameInfoJson(ascii, { ...record, height: tipHeight }, { tipHeight, params: mainnetParams })
    assert.strictEqual(info["expires_in"], depth)
  })
})

describe("an operation", () => {
  const rand = hex("00ff")

  it.each(
    [
      [{ op: "name_new", commitment: hex("aabb") }, "{\"op\":\"name_new\",\"hash\":\"aabb\"}"],
      [
        { op: "name_firstupdate", name: hex("642f78"), rand, value: hex("ff") },
        "{\"op\":\"name_firstupdate\",\"name\":\"d/x\",\"name_encoding\":\"ascii\"," +
        "\"value_error\":\"invalid data for ascii\",\"value_encoding\":\"ascii\",\"rand\":\"00ff\"}"
      ],
      [
        { op: "name_update", name: hex("642f78"), value: hex("") },
        "{\"op\":\"name_update\",\"name\":\"d/x\",\"name_encoding\":\"ascii\",\"value\":\"\",\"value_encoding\":\"ascii\"}"
      ]
    ] as const
  )("%o", (operation, expected) => {
    assert.strictEqual(encodeJson(nameOpJson(operation, ascii)), expected)
    // The form that a script returns.
    const parsed = parseNameScript(concat(nameScript(operation, P2PKH)))
    assert.strictEqual(encodeJson(nameOpJson(parsed?.operation ?? assert.fail(), ascii)), expected)
  })
})
