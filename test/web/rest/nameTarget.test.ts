import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { isNamePath, readNameTarget } from "../../../src/web/rest/nameTarget.ts"

const read = (rest: string) => {
  const { encoded, format, name } = readNameTarget(`/rest/name/${rest}`)
  return [encoded, name === undefined ? undefined : Buffer.from(name).toString("latin1"), format]
}

describe("readNameTarget", () => {
  it("reads names and formats as the reference node does", () => {
    assert.deepStrictEqual(read("d/example.json"), ["d/example", "d/example", "json"])
    assert.deepStrictEqual(read("d/a.b.hex"), ["d/a.b", "d/a.b", "hex"])
    assert.deepStrictEqual(read("a+b%2B%00%ff.bin"), ["a+b%2B%00%ff", "a b+\0\xff", "bin"])
    assert.deepStrictEqual(read("d/example"), ["d/example", "d/example", undefined])
    assert.deepStrictEqual(read("d/example.xyz"), ["d/example.xyz", "d/example.xyz", undefined])
    assert.deepStrictEqual(read("d/example.JSON"), ["d/example.JSON", "d/example.JSON", undefined])
    assert.deepStrictEqual(read("d/example."), ["d/example", "d/example", undefined])
    assert.deepStrictEqual(read("d/example%2ejson"), ["d/example%2ejson", "d/example.json", undefined])
    assert.deepStrictEqual(read(".json"), ["", "", "json"])
    assert.deepStrictEqual(read(""), ["", "", undefined])
  })

  it("reads no name from half an escape", () => {
    for (const encoded of ["%", "%4", "%4g", "a%zz", "%%41"]) {
      assert.deepStrictEqual(read(`${encoded}.hex`), [encoded, undefined, "hex"])
    }
  })

  it.prop("reads any bytes back", [FastCheck.uint8Array({ maxLength: 255 })], ([bytes]) => {
    const encoded = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
    assert.deepStrictEqual([...readNameTarget(`/rest/name/${encoded}.bin`).name ?? []], [...bytes])
  })

  it("recognises its paths", () => {
    assert.isTrue(isNamePath("/rest/name/"))
    for (const path of ["/rest/name", "/rest/names/a", "/REST/name/a", "/"]) assert.isFalse(isNamePath(path))
  })
})
