import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Exit, Redacted, Scope, TestClock } from "effect"
import { createHmac } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { keyOfSecret } from "../../src/config/webhookKinds.ts"
import { cursorText, endOf } from "../../src/names/events/EventCursor.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { CONNECT_TIMEOUT } from "../../src/webhooks/post.ts"
import { PATIENCE } from "../../src/webhooks/retries.ts"
import { applyAll, text } from "../names/blocks.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { asleepFor, eventually, settled } from "../support/eventually.ts"
import { openReceiver, type Receiver } from "./receiver.ts"
import { ALL, hookTo, type HookWorld, named, SECRET, withWorld } from "./world.ts"

const has = (receiver: Receiver, count: number) =>
  eventually(`${count} messages`, () => receiver.received.length >= count)

/** A world with a directory, a receiver and the service. */
const withHooks = <A, E, R>(
  use: (parts: {
    readonly world: HookWorld
    readonly directory: string
    readonly receiver: Receiver
    readonly hooks: Effect.Effect.Success<ReturnType<HookWorld["open"]>>["hooks"]
    readonly scope: Scope.CloseableScope
  }) => Effect.Effect<A, E, R>
) =>
  withWorld((world) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const receiver = yield* openReceiver()
      const { hooks, scope } = yield* world.open({ directory })
      yield* hooks.start
      return yield* use({ world, directory, receiver, hooks, scope })
    })
  )

type Hooks = Effect.Effect.Success<ReturnType<HookWorld["open"]>>["hooks"]

const viewOf = ({ list }: Hooks, id: string) =>
  Effect.map(list, (views) => views.find((view) => view.id === id) ?? assert.fail(`no hook ${id}`))

const stateIs = (hooks: Hooks, id: string, state: string) =>
  eventually(`the hook is ${state}`, Effect.map(viewOf(hooks, id), (view) => view.state === state))

