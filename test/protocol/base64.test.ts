import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { decodeBase64, encodeBase64 } from "../../src/protocol/base64.ts"
import { toHex } from "../../src/protocol/bytes.ts"

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

describe("base64", () => {
  it("base64 matches RFC 4648, section 10", () => {
    const vectors = [
      ["", ""],
      ["f", "Zg=="],
      ["fo", "Zm8="],
      ["foo", "Zm9v"],
      ["foob", "Zm9vYg=="],
      ["fooba", "Zm9vYmE="],
      ["foobar", "Zm9vYmFy"]
    ] as const
    for (const [plain, encoded] of vectors) {
      assert.strictEqual(encodeBase64(ascii(plain)), encoded)
      assert.deepStrictEqual(decodeBase64(encoded), ascii(plain))
    }
  })

  it("encoded bytes are decoded again, as with Node.js", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.uint8Array({ maxLength: 9_000, size: "max" }), (bytes) => {
        const text = encodeBase64(bytes)
        assert.strictEqual(text, Buffer.from(bytes).toString("base64"))
        assert.strictEqual(toHex(decodeBase64(text) ?? new Uint8Array(1)), toHex(bytes))
      })
    )
  })

  it("all other texts are refused", () => {
    for (
      const text of [
        "Z",
        "Zg",
        "Zg=",
        "Zg===",
        "Zh==",
        "Zm9=",
        "Zm9v\n",
        " Zm9v",
        "Zm-_",
        "=",
        "====",
        "Z===",
        "Zm9vü==="
      ]
    ) {
      assert.isUndefined(decodeBase64(text), text)
    }
  })
})
