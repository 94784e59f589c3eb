import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { createHash } from "node:crypto"
import { checksummed, ChecksummedText, checkText } from "../../src/base/checksum.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

const objects = FastCheck.dictionary(FastCheck.string(), FastCheck.jsonValue(), { minKeys: 1 })

describe("the checksum of a JSON file", () => {
  it("is the first member, of the text as it is without it", () => {
    const compact = "{\"a\":1}\n"
    assert.strictEqual(checksummed(compact), `{"checksum":"${sha256(compact)}","a":1}\n`)
    const indented = "{\n  \"a\": 1\n}\n"
    assert.strictEqual(checksummed(indented), `{\n  "checksum": "${sha256(indented)}",\n  "a": 1\n}\n`)
  })

  it("comes off any object again", () => {
    FastCheck.assert(FastCheck.property(objects, FastCheck.constantFrom(undefined, 2), (object, indent) => {
      const text = JSON.stringify(object, undefined, indent)
      const whole = checksummed(text)
      assert.deepStrictEqual(checkText(whole), { text, checksum: "right" })
      assert.strictEqual(JSON.parse(whole).checksum, sha256(text))
    }))
  })

  it("is the same for a text made in parts", () => {
    const parts = ["{\"a\":", "[1,", "2]}\n"]
    const text = parts.reduce((made, part) => made.add(part), new ChecksummedText()).finish().join("")
    assert.strictEqual(text, checksummed(parts.join("")))
  })

  it("is wrong for any other text, and absent where it was taken out", () => {
    const text = "{\n  \"a\": \"ü\"\n}\n"
    const whole = checksummed(text)
    assert.deepStrictEqual(checkText(text), { text, checksum: "absent" })
    for (const other of [whole.replace("ü", "u"), whole.replace("\n}", "\n\n}"), whole.replace(/[0-9a-f]{64}/, "")]) {
      assert.strictEqual(checkText(other).checksum, "wrong")
    }
  })
})
