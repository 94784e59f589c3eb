import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber, Layer, TestClock } from "effect"
import { DaemonUnreachable, NotSynced, type ResolveFailure } from "../../src/client/errors.ts"
import type { NameRecord } from "../../src/client/records.ts"
import * as NameRecipients from "../../src/mail/NameRecipients.ts"
import { type NoSuchRecipient, Recipients, type RecipientsUnavailable } from "../../src/mail/Recipients.ts"
import { NameExpired, NameNotFound } from "../../src/names/errors.ts"

/** Names that a test changes, and the lookups of each. */
class Names {
  readonly asked: Array<string> = []
  readonly records = new Map<string, NameRecord>()
  answer: Effect.Effect<void, ResolveFailure> = Effect.void
  height = 100

  set(name: string, value: string, expiresAt = 10_000): void {
    this.records.set(name, {
      name,
      value,
      address: "",
      txid: "",
      height: 1,
      expiresIn: expiresAt,
      expired: false,
      asOf: { height: 0, synced: true, proof: "full" }
    })
  }

  readonly resolve = (name: string): Effect.Effect<NameRecord, ResolveFailure> =>
    Effect.suspend(() => {
      this.asked.push(name)
      return Effect.flatMap(this.answer, (): Effect.Effect<NameRecord, ResolveFailure> => {
        const record = this.records.get(name)
        if (record === undefined) return new NameNotFound({ requested: name })
        const expiresIn = record.expiresIn - this.height
        if (expiresIn <= 0) return new NameExpired({ requested: name, updateHeight: 1 })
        return Effect.succeed({ ...record, expiresIn, asOf: { height: this.height, synced: true, proof: "full" } })
      })
    })
}

const mail = (email: string): string => JSON.stringify({ email, backup: ["spare@example.net"] })

type Failure = NoSuchRecipient | RecipientsUnavailable

const withNames = <E>(work: (names: Names) => Effect.Effect<void, E, Recipients>) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(0)
    const names = new Names()
    names.set("id/alice", mail("alice@example.org"))
    yield* Effect.provide(
      work(names),
      Layer.fresh(NameRecipients.layer({ namespace: "id/", resolve: names.resolve, capacity: 100 }))
    )
  })

const emailOf = (label: string) =>
  Effect.flatMap(Recipients, ({ forwardingOf }) => Effect.map(forwardingOf(label), ({ email }) => email))

/** The refusal of a label without an address. */
const refusal = (label: string) =>
  Effect.flatMap(
    Recipients,
    ({ forwardingOf }) =>
      Effect.map(Effect.either(forwardingOf(label)), (outcome): string =>
        Either.match(outcome, {
          onRight: ({ email }) => email,
          onLeft: (failure: Failure) => failure._tag === "NoSuchRecipient" ? failure.why : failure._tag
        }))
  )

