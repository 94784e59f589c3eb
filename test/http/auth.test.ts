import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { hashedUser, parseHashedUser } from "../../src/config/hashedUser.ts"
import { admission, isOpen } from "../../src/http/auth.ts"

const base64 = (text: string): string => Buffer.from(text).toString("base64")

describe("admission", () => {
  const admit = admission({
    credentials: { user: "alice", password: Redacted.make("pa:ss wörd") },
    hashed: []
  })
  const right = base64("alice:pa:ss wörd")

  it.each<readonly [string, string, string]>([
    ["the right pair", `Basic ${right}`, "admitted"],
    ["spaces before the credentials", `Basic    ${right}`, "admitted"],
    ["spaces behind them", `Basic ${right}  `, "admitted"],
    ["an empty header", "", "wrong"],
    ["the scheme alone", "Basic", "wrong"],
    ["the scheme and a space", "Basic ", "wrong"],
    ["another case of the scheme", `basic ${right}`, "wrong"],
    ["another scheme", `Bearer ${right}`, "wrong"],
    ["what is not base64", "Basic ???", "wrong"],
    ["base64 without its padding", `Basic ${right.replaceAll("=", "")}`, "wrong"],
    ["the right pair with something in between", `Basic ${right.slice(0, 4)}!${right.slice(4)}`, "wrong"],
    ["no colon", `Basic ${base64("alice")}`, "wrong"],
    ["a wrong user", `Basic ${base64("bob:pa:ss wörd")}`, "wrong"],
    ["a wrong password", `Basic ${base64("alice:pa:ss word")}`, "wrong"],
    ["a part of the password", `Basic ${base64("alice:pa:ss wör")}`, "wrong"],
    ["more than the password", `Basic ${base64("alice:pa:ss wördy")}`, "wrong"],
    ["an empty password", `Basic ${base64("alice:")}`, "wrong"],
    ["nothing", `Basic ${base64(":")}`, "wrong"]
  ])("%s: %j is %s", (_, header, expected) => {
    assert.strictEqual(admit(header) === "alice" ? "admitted" : "wrong", expected)
  })

  it("knows the users of rpcauth lines that the reference's script made", () => {
    const lines = [
      // rpc_users.py, and the script share/rpcauth of the reference node.
      "rt:93648e835a54c573682c2eb19f882535$7681e9c5b74bdd85e78166031d2058e1069b3ed7ed967c93fc63abba06f31144",
      "user1:6dd184e5e69271fdd69103464630014f$eb3d7ce67c4d1ff3564270519b03b636c0291012692a5fa3dd1d2075daedd07b"
    ]
    const hashed = lines.flatMap((line) => parseHashedUser(line) ?? []).map((user) => Redacted.make(user))
    const several = admission({ credentials: { user: "alice", password: Redacted.make("x") }, hashed })
    const given = (pair: string): string | undefined => several(`Basic ${base64(pair)}`)
    assert.strictEqual(given("rt:cA773lm788buwYe4g4WT+05pKyNruVKjQ25x3n0DQcM="), "rt")
    assert.strictEqual(given("user1:bitcoin"), "user1")
    assert.strictEqual(given("alice:x"), "alice")
    assert.isUndefined(given("rt:bitcoin"))
    assert.isUndefined(given("alice:bitcoin"))
    assert.isUndefined(given("user1:bitcoin "))
  })

  it("admits the two passwords of one user", () => {
    const hashed = ["one", "two"].map((password) =>
      Redacted.make(hashedUser({ user: "bob", password: Redacted.make(password) }))
    )
    const both = admission({ credentials: undefined, hashed })
    assert.strictEqual(both(`Basic ${base64("bob:one")}`), "bob")
    assert.strictEqual(both(`Basic ${base64("bob:two")}`), "bob")
    assert.isUndefined(both(`Basic ${base64("bob:three")}`))
  })

  it("asks for no credentials if there is no user", () => {
    assert.isTrue(isOpen({ credentials: undefined, hashed: [] }))
    const hashed = [Redacted.make(hashedUser({ user: "bob", password: Redacted.make("one") }))]
    assert.isFalse(isOpen({ credentials: undefined, hashed }))
  })
})
