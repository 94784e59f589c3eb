import * as Cache from "effect/Cache"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type { OpenFailure, ResolveFailure } from "../client/errors.ts"
import type { NameRecord } from "../client/records.ts"
import { readValue } from "./forwarding.ts"
import { nameOf } from "./label.ts"
import { type Forwarding, NoSuchRecipient, Recipients, RecipientsUnavailable } from "./Recipients.ts"

/**
 * `Recipients` from names. Answers are remembered briefly, and never beyond the name's expiry as far as later answers
 * show the height. Concurrent callers for one label share an answer.
 */

export interface NameRecipientsOptions {
  /** As `parseNamespace` returns it: `id/`. */
  readonly namespace: string
  /** Must fail rather than answer from a node that is behind, which may lack a name or know an old address. */
  readonly resolve: (name: string) => Effect.Effect<NameRecord, ResolveFailure | OpenFailure>
  /** Labels that are remembered, 10000 if omitted. The least recently used one is evicted. */
  readonly capacity?: number
}

const CAPACITY = 10_000

/** How long a change of a name may go unnoticed. */
const REMEMBERED = Duration.seconds(15)

/** For a name without mail: short, because its owner waits for it to work. */
const REMEMBERED_NONE = Duration.seconds(5)

/** For a whole lookup with its retries: the sender waits in its SMTP session. */
const PATIENCE = Duration.seconds(15)

interface Found extends Forwarding {
  readonly expiresAt: number
}

type Failure = NoSuchRecipient | RecipientsUnavailable

/** A failed lookup is repeated at once. */
const timeToLive = (exit: Exit.Exit<Found, Failure>): Duration.Duration =>
  Exit.match(exit, {
    onSuccess: () => REMEMBERED,
    onFailure: (cause) =>
      cause._tag === "Fail" && cause.error._tag === "NoSuchRecipient" ? REMEMBERED_NONE : Duration.zero
  })

const foundIn = (label: string, { asOf, expiresIn, value }: NameRecord): Effect.Effect<Found, NoSuchRecipient> => {
  const forwarding = readValue(value)
  return forwarding === undefined
    ? new NoSuchRecipient({ label, why: "no-mail" })
    : Effect.succeed({ email: forwarding.email, backup: forwarding.backup, expiresAt: asOf.height + expiresIn })
}

/** Logs the beginning and the end of an outage once each. */
class Outage {
  private lasts = false

  begin(reason: string): Effect.Effect<void> {
    if (this.lasts) return Effect.void
    this.lasts = true
    return Effect.logWarning("names cannot be looked up", { reason })
  }

  end(): Effect.Effect<void> {
    if (!this.lasts) return Effect.void
    this.lasts = false
    return Effect.logInfo("names can be looked up again")
  }
}

const make = ({ capacity = CAPACITY, namespace, resolve }: NameRecipientsOptions) =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const outage = new Outage()
    let height = 0

    const unavailable = (reason: string) =>
      Effect.zipRight(outage.begin(reason), Effect.fail(new RecipientsUnavailable({ reason })))

    const lookup = (label: string): Effect.Effect<Found, Failure> =>
      resolve(namespace + label).pipe(
        Effect.timeoutFail({
          duration: PATIENCE,
          onTimeout: () => new RecipientsUnavailable({ reason: "no answer in time" })
        }),
        Effect.tap(({ asOf }) => Effect.sync(() => void (height = Math.max(height, asOf.height)))),
        Effect.flatMap((record) => foundIn(label, record)),
        Effect.catchTags({
          NameNotFound: () => new NoSuchRecipient({ label, why: "unknown" }),
          NameExpired: () => new NoSuchRecipient({ label, why: "expired" }),
          InvalidRequest: () => new NoSuchRecipient({ label, why: "invalid-label" })
        }),
        Effect.catchIf((error) => error._tag !== "NoSuchRecipient", ({ message }) => unavailable(message)),
        Effect.tapErrorTag("NoSuchRecipient", () => outage.end()),
        Effect.zipLeft(outage.end())
      )

    const cache = yield* Cache.makeWith({ capacity, lookup, timeToLive })

    /** The cache keeps a failure until the clock moves on, even with a time to live of 0: this removes it. */
    const cached = (label: string): Effect.Effect<Found, Failure> =>
      Effect.tapErrorTag(cache.get(label), "RecipientsUnavailable", () => cache.invalidate(label))

    const current = (label: string): Effect.Effect<Found, Failure> =>
      Effect.flatMap(
        cached(label),
        (found) =>
          found.expiresAt > height
            ? Effect.succeed(found)
            : Effect.zipRight(cache.invalidate(label), cached(label))
      )

    return Recipients.of({
      forwardingOf: (text) => {
        const name = nameOf({ namespace, text })
        if (name === undefined) return new NoSuchRecipient({ label: text, why: "invalid-label" })
        // In its own fiber: a sender that disconnects must not end a lookup that others wait for.
        return Effect.forkIn(current(name.slice(namespace.length)), scope).pipe(Effect.flatMap(Fiber.join))
      }
    })
  })

export const layer = (options: NameRecipientsOptions): Layer.Layer<Recipients> =>
  Layer.scoped(Recipients, make(options))
