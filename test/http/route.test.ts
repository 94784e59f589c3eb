import { assert, describe, it } from "@effect/vitest"
import { type Route, route } from "../../src/http/gate.ts"

describe("route", () => {
  const rpc = (wallet: string | undefined): Route => ({ _tag: "Rpc", wallet })

  it.each<readonly [string, Route | undefined]>([
    ["/", rpc(undefined)],
    ["/rpc", rpc(undefined)],
    ["/health", { _tag: "Health", path: "/health" }],
    ["/ready", { _tag: "Health", path: "/ready" }],
    ["/wallet/", rpc("")],
    ["/wallet/w1", rpc("w1")],
    ["/wallet/w1/", rpc("w1/")],
    ["/wallet/a%20b%2Fc", rpc("a b/c")],
    ["/wallet/%C3%A4", rpc("ä")],
    ["/wallet/%c3%a4?x=1", rpc("ä?x=1")],
    ["/wallet/\u00c3\u00a4", rpc("ä")],
    ["/wallet/100%", rpc("100%")],
    ["/wallet/%zz", rpc("%zz")],
    ["/wallet/a+b", rpc("a+b")],
    ["/wallet", undefined],
    ["/?a=1", undefined],
    ["//", undefined],
    ["/rpc/", undefined],
    ["/RPC", undefined],
    ["/health/", undefined],
    ["/metrics", undefined],
    ["", undefined],
    ["*", undefined],
    ["http://localhost/", undefined]
  ])("%s leads to %j (reference/rpc.md 1.2)", (target, expected) => {
    assert.deepStrictEqual(route(target), expected)
  })
})
