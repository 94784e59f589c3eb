import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope, TestClock } from "effect"
import { createHmac } from "node:crypto"
import { keyOfSecret } from "../../src/config/webhookKinds.ts"
import { cursorText, endOf } from "../../src/names/events/EventCursor.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { CONNECT_TIMEOUT } from "../../src/webhooks/post.ts"
import { PATIENCE } from "../../src/webhooks/retries.ts"
import { applyAll, text } from "../names/blocks.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { asleepFor, eventually, settled } from "../support/eventually.ts"
import { has, stateIs, viewOf } from "./hooking.ts"
import { withHooks } from "./hooking.ts"
import { openReceiver } from "./receiver.ts"
import { ALL, hookTo, named, SECRET, withWorld } from "./world.ts"

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

  it.scoped("are dead after 14 days without an accepted message, even across a restart, until they are resumed", () =>
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
        assert.include(view.lastError, "its block is unknown")
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
