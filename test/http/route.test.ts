import { assert, describe, it } from "@effect/vitest"
import { type Route, route } from "../../src/http/gate.ts"
import type { HealthQuestion } from "../../src/http/health.ts"

describe("route", () => {
  const rpc = (wallet: string | undefined): Route => ({ _tag: "Rpc", wallet })

  const health = (question: HealthQuestion): Route => ({ _tag: "Health", question })

  it.each<readonly [string, Route | undefined]>([
    ["/", rpc(undefined)],
    ["/rpc", rpc(undefined)],
    ["/rpc/", rpc(undefined)],
    ["/?x=1", rpc(undefined)],
    ["/rpc?x=1", rpc(undefined)],
    ["/rpc/?names", rpc(undefined)],
    ["/health", health("health")],
    ["/health/", health("health")],
    ["/health?x=1", health("health")],
    ["/health/?x=1", health("health")],
    ["/health?names", health("health")],
    ["/ready", health("ready")],
    ["/ready/", health("ready")],
    ["/ready?", health("ready")],
    ["/ready?x=1", health("ready")],
    ["/ready?names", health("names")],
    ["/ready?names=", health("names")],
    ["/ready?names=1", health("names")],
    ["/ready/?x=2&names=1", health("names")],
    ["/ready?names=0", health("ready")],
    ["/ready?surnames=1", health("ready")],
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
    ["//", undefined],
    ["/RPC", undefined],
    ["///", undefined],
    ["//?x=1", undefined],
    ["/rpc//", undefined],
    ["/health//", undefined],
    ["/health/x", undefined],
    ["?x=1", undefined],
    ["/metrics", undefined],
    ["", undefined],
    ["*", undefined],
    ["http://localhost/", undefined]
  ])("%s leads to %j (reference/rpc.md 1.2)", (target, expected) => {
    assert.deepStrictEqual(route(target), expected)
  })
})
