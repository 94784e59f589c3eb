import { assert, describe, it } from "@effect/vitest"
import { toHex } from "../../../src/protocol/bytes.ts"
import { ShownSalts } from "./sagasHold.ts"

const entry = (salt: number) => ({ name: new TextEncoder().encode("d/name"), rand: new Uint8Array(20).fill(salt) })
const [first, second] = [entry(1), entry(2)]
const fileWith = (...entries: ReadonlyArray<typeof first>): string => entries.map(({ rand }) => toHex(rand)).join()

describe("the salts that a wallet shows", () => {
  it("are stored before they are shown", () => {
    assert.match(new ShownSalts().fault([first], { text: "", isChange: true }) ?? "", /name is not in the file/)
  })

  it("may be replaced in the file before the wallet shows it", () => {
    const salts = new ShownSalts()
    assert.isUndefined(salts.fault([first], { text: fileWith(first), isChange: true }))
    assert.isUndefined(salts.fault([first], { text: fileWith(second), isChange: false }))
    assert.isUndefined(salts.fault([first], { text: fileWith(second), isChange: false }))
    assert.isUndefined(salts.fault([second], { text: fileWith(second), isChange: true }))
  })

  it("are not lost from the file while the wallet keeps them", () => {
    const salts = new ShownSalts()
    assert.isUndefined(salts.fault([first], { text: fileWith(first), isChange: true }))
    assert.isUndefined(salts.fault([first], { text: "", isChange: false }))
    assert.match(
      salts.fault([first, second], { text: fileWith(second), isChange: true }) ?? "",
      /name is not in the file/
    )
  })
})
