import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { Flag, NO_FLAGS } from "../../../src/consensus/flags.ts"
import type { ScriptVersion } from "../../../src/consensus/interpreter/Machine.ts"
import { type Bytes, concat, toHex } from "../../../src/protocol/bytes.ts"
import { Op, pushData, ScriptCursor } from "../../../src/protocol/script.ts"
import { parseScript } from "../../support/scriptAssembly.ts"
import { run, runText } from "./running.ts"

const repeat = (count: number, part: Bytes): Bytes => concat(...Array.from({ length: count }, () => part))

describe("evaluate: elements", () => {
  it.each([
    { script: "1 2 TOALTSTACK 3 FROMALTSTACK", stack: "01 03 02" },
    { script: "1 2 2DROP", stack: "" },
    { script: "1 2 2DUP", stack: "01 02 01 02" },
    { script: "1 2 3 3DUP", stack: "01 02 03 01 02 03" },
    { script: "1 2 3 4 2OVER", stack: "01 02 03 04 01 02" },
    { script: "1 2 3 4 5 6 2ROT", stack: "03 04 05 06 01 02" },
    { script: "1 2 3 4 2SWAP", stack: "03 04 01 02" },
    { script: "0 IFDUP 1 IFDUP", stack: "- 01 01" },
    { script: "DEPTH DEPTH DEPTH", stack: "- 01 02" },
    { script: "1 DROP", stack: "" },
    { script: "1 2 DUP", stack: "01 02 02" },
    { script: "1 2 NIP", stack: "02" },
    { script: "1 2 OVER", stack: "01 02 01" },
    { script: "1 2 3 2 PICK", stack: "01 02 03 01" },
    { script: "1 2 3 0 PICK", stack: "01 02 03 03" },
    { script: "1 2 3 2 ROLL", stack: "02 03 01" },
    { script: "1 2 3 0 ROLL", stack: "01 02 03" },
    { script: "1 2 3 ROT", stack: "02 03 01" },
    { script: "1 2 SWAP", stack: "02 01" },
    { script: "1 2 TUCK", stack: "02 01 02" },
    { script: "'abc' SIZE", stack: "616263 03" },
    { script: "-1 0 16 NOP", stack: "81 - 10" }
  ])("$script leaves $stack", ({ script, stack }) => assert.strictEqual(runText(script), stack))

  it.each([
    "TOALTSTACK|2DROP|2DUP|3DUP|2OVER|2ROT|2SWAP|IFDUP|DROP|DUP|NIP|OVER|PICK|ROLL|ROT|SWAP|TUCK|SIZE|EQUAL|EQUALVERIFY",
    "1ADD|1SUB|NEGATE|ABS|NOT|0NOTEQUAL|ADD|SUB|BOOLAND|BOOLOR|NUMEQUAL|NUMEQUALVERIFY|NUMNOTEQUAL|LESSTHAN|GREATERTHAN",
    "LESSTHANOREQUAL|GREATERTHANOREQUAL|MIN|MAX|WITHIN|RIPEMD160|SHA1|SHA256|HASH160|HASH256|CHECKSIG|CHECKSIGVERIFY",
    "CHECKMULTISIG|CHECKMULTISIGVERIFY|IF|NOTIF|VERIFY"
  ])("a script fails if elements are missing: %s", (words) => {
    const needs = new Map([["2ROT", 6], ["2OVER", 4], ["2SWAP", 4], ["3DUP", 3], ["ROT", 3], ["WITHIN", 3]])
    const one = new Set(["IFDUP", "DROP", "DUP", "SIZE", "TOALTSTACK", "1ADD", "1SUB", "NEGATE", "ABS", "NOT"])
    const unary = new Set(["0NOTEQUAL", "RIPEMD160", "SHA1", "SHA256", "HASH160", "HASH256", "IF", "NOTIF", "VERIFY"])
    for (const word of words.split("|")) {
      const needed = needs.get(word) ?? (one.has(word) || unary.has(word) ? 1 : 2)
      // The keys and signatures of a multisig contain their numbers.
      const few = word.startsWith("CHECKMULTISIG") ? 1 : needed - 1
      assert.strictEqual(runText(`${"0 ".repeat(few)}${word}`), "INVALID_STACK_OPERATION", word)
      if (!word.startsWith("CHECKMULTISIG")) {
        assert.notStrictEqual(runText(`${"0 ".repeat(needed)}${word}`), "INVALID_STACK_OPERATION", word)
      }
    }
  })

  it("a script fails if the alternative stack is empty", () => {
    assert.strictEqual(runText("1 FROMALTSTACK"), "INVALID_ALTSTACK_OPERATION")
  })

  it.each(["1 1 PICK", "1 -1 PICK", "1 1 ROLL", "1 -1 ROLL"])(
    "a script fails if the depth is beyond the stack: %s",
    (script) => {
      assert.strictEqual(runText(script), "INVALID_STACK_OPERATION")
    }
  )
})

