import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Queue, Random, TestClock } from "effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as AlertFile from "../../../src/alerts/AlertFile.ts"
import * as AlertMail from "../../../src/alerts/mail/AlertMail.ts"
import { checksummed } from "../../../src/base/checksum.ts"
import { alertMails, alertMailsWaiting } from "../../../src/metrics/alertMetrics.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { asleepFor, eventually, sleepsFor } from "../../support/eventually.ts"
import { noticeOf } from "./notice.ts"

interface Attempt {
  readonly mail: AlertMail.OutgoingMail
  readonly answer: (outcome: AlertMail.MailOutcome) => Effect.Effect<void>
}

const TAKEN: AlertMail.MailOutcome = { isAccepted: true, answer: "250 ok" }
const LATER: AlertMail.MailOutcome = { isAccepted: false, answer: "451 later" }

const A = "a@x.example"

/** A run of a node over a file of its own, until the scope closes; the test is the server. */
const runOf = (filename: string, addresses: ReadonlyArray<string> = [A]) =>
  Effect.gen(function*() {
    const attempts = yield* Queue.unbounded<Attempt>()
    const answers = new Map<AlertMail.OutgoingMail, AlertMail.MailOutcome>()
    const logged: Array<string> = []
    const collect = Logger.make<unknown, void>(({ message }) => {
      logged.push(JSON.stringify(message))
    })
    const context = yield* Layer.build(
      AlertMail.layer({
        addresses,
        send: (mail) =>
          Effect.zipRight(
            Queue.offer(attempts, {
              mail,
              answer: (outcome) => Effect.sync(() => void answers.set(mail, outcome))
            }),
            Effect.zipRight(
              eventually("the test answers", () => answers.has(mail), 60_000),
              Effect.sync(() => answers.get(mail) ?? LATER)
            )
          )
      }).pipe(
        Layer.provideMerge(AlertFile.layer(filename)),
        Layer.provideMerge(DataHealth.layer),
        Layer.provideMerge(Logger.replace(Logger.defaultLogger, collect))
      )
    )
    const mail = Context.get(context, AlertMail.AlertMail)
    const file = Context.get(context, AlertFile.AlertFile)
    const health = Context.get(context, DataHealth.DataHealth)
    yield* mail.run.pipe(Effect.withRandom(Random.fixed([0.5])), Effect.provide(context))
    return {
      file,
      health,
      logged,
      test: mail.test,
      next: Queue.take(attempts),
      waiting: Queue.size(attempts),
      give: (...names: ReadonlyArray<string>) =>
        file.change((state) => ({
          ...state,
          mail: mail.queued(state.mail, names.map((name) => noticeOf(name)))
        }))
    }
  })

const namesOf = ({ mail }: Attempt): ReadonlyArray<string> =>
  mail.type === "test" ? [] : mail.mail.names.map(({ name }) => Buffer.from(name).toString())

const idOf = ({ mail }: Attempt): string => mail.type === "test" ? mail.id : mail.mail.id

const inDirectory = <A, E, R>(use: (filename: string) => Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(temporaryDirectory, (directory) => use(join(directory, "alerts.json"))))

