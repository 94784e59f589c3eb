import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { bitDomainOf, encodeText } from "../../src/protocol/nameText.ts"
import { lint } from "../../src/values/lint.ts"
import { bitHostOf, type NameKind, nameOfDomain, namesMeant, readName } from "../../src/values/readName.ts"

describe("bitHostOf", () => {
  it.each([
    ["Example.BIT", "example.bit"],
    ["www.Zürich.bit.", "www.xn--zrich-kva.bit"],
    ["_443._tcp.a.bit", "_443._tcp.a.bit"],
    ["*.a--b.bit", "*.a--b.bit"],
    ["0.bit", "0.bit"]
  ])("reads %s as %s", (text, host) => {
    assert.strictEqual(bitHostOf(text), host)
  })

  it.each([
    "",
    "bit",
    "bit.",
    ".bit",
    "a..bit",
    "a.bit..",
    "d/a",
    "a.bit/",
    "http://a.bit",
    "a.bit:80",
    "a.com",
    "a b.bit"
  ])(
    "reads no host in %j",
    (text) => {
      assert.isUndefined(bitHostOf(text))
    }
  )
})

describe("nameOfDomain", () => {
  it.each([
    ["example.bit", "d/example"],
    ["EXAMPLE.Bit", "d/example"],
    ["example.bit.", "d/example"],
    ["www.example.bit", "d/example"],
    ["_443._tcp.mail.example.bit", "d/example"],
    ["a-b.bit", "d/a-b"],
    ["4chan.bit", "d/4chan"],
    ["bücher.bit", "d/xn--bcher-kva"],
    ["xn--bcher-kva.bit", "d/xn--bcher-kva"],
    [`${"x".repeat(63)}.bit`, `d/${"x".repeat(63)}`]
  ])("%s: %s", (domain, name) => {
    assert.strictEqual(nameOfDomain(domain), name)
    assert.strictEqual(bitDomainOf(Buffer.from(name)), `${name.slice(2)}.bit`)
  })

  it.each([
    "",
    "bit",
    ".bit",
    "a..bit",
    "www..example.bit",
    "example.com",
    "bit.example.com",
    "example.bit.com",
    "123.bit",
    "-a.bit",
    "a-.bit",
    "a--b.bit",
    "a_b.bit",
    "a b.bit",
    "d/example",
    "example.bit/path",
    "user@example.bit",
    "example.bit:80",
    "http://example.bit",
    "[::1]",
    "127.0.0.1",
    `${"x".repeat(64)}.bit`,
    `${"a.".repeat(126)}bit`,
    "\ud800.bit"
  ])("is undefined for %j", (domain) => {
    assert.isUndefined(nameOfDomain(domain))
  })
})

const textOf = (name: Uint8Array): string => Buffer.from(name).toString("utf8")

/** The name, and what surprises. */
const read = (text: string, kind?: NameKind): ReadonlyArray<string> => {
  const reading = readName(text, kind)
  return reading._tag === "Unread" ? ["unread"] : [reading.text, ...reading.surprises.map(({ code }) => code)]
}