describe("evaluate: numbers", () => {
  it.each([
    { script: "5 1ADD 5 1SUB", stack: "06 04" },
    { script: "5 NEGATE 0 NEGATE -5 ABS", stack: "85 - 05" },
    { script: "0 NOT 1 NOT 2 NOT", stack: "01 - -" },
    { script: "0 0NOTEQUAL 7 0NOTEQUAL", stack: "- 01" },
    { script: "5 7 ADD 5 7 SUB", stack: "0c 82" },
    { script: "2147483647 DUP ADD", stack: "feffffff00" },
    { script: "-2147483647 DUP ADD", stack: "feffffff80" },
    { script: "1 2 BOOLAND 0 2 BOOLAND 1 0 BOOLAND", stack: "01 - -" },
    { script: "0 0 BOOLOR 0 2 BOOLOR 1 0 BOOLOR", stack: "- 01 01" },
    { script: "2 2 NUMEQUAL 2 3 NUMEQUAL 2 3 NUMNOTEQUAL 3 3 NUMNOTEQUAL", stack: "01 - 01 -" },
    { script: "0x01 0x80 0 NUMEQUAL", stack: "01" },
    { script: "1 2 LESSTHAN 2 2 LESSTHAN 2 1 GREATERTHAN 2 2 GREATERTHAN", stack: "01 - 01 -" },
    {
      script: "2 2 LESSTHANOREQUAL 3 2 LESSTHANOREQUAL 2 2 GREATERTHANOREQUAL 1 2 GREATERTHANOREQUAL",
      stack: "01 - 01 -"
    },
    { script: "-1 4 MIN 4 -1 MAX", stack: "81 04" },
    { script: "1 1 3 WITHIN 3 1 3 WITHIN 0 1 3 WITHIN 2 1 3 WITHIN", stack: "01 - - 01" },
    { script: "2 2 NUMEQUALVERIFY 1", stack: "01" },
    { script: "2 3 NUMEQUALVERIFY 1", stack: "NUMEQUALVERIFY" },
    { script: "'a' 'a' EQUALVERIFY 1", stack: "01" },
    { script: "'a' 'b' EQUALVERIFY 1", stack: "EQUALVERIFY" },
    { script: "'a' 'a' EQUAL 'a' 'aa' EQUAL 0 0x01 0x00 EQUAL", stack: "01 - -" },
    { script: "2147483647 1ADD 1ADD", stack: "SCRIPTNUM" },
    { script: "0x05 0x0000000000 NOT", stack: "SCRIPTNUM" },
    { script: "1 0x05 0x0000000000 PICK", stack: "SCRIPTNUM" },
    { script: "0x05 0x0000000000 1 1 WITHIN", stack: "SCRIPTNUM" }
  ])("$script gives $stack", ({ script, stack }) => assert.strictEqual(runText(script), stack))

  it("numbers must be in their shortest form only under MINIMALDATA", () => {
    assert.strictEqual(runText("0x02 0x0100 1ADD"), "02")
    assert.strictEqual(runText("0x02 0x0100 1ADD", { flags: Flag.MINIMALDATA }), "SCRIPTNUM")
    assert.strictEqual(runText("0x02 0xff00 1ADD", { flags: Flag.MINIMALDATA }), "0001")
  })
})

