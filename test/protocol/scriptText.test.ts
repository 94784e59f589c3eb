import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { MAX_SCRIPT_SIZE, Op } from "../../src/protocol/script.ts"
import { opcodeName, scriptText } from "../../src/protocol/scriptText.ts"
import { bytesOf, hex } from "../support/bytes.ts"

const text = (script: string): string => scriptText(hex(script))

describe("names of opcodes", () => {
  it.each([
    [0x00, "0"],
    [0x4c, "OP_PUSHDATA1"],
    [0x4f, "-1"],
    [0x50, "OP_RESERVED"],
    [0x51, "OP_NAME_NEW"],
    [0x52, "OP_NAME_FIRSTUPDATE"],
    [0x53, "OP_NAME_UPDATE"],
    [0x54, "4"],
    [0x60, "16"],
    [0x61, "OP_NOP"],
    [0xb0, "OP_NOP1"],
    [0xb1, "OP_CHECKLOCKTIMEVERIFY"],
    [0xb2, "OP_CHECKSEQUENCEVERIFY"],
    [0xb9, "OP_NOP10"],
    [0xba, "OP_CHECKSIGADD"],
    [0xbb, "OP_UNKNOWN"],
    [0x01, "OP_UNKNOWN"],
    [0xfe, "OP_UNKNOWN"],
    [0xff, "OP_INVALIDOPCODE"]
  ])("%i is %s", (opcode, name) => assert.strictEqual(opcodeName(opcode), name))

  it("from OP_NOP on, the names are upstream's constants", () => {
    for (const [name, opcode] of Object.entries(Op)) {
      if (opcode >= Op.OP_NOP) assert.strictEqual(opcodeName(opcode), name)
    }
  })
})

describe("scripts as text", () => {
  it.each([
    ["", ""],
    ["00", "0"],
    ["61ac", "OP_NOP OP_CHECKSIG"],
    ["ee", "OP_UNKNOWN"],
    ["0101", "1"],
    ["0180", "0"],
    ["02eeee", "-28398"],
    ["04ffffff7f", "2147483647"],
    ["04ffffffff", "-2147483647"],
    ["050000000001", "0000000001"],
    ["4c0101", "1"],
    ["4c050000000001", "0000000001"],
    ["4d010061", "97"],
    ["4e0500000061626364ff", "61626364ff"],
    ["4c00", "0"]
  ])("%s is written as %s", (script, expected) => assert.strictEqual(text(script), expected))

  it.each([
    ["02ee", "[error]"],
    ["6a02ee", "OP_RETURN [error]"],
    ["4c", "[error]"],
    ["4d01", "[error]"],
    ["4e010000", "[error]"],
    ["0161 4effffffff", "97 [error]"]
  ])("%s cannot be parsed to its end", (script, expected) => assert.strictEqual(text(script), expected))

  it.each([
    ["5103642f62 6d75", "OP_NAME_NEW 642f62 OP_2DROP OP_DROP"],
    ["5203642f62 04aabbccdd 0131 6d6d", "OP_NAME_FIRSTUPDATE 642f62 -1573698474 49 OP_2DROP OP_2DROP"],
    ["5303642f62 0131 6d75", "OP_NAME_UPDATE 642f62 49 OP_2DROP OP_DROP"],
    ["5300 0131 6d75", "OP_NAME_UPDATE 0 49 OP_2DROP OP_DROP"],
    ["5353 0101", "OP_NAME_UPDATE OP_NAME_UPDATE 01"],
    ["5461 0101", "4 OP_NOP 1"],
    ["51024e73", "OP_NAME_NEW 4e73"],
    ["54024e73", "4 29518"]
  ])("%s: the first push after a name opcode is hex, the next ones are numbers", (script, expected) => {
    assert.strictEqual(text(script), expected)
  })

  it("any bytes have a text", () => {
    FastCheck.assert(FastCheck.property(bytesOf(0, 300), (script) => {
      const words = scriptText(script).split(" ")
      assert.isFalse(words.slice(0, -1).includes("[error]"))
      assert.strictEqual(words.includes(""), script.length === 0)
    }))
  })
})

describe("signatures", () => {
  const SIGNATURE = "3006020100020100"
  const isSignature = (data: Uint8Array): boolean => data[0] === 0x30
  const withSignatures = (script: string): string => scriptText(hex(script), isSignature)

  it.each([
    ["01", "[ALL]"],
    ["02", "[NONE]"],
    ["03", "[SINGLE]"],
    ["81", "[ALL|ANYONECANPAY]"],
    ["82", "[NONE|ANYONECANPAY]"],
    ["83", "[SINGLE|ANYONECANPAY]"]
  ])("hash type %s is %s", (hashType, word) => {
    assert.strictEqual(withSignatures(`09${SIGNATURE}${hashType}61`), `${SIGNATURE}${word} OP_NOP`)
  })

  it.each(["00", "04", "80", "84", "ff"])("hash type %s has no name", (hashType) => {
    assert.strictEqual(withSignatures(`09${SIGNATURE}${hashType}`), `${SIGNATURE}${hashType}`)
  })

  it("signatures are found only with the given test", () => {
    assert.strictEqual(text(`09${SIGNATURE}01`), `${SIGNATURE}01`)
    assert.strictEqual(withSignatures("05ff00000001"), "ff00000001")
  })

  it("short pushes are not tested for signatures", () => assert.strictEqual(withSignatures("0430010001"), "16777520"))

  it("unspendable scripts are not tested for signatures", () => {
    assert.strictEqual(withSignatures(`6a09${SIGNATURE}01`), `OP_RETURN ${SIGNATURE}01`)
    const filled = (size: number): string => `09${SIGNATURE}01${"61".repeat(size - 10)}`
    assert.include(withSignatures(filled(MAX_SCRIPT_SIZE)), "[ALL]")
    assert.notInclude(withSignatures(filled(MAX_SCRIPT_SIZE + 1)), "[ALL]")
  })
})
