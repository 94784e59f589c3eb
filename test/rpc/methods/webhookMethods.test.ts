import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { webhookMethods } from "../../../src/rpc/methods/webhookMethods.ts"
import { Webhooks } from "../../../src/webhooks/Webhooks.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { type Calls, callsOf } from "../../support/methodNode.ts"
import { openReceiver } from "../../webhooks/receiver.ts"
import { SECRET, withWorld } from "../../webhooks/world.ts"

const withMethods = <A, E, R>(allowPrivate: boolean, use: (calls: Calls) => Effect.Effect<A, E, R>) =>
  withWorld((world) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const { hooks } = yield* world.open({ directory, choice: { allowPrivate } })
      yield* hooks.start
      const methods = yield* Effect.provideService(webhookMethods, Webhooks, hooks)
      return yield* use(callsOf(methodTable(methods)))
    })
  )

describe("the methods of webhooks", () => {
  it.scoped("add, list, test, resume and remove one, and show its secret once", () =>
    withMethods(true, ({ call, refusal }) =>
      Effect.gen(function*() {
        const receiver = yield* openReceiver()
        const added = yield* call("addwebhook", receiver.url, {
          prefix: "d/",
          types: "expired, updated",
          secret: SECRET
        })
        const { id, secret } = Object.assign({ id: "", secret: "" }, added.value)
        assert.strictEqual(secret, SECRET)
        const listed = yield* call("listwebhooks")
        assert.notInclude(listed.text, SECRET)
        const [first] = Array.isArray(listed.value) ? listed.value : []
        assert.deepInclude(first, {
          id,
          source: "rpc",
          url: receiver.url,
          secret: true,
          name: [],
          prefix: ["d/"],
          owner: [],
          types: ["expired", "updated"],
          state: "active",
          lag: 0,
          lastdelivered: null,
          remedy: null
        })
        assert.deepInclude((yield* call("testwebhook", id)).value, { accepted: true, status: 204, error: null })
        assert.lengthOf(receiver.received, 1)
        assert.isNull((yield* call("resumewebhook", id, { from: "0" })).value)
        assert.isNull((yield* call("removewebhook", id)).value)
        assert.deepStrictEqual((yield* call("listwebhooks")).value, [])
        for (const method of ["removewebhook", "resumewebhook", "testwebhook"]) {
          assert.deepStrictEqual(yield* refusal(method, id), {
            code: -5,
            message: `there is no webhook "${id}"; listwebhooks has their ids`
          })
        }
      })))

  it.scoped("make a secret where the caller has none", () =>
    withMethods(false, ({ call }) =>
      Effect.gen(function*() {
        const added = yield* call("addwebhook", "https://example.com/hook")
        assert.match(added.text, /"secret":"whsec_[A-Za-z0-9+/]{43}="/)
      })))

  it.scoped.each([
    { params: ["example.com"], code: -8, says: "url is not a URL" },
    { params: ["http://10.0.0.1/"], code: -8, says: "url: its address is a private network" },
    { params: ["https://example.com/", { secret: "password1" }], code: -8, says: "secret is not whsec_ and 24 to 64" },
    { params: ["https://example.com/", { types: ["sold"] }], code: -8, says: "types: \"sold\" is not one of" },
    { params: ["https://example.com/", { owner: "x" }], code: -8, says: "owner: " },
    { params: ["https://example.com/", { name: 5 }], code: -3, says: "name must be a string or an array of strings" },
    { params: ["https://example.com/", { from: "yesterday" }], code: -8, says: "from: \"yesterday\" is not \"now\"" },
    { params: ["https://example.com/", { colour: 1 }], code: -3, says: "Unexpected key colour" }
  ])("refuse $params: $says", ({ code, params, says }) =>
    withMethods(false, ({ refusal }) =>
      Effect.gen(function*() {
        const found = yield* refusal("addwebhook", ...params)
        assert.include(found.message, says)
        assert.strictEqual(found.code, code)
        assert.notInclude(found.message, "password1")
      })))
})
