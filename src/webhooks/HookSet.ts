import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import type * as Scope from "effect/Scope"
import { withoutSpan } from "../base/spans.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import type { WebhookChoice } from "../config/webhookKinds.ts"
import { LightPart } from "../light/LightPart.ts"
import type { NameEvent } from "../names/events/NameEvent.ts"
import { NameEvents } from "../names/events/NameEvents.ts"
import type { NameEncoding } from "../protocol/nameText.ts"
import type { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { WebhookMisconfigured } from "./errors.ts"
import { type HookFile, openHookFile } from "./hookFile.ts"
import { readConfigured } from "./hookSettings.ts"
import { hookWorker, type HookWorkerParts } from "./HookWorker.ts"
import { type HookSettings, type KnownHook, knownOf, postPartsFor } from "./knownHook.ts"
import { type HookAnswer, type HookRequest, post, type PostParts } from "./post.ts"
import { signedHeaders } from "./signature.ts"

export interface WebhooksOptions {
  /** webhooks.db, created with the first hook. */
  readonly filename: string
  readonly pageSize: number
  readonly choice: WebhookChoice
  /** Encoding of names and prefixes in filters. */
  readonly nameEncoding: NameEncoding
  /** Writes an event as `/events` does. */
  readonly textOf: (event: NameEvent) => string
  readonly post?: Partial<PostParts>
  /** Sends a message in place of an HTTP client. */
  readonly send?: ((asked: HookRequest) => Effect.Effect<HookAnswer>) | undefined
}

/** The webhooks of a node, and the fibers that send to them. */
export interface HookSet {
  readonly settings: HookSettings
  readonly events: typeof NameEvents.Service
  /** Whether nothing is sent because a light node has no events. */
  readonly isLight: boolean
  readonly file: HookFile
  readonly hooks: Map<string, KnownHook>
  /** The sending fibers, by hook id. */
  readonly workers: FiberMap.FiberMap<string>
  readonly send: HookWorkerParts["send"]
  /** Lets a hook send, once `started` is set. */
  readonly run: (hook: KnownHook) => Effect.Effect<void>
  started: boolean
}

export const annotated = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.annotateLogs(effect, "subsystem", "webhooks")

export const makeHookSet = (
  options: WebhooksOptions
): Effect.Effect<
  HookSet,
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
    const settings: HookSettings = { choice, configured, writing, post: options.post }
    const file = yield* openHookFile(options)
    const workers = yield* FiberMap.make<string>()
    const hooks = new Map(file.rows.map((row) => [row.id, knownOf(settings, row)]))

    const send: HookSet["send"] = ({ row }, { body, id }) =>
      Effect.gen(function*() {
        const key = hooks.get(row.id)?.key
        if (key === undefined) return yield* Effect.dieMessage(`webhook ${row.id} has no secret`)
        const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
        const asked = { url: row.url, body, headers: signedHeaders({ id, timestamp, body }, key) }
        return yield* options.send?.(asked) ?? post(asked, postPartsFor(settings, row))
      })

    const run = (hook: KnownHook): Effect.Effect<void> => {
      if (!set.started || isLight || hook.key === undefined) return Effect.void
      const worker = hookWorker(hook, { events, textOf, send, syncing, put: file.put })
      return Effect.asVoid(FiberMap.run(workers, hook.row.id, withoutSpan(annotated(worker))))
    }

    const set: HookSet = { settings, events, isLight, file, hooks, workers, send, run, started: false }
    return set
  })
