import { assert, describe, it } from "@effect/vitest"
import { murmur3 } from "../../src/base/murmur.ts"
import { fromHex } from "../../src/protocol/bytes.ts"

describe("murmur3", () => {
  // Upstream `test/hash_tests.cpp`, `murmurhash3`.
  it.each([
    [0x00000000, 0x00000000, ""],
    [0x6a396f08, 0xfba4c795, ""],
    [0x81f16f39, 0xffffffff, ""],
    [0x514e28b7, 0x00000000, "00"],
    [0xea3f0b17, 0xfba4c795, "00"],
    [0xfd6cf10d, 0x00000000, "ff"],
    [0x16c6b7ab, 0x00000000, "0011"],
    [0x8eb51c3d, 0x00000000, "001122"],
    [0xb4471bf8, 0x00000000, "00112233"],
    [0xe2301fa8, 0x00000000, "0011223344"],
    [0xfc2e4a15, 0x00000000, "001122334455"],
    [0xb074502c, 0x00000000, "00112233445566"],
    [0x8034d2a0, 0x00000000, "0011223344556677"],
    [0xb4698def, 0x00000000, "001122334455667788"]
  ])("is %i with seed %i for %s", (expected, seed, data) => {
    assert.strictEqual(murmur3(seed, fromHex(data) ?? assert.fail("not hexadecimal")), expected)
  })
})