describe("AlertMail", () => {
  it.scoped("sends one mail for all notices of a look, and gathers those that come meanwhile", () =>
    inDirectory((filename) =>
      Effect.gen(function*() {
        const sent = alertMails.of("sent").value()
        const { file, give, next } = yield* runOf(filename)
        yield* give("d/a", "d/b")
        const first = yield* next
        assert.deepStrictEqual(namesOf(first), ["d/a", "d/b"])
        yield* give("d/c")
        yield* give("d/d")
        yield* first.answer(TAKEN)
        const second = yield* next
        assert.deepStrictEqual(namesOf(second), ["d/c", "d/d"])
        assert.notStrictEqual(idOf(second), idOf(first))
        yield* second.answer(TAKEN)
        yield* eventually("nothing waits", () => alertMailsWaiting.value() === 0)
        assert.strictEqual(alertMails.of("sent").value(), sent + 2)
        assert.deepStrictEqual(file.current().mail, [
          { to: A, sending: undefined, waiting: undefined, failingSince: undefined }
        ])
      })
    ))

  it.scoped(
    "sends the same mail again with longer pauses, before any other, and tells the operator after a day",
    () =>
      inDirectory((filename) =>
        Effect.gen(function*() {
          const { give, health, logged, next, waiting } = yield* runOf(filename)
          yield* give("d/a")
          const first = yield* next
          const since = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
          let pause = 5_000
          // The time limits of attempts that ended: one ends when a later attempt begins.
          let others = yield* sleepsFor(pause)
          yield* first.answer(LATER)
          for (let now = since; now < since + 26 * 3_600_000; now += pause, pause = Math.min(2 * pause, 3_600_000)) {
            yield* asleepFor(pause, others)
            assert.strictEqual(yield* waiting, 0)
            assert.strictEqual((yield* health.notices).length, now - since < 86_400_000 ? 0 : 1)
            yield* TestClock.adjust(pause)
            const again = yield* next
            assert.deepStrictEqual([idOf(again), namesOf(again)], [idOf(first), ["d/a"]])
            if (now === since) yield* give("d/b")
            others = yield* sleepsFor(Math.min(2 * pause, 3_600_000))
            yield* again.answer(LATER)
          }
          assert.strictEqual(logged.filter((text) => text.includes("alert mail not sent: retrying")).length, 1)
          assert.include(logged.find((text) => text.includes("retrying")), "451 later")
          yield* eventually("the notice", Effect.map(health.notices, ({ length }) => length === 1))
          const [notice] = yield* health.notices
          assert.match(
            String(notice?.reason),
            /^no mail about names that expire has reached an address for a day: the log/
          )
          // Callers without credentials see the notice.
          assert.notMatch(String(notice?.reason), /x\.example|451/)
          const told = logged.filter((text) => text.includes("alert mail not sent for a day"))
          assert.match(told.join("\n"), /a@x\.example.*451 later/)
          yield* asleepFor(3_600_000, others)
          yield* TestClock.adjust(3_600_000)
          yield* (yield* next).answer(TAKEN)
          const other = yield* next
          assert.deepStrictEqual(namesOf(other), ["d/b"])
          assert.deepStrictEqual(yield* health.notices, [])
          yield* other.answer(TAKEN)
        })
      ),
    60_000
  )

  it.scoped("sends what waits after a restart: a mail that was perhaps received with the same id", () =>
    inDirectory((filename) =>
      Effect.gen(function*() {
        const before = yield* Effect.scoped(Effect.gen(function*() {
          const { give, next } = yield* runOf(filename)
          yield* give("d/a")
          const attempt = yield* next
          yield* give("d/b")
          return attempt
        }))
        const { next } = yield* runOf(filename)
        const again = yield* next
        assert.deepStrictEqual([idOf(again), namesOf(again)], [idOf(before), ["d/a"]])
        yield* again.answer(TAKEN)
        const other = yield* next
        assert.deepStrictEqual(namesOf(other), ["d/b"])
        yield* other.answer(TAKEN)
      })
    ))

  it.scoped("has a queue for each address: one that fails delays no other", () =>
    inDirectory((filename) =>
      Effect.gen(function*() {
        const { file, give, next, test } = yield* runOf(filename, [A, "b@x.example"])
        yield* give("d/a")
        const both = [yield* next, yield* next]
        for (const attempt of both) yield* attempt.answer(attempt.mail.to === A ? LATER : TAKEN)
        yield* eventually("one is sent", () => file.current().mail[1]?.sending === undefined)
        yield* asleepFor(5_000)
        yield* give("d/b")
        const after = yield* next
        assert.deepStrictEqual([after.mail.to, namesOf(after)], ["b@x.example", ["d/b"]])
        yield* after.answer(TAKEN)
        const tested = yield* Effect.fork(test)
        for (const outcome of [TAKEN, LATER]) yield* (yield* next).answer(outcome)
        assert.deepStrictEqual(yield* tested, [{ address: A, ...TAKEN }, { address: "b@x.example", ...LATER }])
      })
    ))

  it.scoped("ends an attempt that takes too long, and sends the same mail again", () =>
    inDirectory((filename) =>
      Effect.gen(function*() {
        const failed = alertMails.of("failed").value()
        const { give, logged, next, test, waiting } = yield* runOf(filename)
        yield* give("d/a")
        const first = yield* next
        yield* asleepFor(300_000)
        yield* TestClock.adjust("299 seconds")
        assert.strictEqual(alertMails.of("failed").value(), failed)
        yield* TestClock.adjust("1 second")
        yield* asleepFor(5_000)
        assert.strictEqual(alertMails.of("failed").value(), failed + 1)
        assert.include(logged.find((line) => line.includes("retrying")), "did not finish within 5 minutes")
        assert.strictEqual(yield* waiting, 0)
        yield* TestClock.adjust("5 seconds")
        const again = yield* next
        assert.strictEqual(idOf(again), idOf(first))
        yield* again.answer(TAKEN)
        const tested = yield* Effect.fork(test)
        yield* next
        yield* asleepFor(300_000)
        yield* TestClock.adjust("5 minutes")
        assert.match((yield* tested)[0]?.answer ?? "", /did not finish within 5 minutes/)
      })
    ))

  it.scoped("counts what waits while a server keeps a mail waiting, even if the disk takes no file", () =>
    inDirectory((filename) =>
      Effect.gen(function*() {
        const { give, next } = yield* runOf(filename)
        yield* give("d/a")
        yield* next
        yield* eventually("one is being sent", () => alertMailsWaiting.value() === 1)
        yield* give("d/b")
        yield* eventually("another one gathers", () => alertMailsWaiting.value() === 2)
      })
    ).pipe(
      Effect.zipRight(inDirectory((filename) =>
        Effect.gen(function*() {
          const { give } = yield* runOf(filename)
          mkdirSync(`${filename}.new`)
          yield* Effect.flip(give("d/a"))
          yield* eventually("it waits", () => alertMailsWaiting.value() === 1)
        })
      ))
    ))

  it.scoped("goes on without a file that it cannot read, keeps it, and tells the operator", () =>
    inDirectory((filename) =>
      Effect.gen(function*() {
        mkdirSync(filename)
        writeFileSync(join(filename, "mark"), "")
        yield* Effect.scoped(Effect.gen(function*() {
          const { give, next } = yield* runOf(filename)
          yield* give("d/a")
          assert.deepStrictEqual(namesOf(yield* next), ["d/a"])
        }))
        assert.isTrue(existsSync(join(`${filename}.damaged`, "mark")))
        // After a restart too.
        const { health } = yield* runOf(filename)
        const [notice] = yield* health.notices
        assert.strictEqual(notice?.what, "alerts.json")
        assert.include(
          notice?.reason,
          "is kept as alerts.json.damaged: the last notices before names expire are repeated"
        )
      })
    ))

  it.scoped("reads the file of an earlier version, and drops the mail of addresses that are gone", () =>
    inDirectory((filename) =>
      Effect.gen(function*() {
        const old = `{"version":1,"told":[{"name":"642f61","height":5,"within":16}]}\n`
        writeFileSync(filename, checksummed(old))
        yield* Effect.scoped(Effect.gen(function*() {
          const { file, give, next } = yield* runOf(filename)
          assert.deepStrictEqual(file.current().told.map(({ height, within }) => [height, within]), [[5, 16]])
          yield* give("d/a")
          yield* next
        }))
        const { give, next } = yield* runOf(filename, ["b@x.example"])
        yield* give("d/b")
        const attempt = yield* next
        assert.deepStrictEqual([attempt.mail.to, namesOf(attempt)], ["b@x.example", ["d/b"]])
        yield* attempt.answer(TAKEN)
        yield* eventually("it is stored", () => !readFileSync(filename, "utf8").includes("642f62"))
        assert.notInclude(readFileSync(filename, "utf8"), A)
      })
    ))

  it.effect("fails to test where no mail is configured", () =>
    Effect.gen(function*() {
      const { test } = yield* AlertMail.AlertMail
      assert.strictEqual((yield* Effect.flip(test))._tag, "NoAlertMail")
    }).pipe(Effect.provide(AlertMail.layerNoMail)))
})