describe("evaluate: pushes", () => {
  it.each([
    { why: "an empty element by its opcode", script: "00", minimal: true },
    { why: "an empty element by length", script: "4c00", minimal: false },
    { why: "1 as data", script: "0101", minimal: false },
    { why: "16 as data", script: "0110", minimal: false },
    { why: "17 as data", script: "0111", minimal: true },
    { why: "0 as data", script: "0100", minimal: true },
    { why: "-1 as data", script: "0181", minimal: false },
    { why: "75 bytes with a length byte of their own", script: `4c4b${"11".repeat(75)}`, minimal: false },
    { why: "76 bytes with a length byte", script: `4c4c${"11".repeat(76)}`, minimal: true },
    { why: "255 bytes with two", script: `4dff00${"11".repeat(255)}`, minimal: false },
    { why: "256 bytes with two", script: `4d0001${"11".repeat(256)}`, minimal: true },
    { why: "256 bytes with four", script: `4e00010000${"11".repeat(256)}`, minimal: false }
  ])("MINIMALDATA accepts $why: $minimal", ({ minimal, script }) => {
    const bytes = parseScript(`0x${script}`)
    assert.strictEqual(run(bytes, { flags: Flag.MINIMALDATA }) !== "MINIMALDATA", minimal)
    assert.notStrictEqual(run(bytes), "MINIMALDATA")
    const skipped = concat(parseScript("0 IF"), bytes, parseScript("ENDIF"))
    assert.strictEqual(run(skipped, { flags: Flag.MINIMALDATA }), "")
  })

  it("a push has at most 520 bytes, in skipped branches too", () => {
    assert.strictEqual(run(concat(pushData(new Uint8Array(520)), parseScript("DROP"))), "")
    assert.strictEqual(run(pushData(new Uint8Array(521))), "PUSH_SIZE")
    assert.strictEqual(run(concat(parseScript("0 IF"), pushData(new Uint8Array(521)))), "PUSH_SIZE")
  })

  it("a truncated push fails", () => {
    for (const script of ["0x02 0x01", "0x4c", "0x4c 0x01", "0x4d 0x01", "0x4e 0x010000", "0x4e 0xffffffff"]) {
      assert.strictEqual(runText(script), "BAD_OPCODE", script)
    }
  })
})

describe("evaluate: limits", () => {
  const versions: ReadonlyArray<ScriptVersion> = ["base", "witness-v0"]

  it.each(versions)("a script has at most 10,000 bytes: %s", (version) => {
    // 520 bytes per push, so that the count of instructions stays below its own limit.
    const part = concat(pushData(new Uint8Array(496)), Uint8Array.of(Op.OP_DROP))
    const full = repeat(20, part)
    assert.strictEqual(full.length, 10_000)
    assert.strictEqual(run(full, { version }), "")
    assert.strictEqual(run(concat(full, Uint8Array.of(Op.OP_0)), { version }), "SCRIPT_SIZE")
  })

  it.each(versions)("a script has at most 201 instructions, skipped ones included: %s", (version) => {
    const nops = (count: number): Bytes => repeat(count, Uint8Array.of(Op.OP_NOP))
    assert.strictEqual(run(nops(201), { version }), "")
    assert.strictEqual(run(nops(202), { version }), "OP_COUNT")
    const skipped = (count: number): Bytes => concat(parseScript("0 IF"), nops(count), parseScript("ENDIF"))
    assert.strictEqual(run(skipped(199), { version }), "")
    assert.strictEqual(run(skipped(200), { version }), "OP_COUNT")
  })

  it("pushes are not counted", () => {
    assert.strictEqual(run(concat(repeat(201, parseScript("1 DROP")), parseScript("1"))), "01")
    assert.strictEqual(
      run(concat(parseScript("0 IF"), repeat(199, parseScript("RESERVED NOP")), parseScript("ENDIF"))),
      ""
    )
  })

  it("the keys of a multisig are counted", () => {
    const multisig = parseScript("0 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 20 CHECKMULTISIG DROP")
    const eight = repeat(8, multisig)
    const nops = (count: number): Bytes => concat(eight, repeat(count, Uint8Array.of(Op.OP_NOP)))
    assert.strictEqual(run(nops(201 - 8 * 22)), "")
    assert.strictEqual(run(nops(202 - 8 * 22)), "OP_COUNT")
    assert.strictEqual(run(concat(nops(26), multisig)), "OP_COUNT")
  })

  it("both stacks have at most 1,000 elements together", () => {
    const ones = (count: number): Bytes => repeat(count, Uint8Array.of(Op.OP_1))
    assert.strictEqual(run(ones(1000)).split(" ").length, 1000)
    assert.strictEqual(run(ones(1001)), "STACK_SIZE")
    const half = repeat(100, parseScript("1 TOALTSTACK"))
    assert.strictEqual(run(concat(half, ones(900))).split(" ").length, 900)
    assert.strictEqual(run(concat(half, ones(901))), "STACK_SIZE")
  })

  it("tapscript has no limit of size or count, but the same limit of the stack", () => {
    const nops = repeat(10_001, Uint8Array.of(Op.OP_NOP))
    assert.strictEqual(run(nops, { version: "tapscript" }), "")
    assert.strictEqual(run(repeat(1001, Uint8Array.of(Op.OP_1)), { version: "tapscript" }), "STACK_SIZE")
    assert.strictEqual(run(pushData(new Uint8Array(521)), { version: "tapscript" }), "PUSH_SIZE")
  })
})

