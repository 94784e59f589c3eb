import { assert, it } from "@effect/vitest"
import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js"
import { FastCheck } from "effect"
import { concat, toHex } from "../../src/protocol/bytes.ts"
import { createSha256 } from "../../src/protocol/hash.ts"
import { bytesOf } from "../support/bytes.ts"

it("SHA-256 of parts equals SHA-256 of the whole", () => {
  FastCheck.assert(FastCheck.property(FastCheck.array(bytesOf(0, 100), { maxLength: 8 }), (parts) => {
    const hash = createSha256()
    for (const part of parts) hash.update(part)
    const digest = hash.digest()
    assert.strictEqual(toHex(digest), toHex(nobleSha256(concat(...parts))))
    assert.lengthOf(digest, 32)
  }))
})

it("the input may change after an update", () => {
  const buffer = Uint8Array.of(1, 2, 3)
  const hash = createSha256()
  hash.update(buffer)
  buffer.fill(0)
  assert.strictEqual(toHex(hash.digest()), toHex(nobleSha256(Uint8Array.of(1, 2, 3))))
})
