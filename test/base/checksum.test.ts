import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { createHash } from "node:crypto"
import { checksummed, ChecksummedText, checkText } from "../../src/base/checksum.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

const objects = FastCheck.dictionary(FastCheck.string(), FastCheck.jsonValue(), { minKeys: 1 })

describe("the checksum of a JSON file", () => {
  it("the checksum is the first member, over the text without it", () => {
    const compact = "{\"a\":1}\n"
    assert.strictEqual(checksummed(compact), `{"checksum":"${sha256(compact)}","a":1}\n`)
    const indented = "{\n  \"a\": 1\n}\n"
    assert.strictEqual(checksummed(indented), `{\n  "checksum": "${sha256(indented)}",\n  "a": 1\n}\n`)
  })

  it("the checksum can be removed from any object", () => {
    FastCheck.assert(FastCheck.property(objects, FastCheck.constantFrom(undefined, 2), (object, indent) => {
      const text = JSON.stringify(object, undefined, indent)
      const whole = checksummed(text)
      assert.deepStrictEqual(checkText(whole), { text, checksum: "right" })
      assert.strictEqual(JSON.parse(whole).checksum, sha256(text))
    }))
  })

  it("the checksum of a text built in parts is the same", () => {
    const parts = ["{\"a\":", "[1,", "2]}\n"]
    const text = parts.reduce((made, part) => made.add(part), new ChecksummedText()).finish().join("")
    assert.strictEqual(text, checksummed(parts.join("")))
  })

  it("the checksum is wrong for any other text, and absent after its removal", () => {
    const text = "{\n  \"a\": \"ü\"\n}\n"
    const whole = checksummed(text)
    assert.deepStrictEqual(checkText(text), { text, checksum: "absent" })
    for (const other of [whole.replace("ü", "u"), whole.replace("\n}", "\n\n}"), whole.replace(/[0-9a-f]{64}/, "")]) {
      assert.strictEqual(checkText(other).checksum, "wrong")
    }
  })
})