describe("evaluate: conditions", () => {
  it.each([
    { script: "1 IF 2 ELSE 3 ENDIF", stack: "02" },
    { script: "0 IF 2 ELSE 3 ENDIF", stack: "03" },
    { script: "1 NOTIF 2 ELSE 3 ENDIF", stack: "03" },
    { script: "0 NOTIF 2 ELSE 3 ENDIF", stack: "02" },
    { script: "0 IF 1 IF 2 ELSE 3 ENDIF ELSE 4 ENDIF", stack: "04" },
    { script: "1 IF 0 IF 2 ELSE 3 ENDIF ELSE 4 ENDIF", stack: "03" },
    { script: "1 IF 2 ELSE 3 ELSE 4 ENDIF", stack: "02 04" },
    { script: "0 IF IF RETURN ENDIF ENDIF 1", stack: "01" },
    { script: "0 IF RETURN VER RESERVED CHECKSIGADD ENDIF 1", stack: "01" },
    { script: "0 IF VERIF ENDIF 1", stack: "BAD_OPCODE" },
    { script: "0 IF VERNOTIF ENDIF 1", stack: "BAD_OPCODE" },
    { script: "1 IF", stack: "UNBALANCED_CONDITIONAL" },
    { script: "1 ENDIF", stack: "UNBALANCED_CONDITIONAL" },
    { script: "1 ELSE", stack: "UNBALANCED_CONDITIONAL" },
    { script: "1 IF ENDIF ENDIF", stack: "UNBALANCED_CONDITIONAL" },
    { script: "1 VERIFY 2", stack: "02" },
    { script: "0 VERIFY 2", stack: "VERIFY" },
    { script: "RETURN", stack: "OP_RETURN" }
  ])("$script gives $stack", ({ script, stack }) => assert.strictEqual(runText(script), stack))

  it.each(
    [
      { version: "base", flags: Flag.MINIMALIF, error: "02" },
      { version: "witness-v0", flags: NO_FLAGS, error: "02" },
      { version: "witness-v0", flags: Flag.MINIMALIF, error: "MINIMALIF" },
      { version: "tapscript", flags: NO_FLAGS, error: "TAPSCRIPT_MINIMALIF" }
    ] as const
  )("a condition other than 0 and 1 gives $error: $version with $flags", ({ error, flags, version }) => {
    for (const condition of ["2", "0x02 0x0100", "0x01 0x80 NOP"]) {
      const script = condition.startsWith("0x01") ? `${condition} NOTIF 2 ENDIF` : `${condition} IF 2 ENDIF`
      assert.strictEqual(runText(script, { flags, version }), error, script)
    }
    assert.strictEqual(runText("1 IF 2 ENDIF 0 NOTIF 3 ENDIF", { flags, version }), "02 03")
  })

  it("a branch of any depth is skipped at the same speed", () => {
    const deep = concat(repeat(5000, parseScript("0 IF")), repeat(5000, Uint8Array.of(Op.OP_ENDIF)))
    assert.strictEqual(run(deep, { version: "tapscript" }), "")
  })
})

