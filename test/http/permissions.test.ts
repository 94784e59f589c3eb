import { assert, describe, it } from "@effect/vitest"
import type { PermissionSettings } from "../../src/config/accessKinds.ts"
import { maySeePages, permissions } from "../../src/http/permissions.ts"

const NONE: PermissionSettings = { whitelists: [], rights: [], byDefault: undefined }

const shown = (rules: Partial<PermissionSettings>, user: string): ReadonlyArray<string> | "all" => {
  const permitted = permissions({ ...NONE, ...rules })(user)
  return permitted === undefined ? "all" : [...permitted]
}

const LIST = [{ user: "alice", words: ["stop", "help"] }]

describe("permissions", () => {
  it("are unlimited without lists", () => assert.strictEqual(shown({}, "alice"), "all"))

  it.each<readonly [string, Partial<PermissionSettings>, string, ReadonlyArray<string> | "all"]>([
    ["a list is what a user may call", { whitelists: LIST }, "alice", ["stop", "help"]],
    ["other users may call nothing if there is a list", { whitelists: LIST }, "bob", []],
    ["and everything if the default is off", { whitelists: LIST, byDefault: false }, "bob", "all"],
    ["without lists the default decides", { byDefault: true }, "bob", []],
    ["a list without methods forbids all", { whitelists: [{ user: "alice", words: [] }] }, "alice", []],
    [
      "lists of one user are intersected",
      { whitelists: [...LIST, { user: "alice", words: ["help", "ping"] }] },
      "alice",
      ["help"]
    ],
    ["rights limit too", { rights: [{ user: "alice", words: ["read"] }] }, "bob", []],
    ["rights and lists are intersected", { whitelists: LIST, rights: [{ user: "alice", words: ["read"] }] }, "alice", [
      "help"
    ]]
  ])("%s", (_, rules, user, expected) => assert.deepStrictEqual(shown(rules, user), expected))

  it("of several rights have the methods of each", () => {
    const methods = new Set<string>(shown({ rights: [{ user: "alice", words: ["names", "spend"] }] }, "alice"))
    assert.isTrue(methods.has("name_update"))
    assert.isTrue(methods.has("sendtoaddress"))
    assert.isFalse(methods.has("stop"))
  })

  it("show the documents to users with the right to read", () => {
    assert.isTrue(maySeePages(undefined))
    assert.isTrue(maySeePages(permissions({ ...NONE, rights: [{ user: "a", words: ["read"] }] })("a")))
    assert.isFalse(maySeePages(permissions({ ...NONE, whitelists: LIST })("alice")))
    const both = permissions({ ...NONE, rights: [{ user: "a", words: ["read", "names"] }] })("a")
    assert.isTrue(maySeePages(both, ["name_expiring"]))
    const reader = permissions({ ...NONE, rights: [{ user: "a", words: ["read"] }] })("a")
    assert.isFalse(maySeePages(reader, ["name_expiring"]))
    const shown = ["getblockchaininfo", "getmempoolinfo", "getpeerinfo", "name_find", "name_show"]
    const may = (words: ReadonlyArray<string>) =>
      maySeePages(permissions({ ...NONE, whitelists: [{ user: "a", words }] })("a"))
    assert.isTrue(may(shown))
    for (const left of shown) assert.isFalse(may(shown.filter((word) => word !== left)), left)
  })
})
