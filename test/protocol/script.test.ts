import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { concat, toHex } from "../../src/protocol/bytes.ts"
import {
  isPayToPubkeyHash,
  isPayToScriptHash,
  isPushOnly,
  isUnspendable,
  MAX_SCRIPT_SIZE,
  Op,
  pushData,
  ScriptCursor,
  witnessVersion
} from "../../src/protocol/script.ts"
import { bytesOf, hex } from "../support/bytes.ts"

/** The instructions of a script as `opcode:data`, followed by `!` if the cursor fails. */
const walk = (script: Uint8Array): string => {
  const cursor = new ScriptCursor(script)
  const seen: Array<string> = []
  while (cursor.next()) seen.push(`${cursor.opcode.toString(16)}:${toHex(cursor.data)}`)
  if (cursor.failed) seen.push("!")
  return seen.join(" ")
}

describe("ScriptCursor", () => {
  it.each([
    ["", ""],
    ["00", "0:"],
    ["01aa", "1:aa"],
    ["02aabb61", "2:aabb 61:"],
    ["4c00", "4c:"],
    ["4c01aa", "4c:aa"],
    ["4d0200aabb51", "4d:aabb 51:"],
    ["4e03000000aabbcc", "4e:aabbcc"],
    ["4f506061ff", "4f: 50: 60: 61: ff:"],
    ["01", "!"],
    ["02aa", "!"],
    ["5102aa", "51: !"],
    ["4c", "!"],
    ["4c02aa", "!"],
    ["4d", "!"],
    ["4d01", "!"],
    ["4d0200aa", "!"],
    ["4e", "!"],
    ["4e010000", "!"],
    ["4e02000000aa", "!"],
    ["4effffffffaa", "!"]
  ])("the cursor reads %s as %j", (script, expected) => {
    assert.strictEqual(walk(hex(script)), expected)
  })

  it.each([0x4b, 0x4c, 0xff, 0x100, 0xffff, 0x10000])(
    "a push of %d bytes is read, and fails with a byte less",
    (size) => {
      const script = pushData(new Uint8Array(size).fill(7))
      const whole = new ScriptCursor(script)
      assert.isTrue(whole.next())
      assert.strictEqual(whole.data.length, size)
      assert.isFalse(whole.next())
      assert.isFalse(whole.failed)
      const short = new ScriptCursor(script.subarray(0, -1))
      assert.isFalse(short.next())
      assert.isTrue(short.failed)
      assert.strictEqual(short.offset, 0)
    }
  )

  it("the cursor starts at the given offset", () => {
    const cursor = new ScriptCursor(hex("ff01aa"), 1)
    assert.isTrue(cursor.next())
    assert.strictEqual(toHex(cursor.data), "aa")
  })

  it("the cursor never throws, ends, and reads the whole script unless it fails", () => {
    FastCheck.assert(FastCheck.property(bytesOf(0, 120), (script) => {
      const cursor = new ScriptCursor(script)
      let last = -1
      while (cursor.next()) {
        assert.isAbove(cursor.offset, last)
        last = cursor.offset
      }
      assert.isTrue(cursor.failed || cursor.offset === script.length)
    }))
  })
})

describe("pushData", () => {
  it.each([
    [0, "00"],
    [1, "01"],
    [75, "4b"],
    [76, "4c4c"],
    [255, "4cff"],
    [256, "4d0001"],
    [65535, "4dffff"],
    [65536, "4e00000100"]
  ])("a push of %d bytes begins with %s", (size, head) => {
    const data = new Uint8Array(size).fill(0xaa)
    assert.deepStrictEqual(pushData(data), concat(hex(head), data))
  })

  it("pushData never uses the number opcodes", () => {
    for (let byte = 0; byte < 256; byte++) assert.deepStrictEqual(pushData(Uint8Array.of(byte)), Uint8Array.of(1, byte))
  })

  it("a push is read again", () => {
    const parts = FastCheck.array(FastCheck.oneof(bytesOf(0, 90), bytesOf(250, 260)), { maxLength: 8 })
    FastCheck.assert(FastCheck.property(parts, (parts) => {
      const cursor = new ScriptCursor(concat(...parts.map(pushData)))
      for (const part of parts) {
        assert.isTrue(cursor.next())
        assert.deepStrictEqual(cursor.data.slice(), part)
      }
      assert.isFalse(cursor.next())
      assert.isFalse(cursor.failed)
    }))
  })
})

const HASH = "11".repeat(20)

describe("templates", () => {
  const pubkeyHash = hex(`76a914${HASH}88ac`)
  const scriptHash = hex(`a914${HASH}87`)

  it("the templates of P2PKH and P2SH are exact", () => {
    assert.isTrue(isPayToPubkeyHash(pubkeyHash))
    assert.isTrue(isPayToScriptHash(scriptHash))
    assert.isFalse(isPayToPubkeyHash(scriptHash))
    assert.isFalse(isPayToScriptHash(pubkeyHash))
    // A hash in another form of push is not P2SH.
    assert.isFalse(isPayToScriptHash(hex(`a94c14${HASH}87`)))
    for (const [script, is] of [[pubkeyHash, isPayToPubkeyHash], [scriptHash, isPayToScriptHash]] as const) {
      assert.isFalse(is(script.subarray(0, -1)))
      assert.isFalse(is(concat(script, Uint8Array.of(0x61))))
      for (let at = 0; at < script.length; at++) {
        if (script[at] === 0x11) continue
        const other = script.slice()
        other[at] = 0
        assert.isFalse(is(other), `byte ${at}`)
      }
    }
  })

  it.each([
    [`0014${HASH}`, 0],
    ["0002aabb", 0],
    ["5102aabb", 1],
    ["6002aabb", 16],
    [`5228${"11".repeat(40)}`, 2],
    // One byte too few, one too many.
    ["5101aa", -1],
    [`5229${"11".repeat(41)}`, -1],
    ["4f02aabb", -1],
    ["5002aabb", -1],
    ["6102aabb", -1],
    ["5103aabb", -1],
    ["5101aabb", -1],
    ["514c02aabb", -1],
    ["", -1]
  ])("the witness version of %s is %d", (script, version) => {
    assert.strictEqual(witnessVersion(hex(script)), version)
  })

  it("a script is unspendable if OP_RETURN is first, or if it is too long", () => {
    assert.isTrue(isUnspendable(hex("6a")))
    assert.isTrue(isUnspendable(hex("6a04aabb")))
    assert.isFalse(isUnspendable(hex("")))
    assert.isFalse(isUnspendable(hex("616a")))
    assert.isFalse(isUnspendable(new Uint8Array(MAX_SCRIPT_SIZE)))
    assert.isTrue(isUnspendable(new Uint8Array(MAX_SCRIPT_SIZE + 1)))
  })

  it.each([
    ["", true],
    ["00014f5060", true],
    ["50", true],
    ["4c01aa4d0100aa4e01000000aa", true],
    ["61", false],
    ["0061", false],
    ["02aa", false],
    ["4c", false]
  ])("%s is push-only: %s", (script, expected) => {
    assert.strictEqual(isPushOnly(hex(script)), expected)
  })
})

it("opcodes have their upstream numbers, and no number has two names", () => {
  assert.strictEqual(new Set(Object.values(Op)).size, Object.keys(Op).length)
  assert.strictEqual(Op.OP_NOP, 0x61)
  assert.strictEqual(Op.OP_CHECKSIG, 0xac)
  assert.strictEqual(Op.OP_CHECKSIGADD, 0xba)
})