describe("Webhooks", () => {
  it.scoped("send one signed message for each block, in order, and move the cursor", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        yield* TestClock.setTime(1_700_000_000_500)
        const { id } = yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a"), named("d/b")], [], [named("d/a")]])
        yield* has(receiver, 2)
        yield* world.grow("a", 4, [[named("d/c")]])
        yield* has(receiver, 3)
        assert.deepStrictEqual(receiver.kinds, ["1 updated updated", "3 updated", "4 updated"])
        const key = keyOfSecret(Redacted.make(SECRET)) ?? assert.fail("no key")
        for (const { body, headers, method, path } of receiver.received) {
          assert.strictEqual(method, "POST")
          assert.strictEqual(path, "/hook?token=hidden")
          assert.strictEqual(headers["content-type"], "application/json")
          assert.strictEqual(headers["webhook-timestamp"], "1700000000")
          const signed = `${String(headers["webhook-id"])}.1700000000.${body}`
          assert.strictEqual(
            headers["webhook-signature"],
            `v1,${createHmac("sha256", key).update(signed).digest("base64")}`
          )
        }
        yield* eventually("accepted", Effect.map(viewOf(hooks, id), ({ delivered }) => delivered === 3))
        const view = yield* viewOf(hooks, id)
        assert.deepInclude(view, { state: "active", lag: 0, failures: 0, lastError: undefined, remedy: undefined })
        const { cursor } = JSON.parse(receiver.received[2]?.body ?? "")
        assert.isTrue(view.cursor >= cursor, "the cursor of the hook is that of the message, or the end of its block")
        assert.strictEqual(new Set(receiver.ids).size, 3)
      })
    ))

  it.scoped("send only what the filter of the hook wants", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        yield* hooks.add(hookTo(receiver.url, { filter: { ...ALL, prefixes: ["id/"] }, from: "0" }))
        yield* world.grow("a", 1, [[named("d/a")], [named("id/a"), named("d/b")], [named("d/a")], [named("id/b")]])
        yield* has(receiver, 2)
        assert.deepStrictEqual(receiver.kinds, ["2 updated", "4 updated"])
      })
    ))

  it.scoped("keep the filter of a caller when the encoding of names changes", () =>
    withHooks(({ directory, hooks, receiver, scope, world }) =>
      Effect.gen(function*() {
        yield* hooks.add(hookTo(receiver.url, { filter: { ...ALL, prefixes: ["id/"] } }))
        yield* Scope.close(scope, Exit.void)
        const again = yield* world.open({ directory, nameEncoding: "hex" })
        yield* again.hooks.start
        yield* world.grow("a", 1, [[named("d/a")], [named("id/a")]])
        yield* has(receiver, 1)
        assert.deepStrictEqual(receiver.kinds, ["2 updated"])
        assert.deepStrictEqual((yield* again.hooks.list)[0]?.filter.prefixes, ["id/"])
      })
    ))

  it.scoped("send a message again with the same id until it is accepted, 500 for a day, and skip nothing", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        const other = yield* openReceiver()
        yield* hooks.add(hookTo(other.url))
        receiver.answers(500)
        const { id } = yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a")], [named("d/b")]])
        yield* has(other, 2)
        for (let hours = 0; hours < 24; hours += 3) {
          const before = receiver.received.length
          yield* TestClock.adjust("3 hours")
          yield* has(receiver, before + 1)
        }
        assert.strictEqual(new Set(receiver.ids).size, 1)
        assert.isAtMost(receiver.received.length, 40)
        assert.deepInclude(yield* viewOf(hooks, id), {
          state: "retrying",
          lag: 2,
          delivered: 0,
          lastError: "status 500"
        })
        // The other hook goes on meanwhile.
        yield* world.grow("a", 3, [[named("d/c")]])
        yield* has(other, 3)
        const failed = receiver.received.length
        receiver.answers(200)
        yield* TestClock.adjust("73 minutes")
        yield* has(receiver, failed + 3)
        assert.deepStrictEqual(receiver.kinds.slice(failed), ["1 updated", "2 updated", "3 updated"])
        assert.strictEqual(receiver.ids[failed], receiver.ids[0])
        yield* stateIs(hooks, id, "active")
      })
    ))

  it.scoped("follow no redirect", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        const target = yield* openReceiver()
        receiver.answers(307, { Location: target.url })
        const { id } = yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a")]])
        yield* stateIs(hooks, id, "retrying")
        assert.include((yield* viewOf(hooks, id)).lastError, "status 307: redirects are not followed")
        assert.lengthOf(target.received, 0)
      })
    ))

  it.scoped("give up waiting for a receiver that hangs, and wait as long as Retry-After says", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        receiver.answer = () => {}
        const { id } = yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a")]])
        yield* has(receiver, 1)
        yield* asleepFor("30 seconds")
        yield* TestClock.adjust("30 seconds")
        yield* stateIs(hooks, id, "retrying")
        assert.strictEqual((yield* viewOf(hooks, id)).lastError, "no answer within 30 seconds")
        receiver.answers(503, { "Retry-After": "600" })
        yield* TestClock.adjust("6 seconds")
        yield* has(receiver, 2)
        yield* eventually("fails again", Effect.map(viewOf(hooks, id), ({ failures }) => failures === 2))
        assert.isAtLeast((yield* viewOf(hooks, id)).nextAttempt ?? 0, 634_000)
      })
    ))

  it.scoped("take the status of an answer that never ends or comes byte by byte", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        let closed = 0
        receiver.answer = (response) => {
          response.writeHead(200, { "Content-Length": "1000000000" })
          const more = (): void => {
            while (response.write(Buffer.alloc(65_536))) { /* Until the connection is full. */ }
          }
          response.on("drain", more)
          response.on("close", () => closed++)
          more()
        }
        const { id } = yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a")]])
        yield* eventually("accepted", Effect.map(viewOf(hooks, id), ({ delivered }) => delivered === 1))
        yield* eventually("the connection is closed", () => closed === 1)
        receiver.answer = (response) => {
          response.writeHead(200)
          response.write("1")
        }
        yield* world.grow("a", 2, [[named("d/a")]])
        yield* has(receiver, 2)
        yield* asleepFor("2 seconds")
        yield* TestClock.adjust("2 seconds")
        yield* eventually("accepted", Effect.map(viewOf(hooks, id), ({ delivered }) => delivered === 2))
      })
    ))

  it.scoped("stop at 410, and go on where they were when they are resumed", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        receiver.answers(410)
        const { id } = yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a")]])
        yield* stateIs(hooks, id, "gone")
        yield* TestClock.adjust("2 days")
        yield* world.grow("a", 2, [[named("d/b")]])
        yield* settled("nothing is sent", () => receiver.received.length)
        assert.lengthOf(receiver.received, 1)
        assert.include((yield* viewOf(hooks, id)).remedy, `resumewebhook ${id}`)
        receiver.answers(204)
        yield* hooks.resume({ id, from: undefined })
        yield* has(receiver, 3)
        assert.deepStrictEqual(receiver.kinds, ["1 updated", "1 updated", "2 updated"])
        assert.strictEqual(receiver.ids[1], receiver.ids[0])
      })
    ))

  it.scoped("are dead after 14 days without an accepted message, also across a restart, until they are resumed", () =>
    withHooks(({ directory, hooks, receiver, scope, world }) =>
      Effect.gen(function*() {
        receiver.answers(500)
        const { id } = yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a")]])
        yield* stateIs(hooks, id, "retrying")
        yield* Scope.close(scope, Exit.void)
        yield* TestClock.adjust(PATIENCE - 1)
        const again = yield* world.open({ directory })
        yield* again.hooks.start
        yield* has(receiver, 2)
        yield* eventually("fails again", Effect.map(viewOf(again.hooks, id), ({ failures }) => failures === 2))
        assert.strictEqual((yield* viewOf(again.hooks, id)).state, "retrying")
        yield* TestClock.adjust("1 minute")
        yield* stateIs(again.hooks, id, "dead")
        receiver.answers(204)
        yield* TestClock.adjust("2 days")
        yield* settled("nothing is sent", () => receiver.received.length)
        assert.lengthOf(receiver.received, 3)
        yield* again.hooks.resume({ id, from: undefined })
        yield* has(receiver, 4)
        yield* stateIs(again.hooks, id, "active")
        assert.strictEqual(new Set(receiver.ids).size, 1)
      })
    ))

  it.scoped("send the message that was on its way again after a restart, with its id", () =>
    withHooks(({ directory, hooks, receiver, scope, world }) =>
      Effect.gen(function*() {
        receiver.answer = () => {}
        yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a")], [named("d/b")]])
        yield* has(receiver, 1)
        yield* Scope.close(scope, Exit.void)
        receiver.answers(204)
        yield* world.grow("a", 3, [[named("d/c")]])
        const again = yield* world.open({ directory })
        yield* again.hooks.start
        yield* has(receiver, 4)
        assert.deepStrictEqual(receiver.kinds, ["1 updated", "1 updated", "2 updated", "3 updated"])
        assert.strictEqual(receiver.ids[1], receiver.ids[0])
        assert.strictEqual(receiver.received[1]?.body, receiver.received[0]?.body)
      })
    ))

  it.scoped("undo the blocks that left the chain; a block that is back has another id", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a", "1")], [named("d/a", "2")]])
        const first = world.blocks
        yield* has(receiver, 2)
        yield* world.grow("b", 2, [[named("d/a", "3")]])
        yield* has(receiver, 4)
        yield* world.go(first)
        yield* has(receiver, 6)
        assert.deepStrictEqual(receiver.kinds, [
          "1 updated",
          "2 updated",
          "2 undone",
          "2 updated",
          "2 undone",
          "2 updated"
        ])
        assert.strictEqual(new Set(receiver.ids).size, 6)
      })
    ))

  it.scoped("undo a block that was perhaps received", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        receiver.answers(500)
        const { id } = yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a", "1")]])
        yield* stateIs(hooks, id, "retrying")
        yield* world.grow("b", 1, [[]])
        receiver.answers(204)
        yield* TestClock.adjust("6 seconds")
        yield* has(receiver, 2)
        assert.deepStrictEqual(receiver.kinds, ["1 updated", "1 undone"])
      })
    ))

  it.scoped("send a block again that is back after its end was perhaps received", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        const { id } = yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a", "1")]])
        const first = world.blocks
        yield* has(receiver, 1)
        receiver.answers(500)
        yield* world.grow("b", 1, [[]])
        yield* stateIs(hooks, id, "retrying")
        yield* world.go(first)
        receiver.answers(204)
        yield* TestClock.adjust("6 seconds")
        yield* has(receiver, 3)
        assert.deepStrictEqual(receiver.kinds, ["1 updated", "1 undone", "1 updated"])
        assert.strictEqual(new Set(receiver.ids).size, 3)
      })
    ))

  it.scoped("are removed while they send: nothing comes after", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        let closed = 0
        receiver.answer = (response) => void response.on("close", () => closed++)
        const { id } = yield* hooks.add(hookTo(receiver.url))
        yield* world.grow("a", 1, [[named("d/a")]])
        yield* has(receiver, 1)
        yield* hooks.remove(id)
        yield* eventually("the connection is closed", () => closed === 1)
        assert.deepStrictEqual(yield* hooks.list, [])
        yield* world.grow("a", 2, [[named("d/a")]])
        yield* TestClock.adjust("1 hour")
        yield* settled("nothing is sent", () => receiver.received.length)
        assert.lengthOf(receiver.received, 1)
        assert.strictEqual((yield* Effect.flip(hooks.remove(id)))._tag, "WebhookRefused")
      })
    ))

  it.scoped("wait for the operator where the log has no place for the cursor", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        const foreign = "a0000000.08388608.0123456789abcdef"
        const { id } = yield* hooks.add(hookTo(receiver.url, { from: foreign }))
        yield* stateIs(hooks, id, "cursor")
        const view = yield* viewOf(hooks, id)
        assert.include(view.lastError, "its block is not known here")
        assert.include(view.remedy, "'{\"from\":\"0\"}'")
        yield* world.grow("a", 1, [[named("d/a")], [named("d/b")]])
        yield* settled("nothing is sent", () => receiver.received.length)
        assert.lengthOf(receiver.received, 0)
        assert.include(
          (yield* Effect.flip(hooks.resume({ id, from: "x" }))).message,
          "is not \"now\", \"0\" or a cursor"
        )
        yield* hooks.resume({ id, from: "0" })
        yield* has(receiver, 2)
        assert.deepStrictEqual(receiver.kinds, ["1 updated", "2 updated"])
      })
    ))

  it.scoped("wait for a block above the last one that the node has, and go on behind it", () =>
    withHooks(({ hooks, receiver, world }) =>
      Effect.gen(function*() {
        const from = (height: number) => ({ from: cursorText(endOf({ height, hash: hash256(text(`a ${height}`)) })) })
        // A synced node is at height 0: another one may be six blocks ahead of it.
        const { id: far } = yield* hooks.add(hookTo(receiver.url, from(7)))
        yield* stateIs(hooks, far, "cursor")
        yield* hooks.remove(far)
        const { id: near } = yield* hooks.add(hookTo(receiver.url, from(6)))
        yield* asleepFor("10 seconds")
        assert.strictEqual((yield* viewOf(hooks, near)).state, "active")
        yield* hooks.remove(near)

        // While blocks are missing, a block of any height may come.
        world.isSyncing = true
        const { id } = yield* hooks.add(hookTo(receiver.url, from(9)))
        yield* asleepFor("10 seconds", 1)
        assert.strictEqual((yield* viewOf(hooks, id)).state, "active")
        yield* world.grow("a", 1, Array.from({ length: 9 }, () => [named("d/a")]))
        yield* world.grow("a", 10, [[named("d/b")]])
        yield* TestClock.adjust("10 seconds")
        yield* has(receiver, 1)
        assert.deepStrictEqual(receiver.kinds, ["10 updated"])
      })
    ))

  it.scoped("send a test that moves nothing, and say what came back", () =>
    withHooks(({ hooks, receiver }) =>
      Effect.gen(function*() {
        receiver.answer = (response) => response.writeHead(401).end("wrong signature")
        const { id } = yield* hooks.add(hookTo(receiver.url))
        const answer = yield* hooks.test(id)
        assert.deepInclude(answer, { _tag: "Answered", status: 401, body: "wrong signature" })
        assert.deepStrictEqual(JSON.parse(receiver.received[0]?.body ?? ""), { type: "names.test", hook: id })
        assert.deepInclude(yield* viewOf(hooks, id), { state: "active", failures: 0, delivered: 0 })
      })
    ))

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

  it.scoped("are refused by a light node", () =>
    withWorld((world) =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const { hooks } = yield* world.open({ directory, isLight: true })
        yield* hooks.start
        const failure = yield* Effect.flip(hooks.add(hookTo("https://example.com/")))
        assert.strictEqual(failure.message, "a light node has no log of events: start it without -sync=light")
      })
    ))

  it.scoped("that begin now while names.db is written again get nothing of what happened before", () =>
    withWorld((world) =>
      Effect.gen(function*() {
        const receiver = yield* openReceiver()
        const { hooks } = yield* world.open({ directory: yield* temporaryDirectory })
        yield* hooks.start
        yield* world.grow("a", 1, [[named("d/a")], [named("d/b")]])
        const [first, ...others] = world.blocks
        if (first === undefined) return
        yield* world.db.follower.rewind(first)
        yield* hooks.add(hookTo(receiver.url))
        yield* applyAll(world.db, [others])
        yield* world.grow("a", 3, [[named("d/c")]])
        yield* has(receiver, 1)
        assert.deepStrictEqual(receiver.received.map(({ body }) => JSON.parse(body).height), [3])
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

  it.scoped("give up connecting after ten seconds", () =>
    withWorld((world) =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const { hooks } = yield* world.open({ directory, post: { resolve: () => new Promise(() => {}) } })
        yield* hooks.start
        const { id } = yield* hooks.add(hookTo("http://slow.example/"))
        yield* world.grow("a", 1, [[named("d/a")]])
        yield* asleepFor(CONNECT_TIMEOUT)
        yield* TestClock.adjust(CONNECT_TIMEOUT)
        yield* stateIs(hooks, id, "retrying")
        assert.strictEqual((yield* viewOf(hooks, id)).lastError, "no connection within 10 seconds")
      })
    ))
})
