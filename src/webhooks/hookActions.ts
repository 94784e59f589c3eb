import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Redacted from "effect/Redacted"
import { randomHex } from "../base/entropy.ts"
import { quoted } from "../base/safeText.ts"
import type { WebhookSettings } from "../config/webhookKinds.ts"
import type { EventCursor } from "../names/events/EventCursor.ts"
import { readFilter } from "../names/events/filterTexts.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { WebhookRefused } from "./errors.ts"
import { testBody } from "./hookMessage.ts"
import { newRow, resumed } from "./hookProgress.ts"
import { annotated, type HookSet } from "./HookSet.ts"
import { filterText, MAX_HOOKS, newHookId, newSecret, originOf } from "./hookSettings.ts"
import { forbiddenOf, type KnownHook, knownOf } from "./knownHook.ts"

/** A hook that a caller adds. Without a secret, the node makes one. */
export type NewHook = Omit<WebhookSettings, "secret"> & {
  readonly secret: Redacted.Redacted<string> | undefined
}

const LIGHT = "a light node has no log of events: start it without -sync=light"

const refused = (why: WebhookRefused["why"], reason: string) => new WebhookRefused({ why, reason })

const missing = (id: string) => refused("missing", `there is no webhook ${quoted(id)}; listwebhooks has their ids`)

const placeOf = (
  { events }: HookSet,
  from: string | undefined
): Effect.Effect<EventCursor, WebhookRefused | StorageFailure> =>
  from === undefined || from === "now"
    ? events.now
    : Effect.mapError(events.cursor(from), () =>
      refused("parameter", `from: ${quoted(from)} is not "now", "0" or a cursor of svcd`))

const found = ({ hooks }: HookSet, id: string): Effect.Effect<KnownHook, WebhookRefused> =>
  Effect.suspend(() => {
    const hook = hooks.get(id)
    return hook === undefined ? missing(id) : Effect.succeed(hook)
  })

/** Adds a hook, which begins at once. Returns its id and secret. */
export const addHook = (set: HookSet, { filter, from, secret = newSecret(), url }: NewHook) =>
  Effect.gen(function*() {
    const { file, hooks, isLight, settings } = set
    const { writing } = settings
    if (isLight) return yield* refused("state", LIGHT)
    if (hooks.size >= MAX_HOOKS) {
      return yield* refused("state", `there are ${MAX_HOOKS} webhooks: remove one first`)
    }
    const kind = forbiddenOf(settings, { source: "rpc", url })
    if (kind !== undefined) {
      return yield* refused(
        "parameter",
        `url: its address is ${kind}; -webhookprivate allows that, and a webhook of the configuration file may`
      )
    }
    yield* Effect.mapError(readFilter(filter, writing), (reason) => refused("parameter", reason))
    const hook = knownOf(
      settings,
      newRow({
        id: newHookId(),
        source: "rpc",
        url,
        secret: Redacted.value(secret),
        filter: filterText(filter, writing.nameEncoding),
        position: yield* placeOf(set, from)
      })
    )
    const { row: { id } } = hook
    yield* file.put(hook.row)
    hooks.set(id, hook)
    yield* set.run(hook)
    yield* annotated(Effect.logInfo("webhook added", { hook: id, origin: hook.origin }))
    return { id, secret }
  })

export const removeHook = (set: HookSet, id: string) =>
  Effect.gen(function*() {
    const { file, hooks, workers } = set
    const { key, origin, row } = yield* found(set, id)
    if (row.source === "configuration" && key !== undefined) {
      return yield* refused(
        "state",
        "the webhook is in the configuration file: remove it there and start the node again"
      )
    }
    yield* FiberMap.remove(workers, id)
    yield* file.remove(id)
    hooks.delete(id)
    yield* annotated(Effect.logInfo("webhook removed", { hook: id, origin }))
  })

export const resumeHook = (
  set: HookSet,
  { from, id }: { readonly id: string; readonly from: string | undefined }
) =>
  Effect.gen(function*() {
    const { file, isLight, workers } = set
    const hook = yield* found(set, id)
    if (isLight) return yield* refused("state", LIGHT)
    if (hook.key === undefined) {
      return yield* refused("state", "the webhook is missing from the configuration file")
    }
    const place = from === undefined ? undefined : yield* placeOf(set, from)
    // The worker stops first, as it changes the row.
    yield* FiberMap.remove(workers, id)
    const row = resumed(hook.row, place)
    yield* Effect.ensuring(
      Effect.tap(file.put(row), () => Effect.sync(() => void (hook.row = row))),
      Effect.suspend(() => set.run(hook))
    )
    yield* annotated(Effect.logInfo("webhook resumed", { hook: id, origin: hook.origin }))
  })

export const testHook = (set: HookSet, id: string) =>
  Effect.gen(function*() {
    const hook = yield* found(set, id)
    if (hook.key === undefined) return yield* refused("state", "the webhook is missing from the configuration file")
    const message = { id: `msg_${id}_test_${randomHex(8)}`, body: testBody(id) }
    return yield* set.send(hook, message)
  })

const storeConfigured = ({ events, file, hooks, settings }: HookSet): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    for (const { begin, filter, url } of settings.configured) {
      if ([...hooks.values()].some(({ row }) => row.source === "configuration" && row.url === url)) continue
      if (hooks.size >= MAX_HOOKS) {
        yield* Effect.logError("webhook of the configuration is not used: there are too many; see listwebhooks", {
          origin: originOf(url)
        })
        continue
      }
      const position = begin ?? (yield* events.now)
      const row = newRow({
        id: newHookId(),
        source: "configuration",
        url,
        secret: undefined,
        filter: filterText(filter, settings.writing.nameEncoding),
        position
      })
      yield* file.put(row)
      hooks.set(row.id, knownOf(settings, row))
    }
  })

/** Lets all hooks send. New ones of the configuration begin now. */
export const startHooks = (set: HookSet): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const { hooks, isLight, settings } = set
    set.started = true
    if (isLight) {
      if (hooks.size + settings.configured.length > 0) yield* Effect.logWarning("webhooks wait", { reason: LIGHT })
      return
    }
    yield* storeConfigured(set)
    for (const hook of hooks.values()) {
      if (hook.key === undefined) {
        yield* Effect.logWarning("webhook is missing from the configuration: nothing is sent to it", {
          hook: hook.row.id,
          origin: hook.origin
        })
      }
      const kind = forbiddenOf(settings, hook.row)
      if (kind !== undefined) {
        yield* Effect.logWarning("webhook has an address that only -webhookprivate allows: see listwebhooks", {
          hook: hook.row.id,
          origin: hook.origin,
          address: kind
        })
      }
      yield* set.run(hook)
    }
  })
