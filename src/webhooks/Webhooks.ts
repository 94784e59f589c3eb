import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { isIP } from "node:net"
import { networkInterfaces } from "node:os"
import { quoted } from "../base/safeText.ts"
import { withoutSpan } from "../base/spans.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import { keyOfSecret, type WebhookChoice, type WebhookSettings } from "../config/webhookKinds.ts"
import { LightPart } from "../light/LightPart.ts"
import { WEBHOOK_STATES, webhookLag, webhooks } from "../metrics/webhookMetrics.ts"
import type { EventCursor } from "../names/events/EventCursor.ts"
import { readFilter } from "../names/events/filterTexts.ts"
import type { NameEvent } from "../names/events/NameEvent.ts"
import { NameEvents } from "../names/events/NameEvents.ts"
import type { NameEncoding } from "../protocol/nameText.ts"
import type { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { forbiddenAddress, type ForbiddenKind } from "./addressRule.ts"
import { type WebhookMisconfigured, WebhookRefused } from "./errors.ts"
import { openHookFile } from "./hookFile.ts"
import { testBody } from "./hookMessage.ts"
import { newRow, resumed } from "./hookProgress.ts"
import { filterText, MAX_HOOKS, newHookId, newSecret, originOf, readConfigured, storedFilter } from "./hookSettings.ts"
import type { HookRow } from "./HookStore.ts"
import { type HookView, hookViewOf } from "./hookView.ts"
import { hookWorker, type LiveHook } from "./HookWorker.ts"
import { type HookAnswer, post, type PostParts, systemResolve } from "./post.ts"
import { signedHeaders } from "./signature.ts"

/** A hook that a caller adds. Without a secret the node makes one. */
export type NewHook = Omit<WebhookSettings, "secret"> & {
  readonly secret: Redacted.Redacted<string> | undefined
}

/** Sends events of names to programs by HTTP, each with a cursor of its own (docs/webhooks.md). */
export class Webhooks extends Context.Tag("svcd/Webhooks")<Webhooks, {
  readonly list: Effect.Effect<ReadonlyArray<HookView>, StorageFailure>
  /** Adds a hook, which begins at once. Returns its id and its secret. */
  readonly add: (
    hook: NewHook
  ) => Effect.Effect<
    { readonly id: string; readonly secret: Redacted.Redacted<string> },
    WebhookRefused | StorageFailure
  >
  /** Removes a hook that the configuration does not have. A message on its way is interrupted. */
  readonly remove: (id: string) => Effect.Effect<void, WebhookRefused | StorageFailure>
  /** Sends again to a hook: from a cursor on (`now`: the next block), or behind its last accepted message. */
  readonly resume: (
    hook: { readonly id: string; readonly from: string | undefined }
  ) => Effect.Effect<void, WebhookRefused | StorageFailure>
  /** Sends one message without an event, and returns what came back. */
  readonly test: (id: string) => Effect.Effect<HookAnswer, WebhookRefused>
  /** Begins to send, until the scope of the service closes. The names have to be at the tip of the stored chain. */
  readonly start: Effect.Effect<void>
  /** Updates the metrics. */
  readonly sample: Effect.Effect<void>
}>() {}

export interface WebhooksOptions {
  /** webhooks.db. It is made with the first hook. */
  readonly filename: string
  readonly pageSize: number
  readonly choice: WebhookChoice
  /** Of names and prefixes in filters. */
  readonly nameEncoding: NameEncoding
  /** Writes an event as `/events` does. */
  readonly textOf: (event: NameEvent) => string
  /** For tests. */
  readonly post?: Partial<PostParts>
}

/** Tests at one time. */
const MAX_TESTS = 4

const refused = (why: WebhookRefused["why"], reason: string) => new WebhookRefused({ why, reason })

const missing = (id: string) => refused("missing", `there is no webhook ${quoted(id)}; listwebhooks has their ids`)

const LIGHT = "a light node has no log of events: start it without -sync=light"

/** A hook with what its file does not have. */
interface KnownHook extends LiveHook {
  /** `undefined` if the configuration does not have it any more: nothing is sent. */
  readonly key: Uint8Array | undefined
}

const make = (
  options: WebhooksOptions
): Effect.Effect<
  typeof Webhooks.Service,
  StorageFailure | WebhookMisconfigured,
  DataHealth | LightPart | NameEvents | Scope.Scope | SyncStatus
> =>
  Effect.gen(function*() {
    const { choice, nameEncoding, textOf } = options
    const events = yield* NameEvents
    const { stays: isLight } = yield* LightPart
    const { syncing } = yield* SyncStatus
    const writing = { network: events.params.network, nameEncoding }
    const configured = yield* readConfigured(choice.configured, writing)
    const file = yield* openHookFile(options)
    const workers = yield* FiberMap.make<string>()
    const inOrder = yield* Effect.makeSemaphore(1)
    const tests = yield* Effect.makeSemaphore(MAX_TESTS)
    const hooks = new Map<string, KnownHook>()
    let isStarted = false

    const configuredOf = ({ source, url }: HookRow) =>
      source === "configuration" ? configured.find((hook) => hook.url === url) : undefined

    /** A stored hook with its settings, which the configuration may have changed. */
    const knownOf = (row: HookRow): KnownHook => {
      const origin = originOf(row.url)
      if (row.source === "configuration") {
        const own = configuredOf(row)
        return own === undefined
          ? { row, origin, filter: {}, key: undefined }
          : { row: { ...row, filter: filterText(own.filter, nameEncoding) }, origin, filter: own.events, key: own.key }
      }
      const stored = storedFilter(row)
      const filter = readFilter(stored.filter, { ...writing, nameEncoding: stored.nameEncoding ?? nameEncoding })
      // Without its filter a hook would send what its receiver does not want: then it sends nothing.
      if (Either.isLeft(filter) || row.secret === undefined) return { row, origin, filter: {}, key: undefined }
      return { row, origin, filter: filter.right, key: keyOfSecret(Redacted.make(row.secret)) }
    }

    /** Why the node must not send to the address that is in a URL. It may have been started with other settings before. */
    const forbiddenOf = ({ source, url }: Pick<HookRow, "source" | "url">): ForbiddenKind | undefined =>
      source === "configuration" || choice.allowPrivate ? undefined : forbiddenHost(url)

    const partsFor = ({ source }: HookRow): PostParts => ({
      resolve: systemResolve,
      forbidden: source === "configuration" || choice.allowPrivate ? () => undefined : forbiddenHere,
      ...options.post
    })

    const send = ({ row }: LiveHook, { body, id }: { readonly id: string; readonly body: string }) =>
      Effect.gen(function*() {
        const key = hooks.get(row.id)?.key
        if (key === undefined) return yield* Effect.dieMessage(`webhook ${row.id} has no secret`)
        const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
        return yield* post({ url: row.url, body, headers: signedHeaders({ id, timestamp, body }, key) }, partsFor(row))
      })

    const run = (hook: KnownHook): Effect.Effect<void> => {
      if (!isStarted || isLight || hook.key === undefined) return Effect.void
      const worker = hookWorker(hook, { events, textOf, send, syncing, put: file.put })
      return Effect.asVoid(FiberMap.run(workers, hook.row.id, withoutSpan(annotated(worker))))
    }

    const placeOf = (from: string | undefined): Effect.Effect<EventCursor, WebhookRefused | StorageFailure> =>
      from === undefined || from === "now"
        ? events.now
        : Effect.mapError(events.cursor(from), () =>
          refused("parameter", `from: ${quoted(from)} is not "now", "0" or a cursor of svcd`))

    const found = (id: string): Effect.Effect<KnownHook, WebhookRefused> =>
      Effect.suspend(() => {
        const hook = hooks.get(id)
        return hook === undefined ? missing(id) : Effect.succeed(hook)
      })

    const list = Effect.map(events.now, ({ height }) =>
      [...hooks.values()].map(({ key, row }) =>
        hookViewOf(row, { height, isLight, isConfigured: key !== undefined, forbidden: forbiddenOf(row) })
      ))

    const add = ({ filter, from, secret = newSecret(), url }: NewHook) =>
      Effect.gen(function*() {
        if (isLight) {
          return yield* refused("state", LIGHT)
        }
        if (hooks.size >= MAX_HOOKS) {
          return yield* refused("state", `there are ${MAX_HOOKS} webhooks: remove one first`)
        }
        const kind = forbiddenOf({ source: "rpc", url })
        if (kind !== undefined) {
          return yield* refused(
            "parameter",
            `url: its address is ${kind}; -webhookprivate allows that, and a webhook of the configuration file may`
          )
        }
        yield* Effect.mapError(readFilter(filter, writing), (reason) =>
          refused("parameter", reason))
        const hook = knownOf(newRow({
          id: newHookId(),
          source: "rpc",
          url,
          secret: Redacted.value(secret),
          filter: filterText(filter, nameEncoding),
          position: yield* placeOf(from)
        }))
        const { row: { id } } = hook
        yield* file.put(hook.row)
        hooks.set(id, hook)
        yield* run(hook)
        yield* annotated(Effect.logInfo("webhook added", { hook: id, origin: hook.origin }))
        return { id, secret }
      })

    const remove = (id: string) =>
      Effect.gen(function*() {
        const { key, origin, row } = yield* found(id)
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

    const resume = ({ from, id }: { readonly id: string; readonly from: string | undefined }) =>
      Effect.gen(function*() {
        const hook = yield* found(id)
        if (isLight) {
          return yield* refused("state", LIGHT)
        }
        if (hook.key === undefined) {
          return yield* refused("state", "the webhook is missing from the configuration file")
        }
        const place = from === undefined ? undefined : yield* placeOf(from)
        // The worker stops first: it changes the row.
        yield* FiberMap.remove(workers, id)
        const row = resumed(hook.row, place)
        yield* Effect.ensuring(
          Effect.tap(file.put(row), () =>
            Effect.sync(() =>
              void (hook.row = row)
            )),
          Effect.suspend(() => run(hook))
        )
        yield* annotated(Effect.logInfo("webhook resumed", { hook: id, origin: hook.origin }))
      })

    const test = (id: string) =>
      Effect.gen(function*() {
        const hook = yield* found(id)
        if (hook.key === undefined) return yield* refused("state", "the webhook is missing from the configuration file")
        const message = { id: `msg_${id}_test_${randomBytes(8).toString("hex")}`, body: testBody(id) }
        return yield* tests.withPermits(1)(send(hook, message))
      })

    const start = Effect.gen(function*() {
      isStarted = true
      if (isLight) {
        if (hooks.size + configured.length > 0) yield* Effect.logWarning("webhooks wait", { reason: LIGHT })
        return
      }
      for (const { begin, filter, url } of configured) {
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
          filter: filterText(filter, nameEncoding),
          position
        })
        yield* file.put(row)
        hooks.set(row.id, knownOf(row))
      }
      for (const hook of hooks.values()) {
        if (hook.key === undefined) {
          yield* Effect.logWarning("webhook is missing from the configuration: nothing is sent to it", {
            hook: hook.row.id,
            origin: hook.origin
          })
        }
        const kind = forbiddenOf(hook.row)
        if (kind !== undefined) {
          yield* Effect.logWarning("webhook has an address that only -webhookprivate allows: see listwebhooks", {
            hook: hook.row.id,
            origin: hook.origin,
            address: kind
          })
        }
        yield* run(hook)
      }
    })

    const begin: Effect.Effect<void> = Effect.catchAll(inOrder.withPermits(1)(start), ({ message }) =>
      Effect.zipRight(
        Effect.logError("webhooks cannot begin: they are tried again in a minute", { reason: message }),
        Effect.asVoid(FiberMap.run(workers, "start", Effect.delay(Effect.suspend(() => begin), "1 minute")))
      ))

    for (const row of file.rows) hooks.set(row.id, knownOf(row))

    return Webhooks.of({
      list,
      add: (hook) => inOrder.withPermits(1)(Effect.uninterruptible(add(hook))),
      remove: (id) => inOrder.withPermits(1)(Effect.uninterruptible(remove(id))),
      resume: (hook) => inOrder.withPermits(1)(Effect.uninterruptible(resume(hook))),
      test,
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

const annotated = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.annotateLogs(effect, "subsystem", "webhooks")

/** Why the address that a URL itself has is forbidden. A host name is resolved for each attempt. */
const forbiddenHost = (url: string): ForbiddenKind | undefined => {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "")
  return isIP(host) === 0 ? undefined : forbiddenHere(host)
}

/** Why the node on this machine must not send to an address. The machine's own may change while it runs. */
const forbiddenHere = (address: string): ForbiddenKind | undefined =>
  forbiddenAddress(
    address,
    Object.values(networkInterfaces()).flatMap((found) => (found ?? []).map((each) => each.address))
  )

export const layer = (
  options: WebhooksOptions
): Layer.Layer<Webhooks, StorageFailure | WebhookMisconfigured, DataHealth | LightPart | NameEvents | SyncStatus> =>
  Layer.scoped(Webhooks, make(options))