describe("evaluate: invalid opcodes", () => {
  const disabled = "CAT SUBSTR LEFT RIGHT INVERT AND OR XOR 2MUL 2DIV MUL DIV MOD LSHIFT RSHIFT".split(" ")

  it.each(disabled)("%s fails at any position", (word) => {
    assert.strictEqual(runText(`1 1 ${word}`), "DISABLED_OPCODE")
    assert.strictEqual(runText(`0 IF ${word} ENDIF 1`), "DISABLED_OPCODE")
  })

  it("other invalid opcodes fail if they run", () => {
    const unknown = Array.from({ length: 256 - Op.OP_CHECKSIGADD }, (_, i) => Op.OP_CHECKSIGADD + i)
    for (const opcode of [Op.OP_RESERVED, Op.OP_VER, Op.OP_RESERVED1, Op.OP_RESERVED2, ...unknown]) {
      const bytes = Uint8Array.of(opcode)
      assert.strictEqual(run(bytes), "BAD_OPCODE", `${opcode}`)
      assert.strictEqual(run(concat(parseScript("0 IF"), bytes, parseScript("ENDIF"))), "", `${opcode}`)
    }
  })

  it("the reserved NOPs have no effect, unless they are discouraged", () => {
    for (const word of ["NOP1", "NOP4", "NOP5", "NOP6", "NOP7", "NOP8", "NOP9", "NOP10"]) {
      const flags = Flag.DISCOURAGE_UPGRADABLE_NOPS
      assert.strictEqual(runText(word), "")
      assert.strictEqual(runText(word, { flags }), "DISCOURAGE_UPGRADABLE_NOPS")
      assert.strictEqual(runText(`0 IF ${word} ENDIF`, { flags }), "")
    }
    assert.strictEqual(runText("NOP", { flags: Flag.DISCOURAGE_UPGRADABLE_NOPS }), "")
  })

  it("a code separator outside witnesses fails under CONST_SCRIPTCODE, even if skipped", () => {
    const flags = Flag.CONST_SCRIPTCODE
    assert.strictEqual(runText("CODESEPARATOR"), "")
    assert.strictEqual(runText("0 IF CODESEPARATOR ENDIF", { flags }), "OP_CODESEPARATOR")
    assert.strictEqual(runText("CODESEPARATOR", { flags, version: "witness-v0" }), "")
  })
})

describe("evaluate: hashes", () => {
  it.each([
    { script: "'' RIPEMD160", stack: "9c1185a5c5e9fc54612808977ee8f548b2258d31" },
    { script: "'' SHA1", stack: "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
    { script: "'' SHA256", stack: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { script: "'' HASH160", stack: "b472a266d0bd89c13706a4132ccfb16f7c3b9fcb" },
    { script: "'' HASH256", stack: "5df6e0e2761359d30a8275058e299fcc0381534545f55cf43e41983f5d4c9456" }
  ])("$script gives $stack", ({ script, stack }) => assert.strictEqual(runText(script), stack))
})

describe("evaluate: any script", () => {
  const flags = FastCheck.nat({ max: (1 << 23) - 1 })
  const scripts = FastCheck.uint8Array({ maxLength: 200 })

  it.prop("any script ends with a result, within the limit, and its bytes do not change", {
    script: scripts,
    flags,
    version: FastCheck.constantFrom<ScriptVersion>("base", "witness-v0", "tapscript"),
    stack: FastCheck.array(FastCheck.uint8Array({ maxLength: 20 }), { maxLength: 8 })
  }, ({ flags, script, stack, version }) => {
    const before = toHex(script)
    const elements = stack.map(toHex)
    run(script, { flags, stack, version })
    assert.strictEqual(toHex(script), before)
    assert.deepStrictEqual(stack.map(toHex), elements)
  }, { fastCheck: { numRuns: 2000 } })

  it.prop(
    "a script whose last push is truncated fails with BAD_OPCODE, or with an earlier error",
    { script: scripts },
    ({ script }) => {
      const cursor = new ScriptCursor(script)
      while (cursor.next());
      if (cursor.failed) assert.match(run(script), /^[A-Z_]+$/)
    }
  )
})
