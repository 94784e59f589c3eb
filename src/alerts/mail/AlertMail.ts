import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { randomHex } from "../../base/entropy.ts"
import { alertMails, alertMailsWaiting } from "../../metrics/alertMetrics.ts"
import type { Millis } from "../../protocol/keys.ts"
import { DataHealth } from "../../storage/DataHealth.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { pauseAfter } from "../../webhooks/retries.ts"
import { AlertFile } from "../AlertFile.ts"
import {
  accepted,
  begun,
  failed,
  type MailNotice,
  type MailQueue,
  mailsIn,
  queuesOf,
  replaced,
  type SentMail,
  withNotices
} from "./mailQueue.ts"

/** A mail for one address: about names, or a test. */
export type OutgoingMail =
  & { readonly to: string }
  & ({ readonly type: "notices"; readonly mail: SentMail } | {
    readonly type: "test"
    readonly id: string
    readonly madeAt: Millis
  })

export interface MailOutcome {
  readonly isAccepted: boolean
  /** The server's answer, or why there was no server: one line without secrets. */
  readonly answer: string
}

export interface AlertMailOptions {
  /** At least one. */
  readonly addresses: ReadonlyArray<string>
  readonly send: (mail: OutgoingMail) => Effect.Effect<MailOutcome>
}

/** Limits a whole attempt: a server that is slow in each step could otherwise hold the mail for hours. */
const ATTEMPT_MINUTES = 5

/** An attempt took too long. The server may have accepted the mail. */
export class AlertMailTimedOut extends Schema.TaggedError<AlertMailTimedOut>()("AlertMailTimedOut", {}) {
  override get message(): string {
    return `the server did not finish within ${ATTEMPT_MINUTES} minutes, and the connection was closed`
  }
}

export class NoAlertMail extends Schema.TaggedError<NoAlertMail>()("NoAlertMail", {}) {
  override get message(): string {
    return "no mail is configured: set alertmail and alertmailserver in svcd.conf, and restart"
  }
}

/** Mail about names that expire soon (`-alertmail`): one per block with notices, until the server accepts it. */
export class AlertMail extends Context.Tag("svcd/AlertMail")<AlertMail, {
  /** Adds notices to a state of the queues, which the caller stores together with the given notices. */
  readonly queued: (
    queues: ReadonlyArray<MailQueue>,
    notices: ReadonlyArray<MailNotice>
  ) => ReadonlyArray<MailQueue>
  /** Sends queued mail until the scope closes. */
  readonly run: Effect.Effect<void, never, Scope.Scope>
  /** Sends a test to each address and returns the results. */
  readonly test: Effect.Effect<ReadonlyArray<MailOutcome & { readonly address: string }>, NoAlertMail>
}>() {}

/** /health and getcheckinfo show failures after this time. */
const PATIENCE = Duration.toMillis("1 day")

const DISK_PAUSE = "1 minute"

const HEALTH = "alert mail"

const newId = Effect.sync(() => randomHex(16))

