import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Exit, Redacted, Scope } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { has, stateIs, viewOf } from "./hooking.ts"
import { openReceiver } from "./receiver.ts"
import { ALL, hookTo, named, SECRET, withWorld } from "./world.ts"

describe("Webhooks", () => {
  it.scoped("of the configuration are found again by their URL, and keep their place while they are missing there", () =>
    withWorld((world) =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const receiver = yield* openReceiver()
        const hook = { url: receiver.url, secret: Redacted.make(SECRET), filter: ALL, from: undefined }
        const withFile = { directory, choice: { configured: [hook], allowPrivate: false } }
        const opened = yield* world.open(withFile)
        yield* opened.hooks.start
        const [view] = yield* opened.hooks.list
        if (view === undefined) return assert.fail("no hook")
        assert.deepInclude(view, { source: "configuration", state: "active", url: receiver.url })
        yield* world.grow("a", 1, [[named("d/a")]])
        yield* has(receiver, 1)
        assert.include((yield* Effect.flip(opened.hooks.remove(view.id))).message, "in the configuration file")
        yield* eventually("accepted", Effect.map(viewOf(opened.hooks, view.id), ({ delivered }) => delivered === 1))
        yield* Scope.close(opened.scope, Exit.void)

        const without = yield* world.open({ directory })
        yield* without.hooks.start
        yield* world.grow("a", 2, [[named("d/b")]])
        assert.deepInclude((yield* without.hooks.list)[0], { id: view.id, state: "unconfigured", lag: 1 })
        assert.include((yield* Effect.flip(without.hooks.test(view.id))).message, "missing from the configuration")
        yield* Scope.close(without.scope, Exit.void)

        const again = yield* world.open(withFile)
        yield* again.hooks.start
        yield* has(receiver, 2)
        assert.deepStrictEqual(receiver.kinds, ["1 updated", "2 updated"])
        assert.strictEqual((yield* again.hooks.list)[0]?.id, view.id)
        // The file has the secret of a hook of the configuration nowhere.
        assert.notInclude(readFileSync(join(directory, "webhooks.db"), "latin1"), SECRET)
      })
    ))

  it.scoped("of the configuration are refused before anything starts, by the number of their table", () =>
    withWorld((world) =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const hook = { url: "https://example.com/", secret: Redacted.make(SECRET), filter: ALL, from: undefined }
        const cases = [
          { configured: [hook, hook], says: "webhook 2 of the configuration file: url: is that of webhook 1" },
          {
            configured: [{ ...hook, filter: { ...ALL, types: ["sold"] } }],
            says: "webhook 1 of the configuration file: types: \"sold\" is not one of"
          },
          { configured: [{ ...hook, filter: { ...ALL, owners: ["x"] } }], says: "owner: " },
          {
            configured: [{ ...hook, from: "yesterday" }],
            says: "from: \"yesterday\" is not \"now\", \"0\" or a cursor"
          }
        ]
        for (const { configured, says } of cases) {
          const result = yield* Effect.either(world.open({ directory, choice: { configured } }))
          assert.include(Either.isLeft(result) ? result.left.message : "no failure", says)
        }
      })
    ))

  it.scoped("that a caller added reach no private address, whatever the name of the host answers", () =>
    withWorld((world) =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        // In this test 127.0.0.2 stands for an address on the Internet.
        const open = yield* openReceiver({ host: "127.0.0.2" })
        const answers = ["127.0.0.2", "127.0.0.1"]
        let asked = 0
        const { hooks } = yield* world.open({
          directory,
          choice: { allowPrivate: false },
          post: {
            resolve: () => Promise.resolve([answers[Math.min(asked++, 1)] ?? ""]),
            forbidden: (address) => address === "127.0.0.2" ? undefined : "this machine"
          }
        })
        yield* hooks.start
        for (const url of ["http://127.0.0.1/", "http://[::1]/", "http://0x7f.1/", "http://[::ffff:10.0.0.1]/"]) {
          const failure = yield* Effect.flip(hooks.add(hookTo(url)))
          assert.include(failure.message, "-webhookprivate allows that", url)
        }
        const { id } = yield* hooks.add(hookTo(`http://rebinds.example:${open.port}/`))
        yield* world.grow("a", 1, [[named("d/a")]])
        yield* has(open, 1)
        assert.strictEqual(asked, 1, "the host is resolved once, and connected to at that address")
        assert.strictEqual(open.received[0]?.headers.host, `rebinds.example:${open.port}`)
        // From now on the name has an address of this machine.
        yield* world.grow("a", 2, [[named("d/a")]])
        yield* stateIs(hooks, id, "retrying")
        assert.strictEqual(asked, 2)
        assert.include(
          (yield* viewOf(hooks, id)).lastError,
          "the host resolves to an address of this machine, where webhooks that are"
        )
      })
    ))

  it.scoped("to an address that only -webhookprivate allowed say so as soon as the node starts without it", () =>
    withWorld((world) =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const before = yield* world.open({ directory })
        const { id } = yield* before.hooks.add(hookTo("http://10.0.0.1/"))
        assert.deepInclude(yield* viewOf(before.hooks, id), { state: "active", remedy: undefined })
        yield* Scope.close(before.scope, Exit.void)
        const { hooks } = yield* world.open({ directory, choice: { allowPrivate: false } })
        yield* hooks.start
        const view = yield* viewOf(hooks, id)
        assert.deepInclude(view, { state: "retrying", failures: 0, nextAttempt: undefined })
        assert.strictEqual(view.lastError, "its address is a private network")
        assert.include(view.remedy, `start the node with -webhookprivate`)
      })
    ))
})