describe("readName", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["d/example", ["d/example"]],
    ["id/alice", ["id/alice"]],
    ["dd/Any Thing", ["dd/Any Thing"]],
    ["example.bit", ["d/example"]],
    ["Example.BIT.", ["d/example"]],
    ["  example.bit\t", ["d/example"]],
    ["'d/example'", ["d/example"]],
    ["\"example.bit\"", ["d/example"]],
    ["d/example.bit", ["d/example"]],
    ["http://example.bit/", ["d/example"]],
    ["https://Example.bit:8443/path?x#y", ["d/example"]],
    ["www.example.bit", ["d/example", "below"]],
    ["https://a.b.example.bit/path", ["d/example", "below"]],
    ["d/www.example.bit", ["d/example", "below"]],
    ["*.example.bit", ["d/example", "below"]],
    ["zürich.bit", ["d/xn--zrich-kva"]],
    ["ZÜRICH.bit", ["d/xn--zrich-kva"]],
    ["d/zürich", ["d/xn--zrich-kva"]],
    ["0x10.bit", ["d/0x10"]],
    ["1a。bit", ["d/1a"]],
    ["d/Example", ["d/example", "upper-case"]],
    ["D/Example", ["d/example", "upper-case"]],
    ["D/example.bit", ["d/example", "upper-case"]],
    ["D/www.example.bit", ["d/example", "below", "upper-case"]],
    ["ID/Alice", ["id/alice", "upper-case"]],
    ["DD/x", ["dd/x", "upper-case"]],
    ["example", ["d/example", "assumed"]],
    ["zürich", ["d/xn--zrich-kva", "assumed"]],
    ["1337", ["1337", "namespace"]],
    ["two words", ["two words", "namespace"]],
    ["example.com", ["example.com", "namespace"]],
    ["nft/x", ["nft/x", "namespace"]],
    ["/x", ["/x", "namespace"]],
    ["1337.bit", ["d/1337", "form"]],
    ["１.bit", ["d/1", "form"]],
    ["a_b.bit", ["d/a_b", "form"]],
    ["d/a b", ["d/a b", "form"]],
    ["d/www.example", ["d/www.example", "form"]],
    ["id/With Space", ["id/With Space", "form"]],
    ["id/zoë", ["id/zoë", "form"]],
    ["0x642f61", ["d/a"]],
    ["0x642f41", ["d/A", "form"]],
    ["0xFF00", ["0xff00", "namespace"]],
    ["exa\u200bmple.bit", ["d/example", "invisible"]],
    ["d/exa\u00admple", ["d/example", "invisible"]],
    ["\u202eexample", ["\u202eexample", "namespace", "invisible"]],
    ["exam\nple", ["exam\nple", "namespace", "invisible"]],
    ["", ["unread"]],
    ["  ", ["unread"]],
    ["d/", ["unread"]],
    ["ID/ ", ["unread"]],
    [".bit", ["unread"]],
    ["a..bit", ["unread"]],
    ["exa mple.bit", ["exa mple.bit", "namespace"]],
    ["exa%6dple.bit", ["unread"]],
    ["user@example.bit", ["unread"]],
    ["\u202eexample.bit", ["unread"]],
    ["\ud800", ["unread"]],
    ["x".repeat(256), ["unread"]],
    [`${"x".repeat(5_000)}.bit`, ["unread"]]
  ])("reads %j as %j", (text, expected) => {
    assert.deepStrictEqual(read(text), expected)
  })

  it.each<[string, NameKind, ReadonlyArray<string>]>([
    ["Example", "domain", ["d/example"]],
    ["a_b", "domain", ["d/a_b", "form"]],
    ["example.bit", "identity", ["d/example"]],
    ["Alice", "identity", ["id/alice"]],
    ["d/Example", "identity", ["d/example", "upper-case"]],
    ["www.example.bit", "exact", ["www.example.bit", "namespace"]],
    ["d/Example", "exact", ["d/Example", "form"]],
    ["0x642f61", "exact", ["0x642f61", "namespace"]]
  ])("reads %j as %s: %j", (text, kind, expected) => {
    assert.deepStrictEqual(read(text, kind), expected)
  })

  it("says what the name is, and which host below it is meant", () => {
    const reading = readName("https://a.WWW.Example.bit/")
    assert(reading._tag === "Read")
    assert.strictEqual(reading.what, "the domain example.bit")
    assert.deepStrictEqual(reading.host, { host: "a.www.example.bit", domain: "example.bit", below: "a.www" })
    assert.deepStrictEqual(reading.surprises.map(({ sentence }) => sentence), [
      "a.www.example.bit is a subdomain of example.bit. The name d/example is for the whole domain."
    ])
  })

  it("escapes what a text hides", () => {
    for (const text of ["d/exa\u202emple", "exa\u200bmple.bit", "\u202e.bit", "nft/\u001b[2J"]) {
      const reading = readName(text)
      const sentences = reading._tag === "Read" ? reading.surprises.map(({ sentence }) => sentence) : [reading.why]
      assert.isAtLeast(sentences.length, 1)
      for (const sentence of sentences) assert.match(sentence, /^[ -~]*(?:\\u|0x)[ -~]*$/)
    }
  })

  const typed = FastCheck.oneof(
    FastCheck.string({ maxLength: 300, unit: "binary" }),
    FastCheck.tuple(
      FastCheck.constantFrom("", "d/", "D/", "id/", "http://", " ", "0x", "www."),
      FastCheck.string({ maxLength: 70, unit: FastCheck.constantFrom(..."aZ09-._/ü:@ \u200b\u202e。%") }),
      FastCheck.constantFrom("", ".bit", ".BIT.", ".com", "/", " ")
    ).map((parts) => parts.join(""))
  )

  it.prop("has no surprise exactly for a name that programs read", [typed], ([text]) => {
    const reading = readName(text)
    if (reading._tag === "Unread") return
    const findings = lint(reading.name, "{}").findings
    if (reading.surprises.length === 0) assert.deepStrictEqual(findings, [])
    if (findings.length > 0) assert.isAtLeast(reading.surprises.length, 1)
    // In another kind it is the same text.
    assert.strictEqual(
      encodeText(reading.name, "utf8") ?? `0x${Buffer.from(reading.name).toString("hex")}`,
      reading.text
    )
  })

  it.prop("reads what it has read as itself", [typed], ([text]) => {
    const reading = readName(text)
    if (reading._tag === "Unread" || !/^(?:d|id)\//.test(reading.text)) return
    const again = readName(reading.text)
    assert(again._tag === "Read")
    assert.strictEqual(again.text, reading.text)
  })

  it.prop("takes each domain in any case, with spaces around and a dot at its end", [
    FastCheck.stringMatching(/^[a-z][a-z0-9]{0,20}(?:-[a-z0-9]{1,20})?$/),
    FastCheck.constantFrom("", " ", "\n"),
    FastCheck.constantFrom("", ".", ":80", "/", "/x y")
  ], ([label, around, end]) => {
    for (const text of [label, label.toUpperCase()]) {
      assert.deepStrictEqual(read(`${around}${text}.bit${end}${around}`), [`d/${label}`])
      assert.deepStrictEqual(read(`${around}${text}${around}`), [`d/${label}`, "assumed"])
    }
    assert.deepStrictEqual(read(`d/${label}`), [`d/${label}`])
  })
})

describe("namesMeant", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["d/example", ["d/example"]],
    ["D/Example", ["d/example", "D/Example"]],
    ["example", ["d/example", "id/example", "example"]],
    ["Example ", ["d/example", "id/example", "Example", "Example "]],
    ["example.bit", ["d/example", "example.bit"]],
    ["https://www.example.bit:8443/path?x#y", ["d/example", "https://www.example.bit:8443/path?x#y"]],
    ["example.com", ["example.com", "d/example", "d/example.com", "id/example.com"]],
    ["0x642f61", ["d/a", "d/0x642f61", "id/0x642f61", "0x642f61"]],
    ["1337", ["1337", "d/1337", "id/1337"]],
    ["a..bit", ["a..bit"]],
    ["", []]
  ])("of %j are %j", (text, expected) => {
    assert.deepStrictEqual(namesMeant(text).map(textOf), expected)
  })

  it.prop("are a few, each once, and the text itself among them", [
    FastCheck.string({ minLength: 1, maxLength: 300 })
  ], ([text]) => {
    const found = namesMeant(text).map(textOf)
    if (Buffer.byteLength(text) <= 255) assert.include(found, text)
    assert.isAtMost(found.length, 6)
    assert.strictEqual(new Set(found).size, found.length)
  })
})
