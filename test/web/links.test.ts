import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { nameLink } from "../../src/web/links.ts"
import { type Wanted, wanted } from "../../src/web/routes.ts"

const asked = (query: string): Wanted => wanted({ path: "/", query: new URLSearchParams(query) })

const names = FastCheck.oneof(
  FastCheck.uint8Array({ maxLength: 255 }),
  FastCheck.fullUnicodeString({ maxLength: 60 }).map((text) => new TextEncoder().encode(text)),
  FastCheck.constantFrom("", "d/a b+c&d=e#f%20", "\ufeffd/x", "\u0000", "0xff", "..", "d/\r\nLocation: x").map((
    text
  ) => new TextEncoder().encode(text))
)

describe("nameLink", () => {
  it.prop("leads back to the name, whatever its bytes", {
    name: names,
    page: FastCheck.integer({ min: 1, max: 1_000 }),
    full: FastCheck.boolean()
  }, ({ full, name, page }) => {
    const link = nameLink(name, { full, page })
    assert.match(link, /^\?[A-Za-z0-9=&%_.!~*'()-]*$/)
    assert.deepEqual(asked(link.slice(1)), { _tag: "Name", name: Uint8Array.from(name), page, full })
    assert.strictEqual(new URL(link, "http://node/").href, `http://node/${link.replaceAll("'", "%27")}`)
  })
})

describe("wanted", () => {
  it.each(["", "q=", "q=%20", "other=1"])("reads %j as the overview", (query) => {
    assert.deepStrictEqual(asked(query), { _tag: "Overview" })
  })

  it("keeps the typed text", () => {
    assert.deepStrictEqual(asked("q=+d%2Fa+"), { _tag: "Search", text: " d/a ", expired: false })
    assert.deepStrictEqual(asked("q=x&expired=1"), { _tag: "Search", text: "x", expired: true })
  })

  it.each([
    "hex=f",
    "hex=xy",
    "name=a&page=0",
    "name=a&page=1001",
    "name=a&page=01",
    "name=a&page=-1",
    "name=a&page=x"
  ])(
    "says what is wrong with %j",
    (query) => {
      assert.strictEqual(asked(query)._tag, "Wrong")
    }
  )

  it("accepts the maximum page", () => {
    assert.deepInclude(asked("name=a&page=1000"), { _tag: "Name", page: 1_000 })
  })
})