describe("where the mail for a label goes", () => {
  it.effect("is the address in the value of its name", () =>
    withNames((names) =>
      Effect.gen(function*() {
        const { forwardingOf } = yield* Recipients
        assert.deepInclude(yield* forwardingOf("alice"), { email: "alice@example.org", backup: ["spare@example.net"] })
        assert.strictEqual(yield* emailOf("ALICE"), "alice@example.org")
        assert.deepStrictEqual(names.asked, ["id/alice"])
      })
    ))

  it.effect("is refused with a reason for a label without an address", () =>
    withNames((names) =>
      Effect.gen(function*() {
        names.set("id/chatty", "{\"name\":\"no mail here\"}")
        names.set("id/gone", mail("gone@example.org"), 100)
        assert.strictEqual(yield* refusal("missing"), "unknown")
        assert.strictEqual(yield* refusal("chatty"), "no-mail")
        assert.strictEqual(yield* refusal("gone"), "expired")
        const asked = names.asked.length
        assert.strictEqual(yield* refusal("victim%example.com"), "invalid-label")
        assert.strictEqual(names.asked.length, asked)
      })
    ))

  it.effect("is remembered for 15 seconds", () =>
    withNames((names) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* emailOf("alice"), "alice@example.org")
        names.set("id/alice", mail("new@example.org"))
        yield* TestClock.adjust("14999 millis")
        assert.strictEqual(yield* emailOf("alice"), "alice@example.org")
        yield* TestClock.adjust("2 millis")
        assert.strictEqual(yield* emailOf("alice"), "new@example.org")
        assert.strictEqual(names.asked.length, 2)
      })
    ))

  it.effect("is looked up again 5 seconds after a refusal", () =>
    withNames((names) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* refusal("late"), "unknown")
        names.set("id/late", mail("late@example.org"))
        yield* TestClock.adjust("4999 millis")
        assert.strictEqual(yield* refusal("late"), "unknown")
        yield* TestClock.adjust("2 millis")
        assert.strictEqual(yield* emailOf("late"), "late@example.org")
      })
    ))

  it.effect("is forgotten when the chain reaches the height at which the name expires", () =>
    withNames((names) =>
      Effect.gen(function*() {
        names.set("id/old", mail("old@example.org"), 102)
        names.height = 100
        assert.strictEqual(yield* emailOf("old"), "old@example.org")
        names.height = 101
        yield* refusal("some")
        assert.strictEqual(yield* emailOf("old"), "old@example.org")
        assert.strictEqual(names.asked.filter((name) => name === "id/old").length, 1)
        names.height = 102
        // A lookup of any other name shows the new height.
        yield* emailOf("alice")
        assert.strictEqual(yield* refusal("old"), "expired")
        assert.strictEqual(names.asked.filter((name) => name === "id/old").length, 2)
      })
    ))

  it.effect("is unavailable while the daemon is unreachable, and looked up at once afterwards", () =>
    withNames((names) =>
      Effect.gen(function*() {
        names.answer = new DaemonUnreachable({ address: "127.0.0.1:8336", reason: "connection refused" })
        assert.strictEqual(yield* refusal("alice"), "RecipientsUnavailable")
        names.answer = new NotSynced({ height: 7 })
        assert.strictEqual(yield* refusal("alice"), "RecipientsUnavailable")
        names.answer = Effect.void
        assert.strictEqual(yield* emailOf("alice"), "alice@example.org")
      })
    ))

  it.effect("is not waited for longer than 15 seconds", () =>
    withNames((names) =>
      Effect.gen(function*() {
        names.answer = Effect.never
        const waiting = yield* Effect.fork(refusal("alice"))
        yield* TestClock.adjust("14999 millis")
        assert.isNull(yield* Fiber.poll(waiting).pipe(Effect.map((exit) => exit._tag === "None" ? null : exit)))
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* Fiber.join(waiting), "RecipientsUnavailable")
      })
    ))

  it.effect("is looked up once for simultaneous callers, and a caller that leaves does not affect the others", () =>
    withNames((names) =>
      Effect.gen(function*() {
        const gate = yield* Deferred.make<void>()
        names.answer = Deferred.await(gate)
        const [first, second] = [yield* Effect.fork(emailOf("alice")), yield* Effect.fork(emailOf("Alice"))]
        yield* TestClock.adjust("1 millis")
        yield* Fiber.interrupt(first)
        yield* Deferred.succeed(gate, undefined)
        assert.strictEqual(yield* Fiber.join(second), "alice@example.org")
        assert.strictEqual(names.asked.length, 1)
      })
    ))

  it.effect("is remembered for a limited number of labels, those asked for last", () =>
    withNames((names) =>
      Effect.gen(function*() {
        yield* emailOf("alice")
        yield* Effect.forEach(Array.from({ length: 101 }, (_, i) => `label-${i}`), refusal)
        names.asked.length = 0
        yield* emailOf("alice")
        assert.deepStrictEqual(names.asked, ["id/alice"])
        yield* refusal("label-100")
        assert.deepStrictEqual(names.asked, ["id/alice"])
      })
    ))
})
