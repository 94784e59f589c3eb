import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { SyncStatus } from "../chain/SyncStatus.ts"
import type { LightPart } from "../light/LightPart.ts"
import { WEBHOOK_STATES, webhookLag, webhooks } from "../metrics/webhookMetrics.ts"
import type { NameEvents } from "../names/events/NameEvents.ts"
import type { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { WebhookMisconfigured, WebhookRefused } from "./errors.ts"
import { addHook, type NewHook, removeHook, resumeHook, startHooks, testHook } from "./hookActions.ts"
import { annotated, makeHookSet, type WebhooksOptions } from "./HookSet.ts"
import { type HookView, hookViewOf } from "./hookView.ts"
import { forbiddenOf } from "./knownHook.ts"
import type { HookAnswer } from "./post.ts"

/** Sends events of names to programs by HTTP, each with its own cursor (docs/webhooks.md). */
export class Webhooks extends Context.Tag("svcd/Webhooks")<Webhooks, {
  readonly list: Effect.Effect<ReadonlyArray<HookView>, StorageFailure>
  /** Adds a hook, which begins at once. Returns its id and secret. */
  readonly add: (
    hook: NewHook
  ) => Effect.Effect<
    { readonly id: string; readonly secret: Redacted.Redacted<string> },
    WebhookRefused | StorageFailure
  >
  /** Removes a hook that is not in the configuration. Interrupts a message being sent. */
  readonly remove: (id: string) => Effect.Effect<void, WebhookRefused | StorageFailure>
  /** Resumes a hook from a cursor (`now`: the next block), or after its last accepted message. */
  readonly resume: (
    hook: { readonly id: string; readonly from: string | undefined }
  ) => Effect.Effect<void, WebhookRefused | StorageFailure>
  /** Sends one message without an event, and returns the answer. */
  readonly test: (id: string) => Effect.Effect<HookAnswer, WebhookRefused>
  /** Sends until the scope of the service closes. The names must be at the tip of the stored chain. */
  readonly start: Effect.Effect<void>
  readonly sample: Effect.Effect<void>
}>() {}

const MAX_TESTS = 4

const make = (
  options: WebhooksOptions
): Effect.Effect<
  typeof Webhooks.Service,
  StorageFailure | WebhookMisconfigured,
  DataHealth | LightPart | NameEvents | Scope.Scope | SyncStatus
> =>
  Effect.gen(function*() {
    const set = yield* makeHookSet(options)
    const inOrder = yield* Effect.makeSemaphore(1)
    const tests = yield* Effect.makeSemaphore(MAX_TESTS)
    const alone = <A, E>(change: Effect.Effect<A, E>) => inOrder.withPermits(1)(Effect.uninterruptible(change))

    const list = Effect.map(set.events.now, ({ height }) =>
      [...set.hooks.values()].map(({ key, row }) =>
        hookViewOf(row, {
          height,
          isLight: set.isLight,
          isConfigured: key !== undefined,
          forbidden: forbiddenOf(set.settings, row)
        })
      ))

    const again = Effect.suspend((): Effect.Effect<void> =>
      Effect.delay(begin, "1 minute")
    )
    const begin = Effect.catchAll(inOrder.withPermits(1)(startHooks(set)), ({ message }) =>
      Effect.zipRight(
        Effect.logError("webhooks cannot start: retrying in a minute", { reason: message }),
        Effect.asVoid(FiberMap.run(set.workers, "start", again))
      ))

    return Webhooks.of({
      list,
      add: (hook) => alone(addHook(set, hook)),
      remove: (id) => alone(removeHook(set, id)),
      resume: (hook) => alone(resumeHook(set, hook)),
      test: (id) => tests.withPermits(1)(testHook(set, id)),
      start: annotated(begin),
      sample: Effect.matchEffect(list, {
        onFailure: ({ message }) => annotated(Effect.logDebug("webhooks cannot be counted", { reason: message })),
        onSuccess: (views) =>
          Effect.sync(() => {
            for (const state of WEBHOOK_STATES) {
              webhooks.of(state).set(views.filter((view) => view.state === state).length)
            }
            webhookLag.set(
              views.reduce((most, { lag, state }) => state === "unconfigured" ? most : Math.max(most, lag), 0)
            )
          })
      })
    })
  })

export const layer = (
  options: WebhooksOptions
): Layer.Layer<Webhooks, StorageFailure | WebhookMisconfigured, DataHealth | LightPart | NameEvents | SyncStatus> =>
  Layer.scoped(Webhooks, make(options))
