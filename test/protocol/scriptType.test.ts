import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { toHex } from "../../src/protocol/bytes.ts"
import { nameScript } from "../../src/protocol/nameOperation.ts"
import { type ScriptTemplate, scriptTemplate } from "../../src/protocol/scriptType.ts"
import { bytesOf, hex } from "../support/bytes.ts"

const KEY = "02" + "11".repeat(32)
const KEY_2 = "03" + "22".repeat(32)
const UNCOMPRESSED = "04" + "33".repeat(64)
const HYBRID = "06" + "44".repeat(64)
const HASH_20 = "55".repeat(20)
const HASH_32 = "66".repeat(32)
const NAME = "5301610162 6d75"

/** A template on one line: its type and its parts. */
const summary = (template: ScriptTemplate): string => {
  switch (template.type) {
    case "pubkey":
      return `pubkey ${toHex(template.pubkey)}`
    case "multisig":
      return `multisig ${template.required} ${template.pubkeys.map(toHex).join(" ")}`
    case "witness_v1_taproot":
      return `witness_v1_taproot ${toHex(template.key)}`
    case "witness_unknown":
      return `witness_unknown ${template.version} ${toHex(template.program)}`
    case "pubkeyhash":
    case "scripthash":
    case "witness_v0_keyhash":
    case "witness_v0_scripthash":
      return `${template.type} ${toHex(template.hash)}`
    default:
      return template.type
  }
}

const seen = (script: string): string => summary(scriptTemplate(hex(script)))

/** Templates that keep their type behind a name prefix. */
const TEMPLATES: ReadonlyArray<readonly [string, string]> = [
  [`76a914${HASH_20}88ac`, `pubkeyhash ${HASH_20}`],
  [`a914${HASH_20}87`, `scripthash ${HASH_20}`],
  [`0014${HASH_20}`, `witness_v0_keyhash ${HASH_20}`],
  [`0020${HASH_32}`, `witness_v0_scripthash ${HASH_32}`],
  [`5120${HASH_32}`, `witness_v1_taproot ${HASH_32}`],
  [`5220${HASH_32}`, `witness_unknown 2 ${HASH_32}`],
  [`6002aabb`, "witness_unknown 16 aabb"],
  [`5128${"77".repeat(40)}`, `witness_unknown 1 ${"77".repeat(40)}`],
  [`5121${KEY}21${KEY_2}52ae`, `multisig 1 ${KEY} ${KEY_2}`],
  [`5221${KEY}41${UNCOMPRESSED}41${HYBRID}53ae`, `multisig 2 ${KEY} ${UNCOMPRESSED} ${HYBRID}`]
]

describe("templates", () => {
  it.each(TEMPLATES)("%s is recognized", (script, expected) => {
    assert.strictEqual(seen(script), expected)
    assert.strictEqual(seen(NAME + script), expected)
  })

  it.each([
    [`21${KEY}ac`, `pubkey ${KEY}`],
    [`41${UNCOMPRESSED}ac`, `pubkey ${UNCOMPRESSED}`],
    [`41${HYBRID}ac`, `pubkey ${HYBRID}`]
  ])("%s: a name prefix that splits the leading push prevents this", (script, expected) => {
    assert.strictEqual(seen(script), expected)
    assert.strictEqual(seen(NAME + script), "nonstandard")
  })

  it.each([
    ["6a", "nulldata"],
    ["6a51", "nulldata"],
    ["6a4c01ff60", "nulldata"],
    ["6a50", "nulldata"],
    ["6a61", "nonstandard"],
    ["6a02ff", "nonstandard"],
    [`${NAME}6a`, "nonstandard"],
    [`${NAME}6a0101`, "nonstandard"],
    ["51024e73", "anchor"],
    [`${NAME}51024e73`, "witness_unknown 1 4e73"],
    ["51024e74", "witness_unknown 1 4e74"],
    ["52024e73", "witness_unknown 2 4e73"]
  ])("%s is tested with its prefix: %s", (script, expected) => assert.strictEqual(seen(script), expected))

  it.each([
    "",
    "51",
    "ff",
    `76a914${HASH_20}88`,
    `76a915${HASH_20}0088ac`,
    `a914${HASH_20}8751`,
    `0015${HASH_20}00`,
    "0002aabb",
    "5101aa",
    `5129${"77".repeat(41)}`,
    `4c21${KEY}ac`,
    `2105${"11".repeat(32)}ac`,
    `21${KEY}ad`,
    `41${KEY}${"00".repeat(32)}ac`
  ])("nonstandard: %s", (script) => assert.strictEqual(seen(script), "nonstandard"))
})

describe("multisig", () => {
  const keys = (count: number): string => `21${KEY}`.repeat(count)
  /** OP_1 to OP_16, above that a push of one byte. */
  const number = (value: number): string => value <= 16 ? (0x50 + value).toString(16) : `01${value.toString(16)}`
  const script = (required: number, count: number, given = count): string =>
    `${number(required)}${keys(given)}${number(count)}ae`

  it.each([[1, 1], [1, 3], [3, 3], [16, 16], [1, 17], [17, 17], [20, 20]])("%i of %i", (required, count) => {
    const template = scriptTemplate(hex(script(required, count)))
    assert.deepInclude(template, { type: "multisig", required })
    assert.lengthOf(template.type === "multisig" ? template.pubkeys : [], count)
  })

  it("a key may have any form of push", () => {
    assert.strictEqual(seen(`514c21${KEY}51ae`), `multisig 1 ${KEY}`)
  })

  it.each([
    ["more needed than there are", script(2, 1)],
    ["fewer than counted", script(1, 3, 2)],
    ["more than counted", script(1, 2, 3)],
    ["21 keys", script(1, 21)],
    ["21 needed", `0115${keys(20)}0114ae`],
    ["none needed", `00${keys(1)}51ae`],
    ["a negative number", `4f${keys(1)}51ae`],
    ["no key", "5151ae"],
    ["a number in too many bytes", `0101${keys(1)}51ae`],
    ["a number with too long a push", `4c0111${keys(17)}0111ae`],
    ["a key that is none", `512105${"11".repeat(32)}51ae`],
    ["something behind", `${script(1, 1)}61`],
    ["something before the end", `51${keys(1)}5161ae`],
    ["the last opcode within a push", `51${keys(1)}02ffae`],
    ["a truncated push", `51${keys(1)}51ff02ae`],
    ["the end missing", `51${keys(1)}51`],
    ["only the end", "ae"]
  ])("not a multisig: %s", (_, text) => assert.strictEqual(seen(text), "nonstandard"))

  it("a long script is not searched to its end", () => {
    assert.strictEqual(seen(`51${keys(50_000)}51ae`), "nonstandard")
  })
})

it("a name operation before the script does not change the template of an address", () => {
  const addresses = TEMPLATES.map(([script]) => hex(script))
  FastCheck.assert(
    FastCheck.property(
      FastCheck.constantFrom(...addresses),
      bytesOf(0, 300),
      bytesOf(0, 300),
      (address, name, value) => {
        const scripts = [
          nameScript({ op: "name_new", commitment: name }, address),
          nameScript({ op: "name_firstupdate", name, rand: value, value }, address),
          nameScript({ op: "name_update", name, value }, address)
        ]
        for (const script of scripts) {
          assert.strictEqual(summary(scriptTemplate(script)), summary(scriptTemplate(address)))
        }
      }
    )
  )
})

it("any bytes have a type", () => {
  FastCheck.assert(FastCheck.property(bytesOf(0, 200), (script) => assert.isString(scriptTemplate(script).type)))
})
