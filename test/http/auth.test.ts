import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { admission } from "../../src/http/auth.ts"

const base64 = (text: string): string => Buffer.from(text).toString("base64")

describe("admission", () => {
  const admit = admission({ user: "alice", password: Redacted.make("pa:ss wörd") })
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
    assert.strictEqual(admit(header) ? "admitted" : "wrong", expected)
  })

  it("admits every caller if no credentials are configured", () => {
    const open = admission(undefined)
    assert.isTrue(open(""))
    assert.isTrue(open("Basic ???"))
  })
})
