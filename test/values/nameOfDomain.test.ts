import { assert, describe, it } from "@effect/vitest"
import { bitDomainOf } from "../../src/protocol/nameText.ts"
import { nameOfDomain } from "../../src/values/nameOfDomain.ts"

describe("the name behind a domain", () => {
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
  ])("none behind %j", (domain) => {
    assert.isUndefined(nameOfDomain(domain))
  })
})
