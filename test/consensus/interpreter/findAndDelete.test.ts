import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { findAndDelete } from "../../../src/consensus/interpreter/signatureOperations.ts"
import { type Bytes, concat, fromHex, toHex } from "../../../src/protocol/bytes.ts"
import { pushData } from "../../../src/protocol/script.ts"

const bytes = (hex: string): Bytes => fromHex(hex) ?? assert.fail(`no hex: ${hex}`)

describe("findAndDelete", () => {
  // Includes upstream's own cases from test/script_tests.cpp.
  it.each([
    { why: "one instruction of several", script: "515253", wanted: "52", rest: "5153" },
    { why: "each of many", script: "53535352530353", wanted: "53", rest: "520353" },
    { why: "a whole push", script: "0302ff030302ff03", wanted: "0302ff03", rest: "" },
    { why: "not a part of a push", script: "0302ff030302ff03", wanted: "02", rest: "0302ff030302ff03" },
    { why: "not the data of a push", script: "0302ff030302ff03", wanted: "ff", rest: "0302ff030302ff03" },
    {
      why: "the head of a push, and what then begins there",
      script: "0302ff030302ff03",
      wanted: "03",
      rest: "02ff0302ff03"
    },
    { why: "what begins right behind another", script: "02feed5169", wanted: "feed51", rest: "02feed5169" },
    { why: "a push with what follows", script: "02feed5169", wanted: "02feed51", rest: "69" },
    { why: "a truncated push", script: "516902feed5169", wanted: "feed51", rest: "516902feed5169" },
    { why: "nothing from an empty script", script: "", wanted: "51", rest: "" },
    { why: "nothing behind where reading fails", script: "51025152", wanted: "52", rest: "51025152" },
    { why: "what stands where reading fails", script: "510251", wanted: "0251", rest: "51" },
    { why: "more than one at the end", script: "5152525252", wanted: "5252", rest: "51" },
    { why: "an empty push", script: "00510051", wanted: "00", rest: "5151" }
  ])("findAndDelete removes $why", ({ rest, script, wanted }) => {
    assert.strictEqual(toHex(findAndDelete(bytes(script), bytes(wanted))), rest)
  })

  it("findAndDelete returns the same script if there is nothing to remove", () => {
    const script = bytes("515253")
    assert.strictEqual(findAndDelete(script, bytes("54")), script)
    assert.strictEqual(findAndDelete(script, bytes("5152535354")), script)
  })

  it.prop("findAndDelete removes pushes from a list of pushes", {
    elements: FastCheck.array(FastCheck.constantFrom("a", "bc", "bd", "x".repeat(80)), { maxLength: 12 }),
    wanted: FastCheck.constantFrom("a", "bc", "x".repeat(80))
  }, ({ elements, wanted }) => {
    const push = (text: string): Bytes => pushData(new TextEncoder().encode(text))
    const rest = elements.filter((element) => element !== wanted)
    const actual = findAndDelete(concat(...elements.map(push)), push(wanted))
    assert.strictEqual(toHex(actual), toHex(concat(...rest.map(push))))
  })
})