const make = (
  { addresses, send: sendAtAll }: AlertMailOptions
): Effect.Effect<typeof AlertMail.Service, never, AlertFile | DataHealth> =>
  Effect.gen(function*() {
    const send = (mail: OutgoingMail): Effect.Effect<MailOutcome> =>
      sendAtAll(mail).pipe(
        Effect.timeoutFail({ duration: `${ATTEMPT_MINUTES} minutes`, onTimeout: () => new AlertMailTimedOut() }),
        Effect.catchTag(
          "AlertMailTimedOut",
          ({ message: answer }) => Effect.succeed({ isAccepted: false, answer })
        )
      )
    const file = yield* AlertFile
    const health = yield* DataHealth
    const tests = yield* Effect.makeSemaphore(1)

    const queues = (): ReadonlyArray<MailQueue> => queuesOf(file.current().mail, addresses)
    /** Keeps the metric like the queues, as notices arrive even while a server delays a mail. */
    const counting = Effect.forever(Effect.suspend(() => {
      const changed = file.changed()
      alertMailsWaiting.set(mailsIn(queues()))
      return changed
    }))

    const become = (to: string, change: (queue: MailQueue) => MailQueue): Effect.Effect<void, StorageFailure> =>
      file.change((state) => ({ ...state, mail: replaced(queuesOf(state.mail, addresses), to, change) }))

    const worker = (to: string): Effect.Effect<never> => {
      let failures = 0
      let withdraw: Effect.Effect<void> = Effect.void
      let isNoticed = false

      const succeeded = (mail: SentMail): Effect.Effect<void> =>
        Effect.gen(function*() {
          const facts = { to, id: mail.id, names: mail.names.length + mail.more }
          yield* failures > 0
            ? Effect.logInfo("alert mail is sent again", facts)
            : Effect.logInfo("alert mail sent", facts)
          failures = 0
          isNoticed = false
          yield* withdraw
          withdraw = Effect.void
        })

      const notSent = (answer: string, since: Millis): Effect.Effect<void> =>
        Effect.gen(function*() {
          failures++
          const facts = { to, reason: answer, failures }
          yield* failures === 1
            ? Effect.logWarning("alert mail not sent: retrying", facts)
            : Effect.logDebug("alert mail not sent again", facts)
          if (isNoticed || (yield* Clock.currentTimeMillis) - since < PATIENCE) return
          isNoticed = true
          yield* Effect.logWarning("alert mail not sent for a day", facts)
          // Without the address and the answer, which may name a user: /health requires no credentials.
          withdraw = yield* health.notice({
            what: HEALTH,
            reason:
              "no mail about names that expire has reached an address for a day: the log has the address and the " +
              "server's answer; fix alertmailserver, then run testalertmail"
          })
        })

      const recorded = (mail: SentMail, { answer, isAccepted }: MailOutcome): Effect.Effect<boolean, StorageFailure> =>
        Effect.gen(function*() {
          alertMails.of(isAccepted ? "sent" : "failed").increase()
          if (isAccepted) {
            // First what a full disk does not affect: the notice of a day of failures ends.
            yield* succeeded(mail)
            yield* become(to, accepted)
            return true
          }
          const now = yield* Clock.currentTimeMillis
          const [queue] = queuesOf(file.current().mail, [to])
          const since = Math.min(queue?.failingSince ?? now, now)
          if (queue?.failingSince !== since) yield* become(to, (old) => failed(old, now))
          yield* notSent(answer, since)
          return false
        })

      const round = Effect.gen(function*() {
        const changed = file.changed()
        const [queue] = queuesOf(file.current().mail, [to])
        if (queue?.sending === undefined) {
          if (queue?.waiting === undefined) return yield* changed
          const made = { id: yield* newId, madeAt: yield* Clock.currentTimeMillis }
          return yield* become(to, (now) => begun(now, made))
        }
        // A change that could not be stored is stored before sending, as the id must be the same after a crash.
        if (!file.isSaved()) yield* become(to, (now) => now)
        const mail = queue.sending
        const isAccepted = yield* Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(restore(send({ type: "notices", to, mail })), (outcome) => recorded(mail, outcome))
        )
        if (isAccepted) return
        yield* Effect.sleep(pauseAfter({ attempts: failures, random: yield* Random.next }))
      })
      return Effect.forever(
        round.pipe(
          Effect.catchAll(({ message }) =>
            Effect.zipRight(
              Effect.logError("alert mail waits: a file of the node cannot be written", { reason: message }),
              Effect.sleep(DISK_PAUSE)
            )
          )
        )
      )
    }

    const test = Effect.forEach(addresses, (address) =>
      Effect.gen(function*() {
        const id = `test-${yield* newId}`
        const outcome = yield* send({ type: "test", to: address, id, madeAt: yield* Clock.currentTimeMillis })
        return { address, ...outcome }
      }))

    return AlertMail.of({
      queued: (before, notices) => withNotices(queuesOf(before, addresses), notices),
      run: Effect.forEach([counting, ...addresses.map(worker)], (each) => Effect.forkScoped(each), { discard: true })
        .pipe(
          Effect.annotateLogs("subsystem", "names")
        ),
      test: tests.withPermits(1)(test)
    })
  })

export const layer = (options: AlertMailOptions): Layer.Layer<AlertMail, never, AlertFile | DataHealth> =>
  Layer.effect(AlertMail, make(options))

/** A node without mail. Queued mail is dropped with the next notice. */
export const layerNoMail: Layer.Layer<AlertMail> = Layer.succeed(AlertMail, {
  queued: () => [],
  run: Effect.void,
  test: new NoAlertMail()
})
