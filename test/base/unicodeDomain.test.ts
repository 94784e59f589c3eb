import { assert, describe, it } from "@effect/vitest"
import { domainToASCII } from "node:url"
import { decodedLabel, unicodeDomain } from "../../src/base/unicodeDomain.ts"

const nameOf = (label: string): string => `d/${domainToASCII(`${label}.bit`).slice(0, -".bit".length)}`

describe("unicodeDomain", () => {
  it("shows words of one script", () => {
    for (
      const label of [
        "zürich",
        "españa",
        "việt-nam",
        "пример",
        "ελλάδα",
        "例え",
        "한국",
        "日本-1",
        "उदाहरण",
        "ตัวอย่าง",
        "საქართველო",
        "தமிழ்"
      ]
    ) {
      assert.strictEqual(unicodeDomain(nameOf(label)), `${label}.bit`, label)
    }
  })

  it("shows nothing that may be taken for another domain, or turns the line", () => {
    // "apple" and "paypal" in Cyrillic, mixed scripts, a dotless i, Hebrew, a letter that looks like a slash.
    // And words of letters that look like ASCII, of Thai, Georgian and Cyrillic, digits of other scripts, a part of a Korean letter, a dash.
    for (const label of ["พลป", "იოყ", "ореп", "гуп", "๐๐", "౦", "०", "ᅵ", "1ー2"]) {
      assert.match(nameOf(label), /^d\/xn--/, label)
      assert.isUndefined(unicodeDomain(nameOf(label)), label)
    }
    for (const label of ["аррӏе", "раураӏ", "gооgle", "paypаl", "wıkı", "שלום", "a⁄b", "ο", "日本a", "αρ"]) {
      const name = nameOf(label)
      assert.isUndefined(unicodeDomain(name), label)
    }
  })

  it("decodes only what DNS would encode so", () => {
    assert.strictEqual(decodedLabel("xn--zrich-kva"), "zürich")
    for (const label of ["zurich", "xn--", "xn--zrich-kva-", "xn--a", "xn--zrich-kvaaaaaaa999", "XN--zrich-kva"]) {
      assert.isUndefined(decodedLabel(label), label)
    }
    for (const name of ["id/xn--zrich-kva", "xn--zrich-kva", "d/zurich", "d/"]) {
      assert.isUndefined(unicodeDomain(name), name)
    }
  })
})
