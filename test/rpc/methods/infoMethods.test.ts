import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { versionNumber } from "../../../src/rpc/methods/infoMethods.ts"
import { version } from "../../../src/version.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"

layer(methodNode({ loading: true }))("getinfo", (it) => {
  it.effect("summarizes the node (reference/rpc.md 3.1)", () =>
    Effect.gen(function*() {
      const { call, status } = yield* MethodNode
      const text = (downloading: boolean) =>
        `{"version":${versionNumber(version)},"protocolversion":110016,"blocks":600,"timeoffset":0,"connections":0,` +
        `"proxy":"","difficulty":4.656542373906925e-10,"testnet":false,"paytxfee":0.00000000,"relayfee":0.00100000,` +
        `"errors":"","chain":"regtest","initialblockdownload":${downloading}}`
      assert.strictEqual((yield* call("getinfo")).text, text(true))
      assert.include((yield* call("getblockchaininfo")).value, { initialblockdownload: true })
      yield* status.loaded
      assert.strictEqual((yield* call("getinfo")).text, text(false))
      assert.include((yield* call("getblockchaininfo")).value, { initialblockdownload: false })
    }))

  it.effect("counts no peers before there is a network", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      assert.strictEqual((yield* call("getconnectioncount")).text, "0")
    }))
})

describe("the version as a number", () => {
  it.each([["0.1.0", 100], ["1.2.3", 10_203], ["31.1.0-rc.1", 310_100], ["", 0], ["x", 0]])("of %s", (text, number) => {
    assert.strictEqual(versionNumber(text), number)
  })
})
