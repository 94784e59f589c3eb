import { assert, describe, it } from "@effect/vitest"
import type { PermissionSettings, UserRight } from "../../src/config/accessKinds.ts"
import { notPermitted, pageNotPermitted, permissions } from "../../src/http/permissions.ts"
import type { Demand } from "../../src/rpc/method/methodTable.ts"

const NONE: PermissionSettings = { whitelists: [], rights: [], byDefault: undefined }

const RIGHT_OF: Readonly<Record<string, UserRight>> = {
  help: "read",
  ping: "read",
  name_expiring: "names",
  name_update: "names",
  sendtoaddress: "spend"
}

const METHODS = [...Object.keys(RIGHT_OF), "stop"]

/** What a call of a method needs, here with the right of the method alone. */
const demandOf = (method: string): Demand => ({ method, rights: [RIGHT_OF[method] ?? "admin"] })

const missing = (rules: Partial<PermissionSettings>, user: string, demands: ReadonlyArray<Demand>) =>
  notPermitted(permissions({ ...NONE, ...rules })(user), demands)

const mayCall = (rules: Partial<PermissionSettings>, user: string): ReadonlyArray<string> =>
  METHODS.filter((method) => missing(rules, user, [demandOf(method)]) === undefined)

const LIST = [{ user: "alice", words: ["stop", "help"] }]

const having = (...words: ReadonlyArray<UserRight>): Partial<PermissionSettings> => ({
  rights: [{ user: "alice", words }]
})

describe("permissions", () => {
  it.each<readonly [string, Partial<PermissionSettings>, string, ReadonlyArray<string>]>([
    ["without lists are unlimited", {}, "alice", METHODS],
    ["a list is what a user may call", { whitelists: LIST }, "alice", ["help", "stop"]],
    ["other users may call nothing if there is a list", { whitelists: LIST }, "bob", []],
    ["and everything if the default is off", { whitelists: LIST, byDefault: false }, "bob", METHODS],
    ["without lists the default decides", { byDefault: true }, "bob", []],
    ["a list without methods forbids all", { whitelists: [{ user: "alice", words: [] }] }, "alice", []],
    [
      "lists of one user are intersected",
      { whitelists: [...LIST, { user: "alice", words: ["help", "ping"] }] },
      "alice",
      ["help"]
    ],
    ["rights limit too", having("read"), "bob", []],
    ["rights and lists are intersected", { whitelists: LIST, ...having("read") }, "alice", ["help"]],
    ["several rights permit the methods of each", having("names", "spend"), "alice", [
      "name_expiring",
      "name_update",
      "sendtoaddress"
    ]],
    [
      "several lists of rights of one user are intersected",
      { rights: [{ user: "alice", words: ["read", "names"] }, { user: "alice", words: ["read", "admin"] }] },
      "alice",
      ["help", "ping"]
    ]
  ])("%s", (_, rules, user, expected) => assert.deepStrictEqual(mayCall(rules, user), expected))

  it("name what is missing, of a parameter too", () => {
    const paying: Demand = { method: "name_update", rights: ["names", "spend"] }
    assert.deepStrictEqual(missing(having("names"), "alice", [demandOf("name_update"), paying]), {
      method: "name_update",
      rights: ["spend"]
    })
    assert.isUndefined(missing(having("names", "spend"), "alice", [paying]))
    // As in the reference node, a list of methods permits the whole method.
    const listed = { whitelists: [{ user: "alice", words: ["name_update"] }] }
    assert.isUndefined(missing(listed, "alice", [paying]))
    assert.deepStrictEqual(missing({ ...listed, ...having("names") }, "alice", [paying])?.rights, ["spend"])
    assert.deepStrictEqual(missing(listed, "alice", [demandOf("stop")]), { method: "stop", rights: [] })
  })

  it("show the documents to users that may call what they show", () => {
    const reading: (method: string) => Demand = (method) => ({
      method,
      rights: [method === "name_expiring" ? "names" : "read"]
    })
    const may = (rules: Partial<PermissionSettings>, needed: ReadonlyArray<string> = []) =>
      pageNotPermitted(permissions({ ...NONE, ...rules })("alice"), needed, reading) === undefined
    assert.isTrue(may({}))
    assert.isTrue(may(having("read")))
    assert.isFalse(may(having("names")))
    assert.isFalse(may({ whitelists: LIST }))
    assert.isTrue(may(having("read", "names"), ["name_expiring"]))
    assert.isFalse(may(having("read"), ["name_expiring"]))
    const shown = ["getblockchaininfo", "getmempoolinfo", "getpeerinfo", "name_find", "name_show"]
    const listed = (words: ReadonlyArray<string>) => may({ whitelists: [{ user: "alice", words }] })
    assert.isTrue(listed(shown))
    for (const left of shown) assert.isFalse(listed(shown.filter((word) => word !== left)), left)
  })
})
