import { Context, Effect, Layer, Logger, Redacted, Scope } from "effect"
import { SyncStatus } from "../../src/chain/SyncStatus.ts"
import type { ConnectedBlock } from "../../src/chain/write/Follower.ts"
import type { WebhookChoice, WebhookFilter } from "../../src/config/webhookKinds.ts"
import { LightPart, NO_LIGHT } from "../../src/light/LightPart.ts"
import { cursorText } from "../../src/names/events/EventCursor.ts"
import type { NameEvent } from "../../src/names/events/NameEvent.ts"
import { NameEvents } from "../../src/names/events/NameEvents.ts"
import type { NameDb } from "../../src/names/NameDb.ts"
import { binaryString, displayHash, equal } from "../../src/protocol/bytes.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import type { NameEncoding } from "../../src/protocol/nameText.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import type { NewHook } from "../../src/webhooks/hookActions.ts"
import type { PostParts } from "../../src/webhooks/post.ts"
import * as Webhooks from "../../src/webhooks/Webhooks.ts"
import { applyAll, blockAt, type Operation, text, withNewDb } from "../names/blocks.ts"
import { Branches } from "../names/events/world.ts"

/** Webhooks over a names.db that a test moves along branches by hand. */

export const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"

export const ALL: WebhookFilter = { names: [], prefixes: [], owners: [], types: [] }

export const named = (name: string, value?: string, owner?: string): Operation => ({
  name: text(name),
  ...value === undefined ? {} : { value: text(value) },
  ...owner === undefined ? {} : { owner: text(owner) }
})

/** An event as short JSON: kind, name, and the cursor. */
const eventText = (event: NameEvent): string =>
  JSON.stringify({
    type: event.type,
    cursor: cursorText(event.cursor),
    hash: displayHash(event.hash),
    ...event.type === "undone"
      ? {
        names: event.names.map(({ name, record }) => [
          binaryString(name),
          record === undefined ? null : binaryString(record.value)
        ])
      }
      : event.type === "block"
      ? {}
      : { name: binaryString(event.record.name), value: binaryString(event.record.value) }
  })

export interface HookWorldOptions {
  readonly directory: string
  readonly choice?: Partial<WebhookChoice>
  readonly post?: Partial<PostParts>
  readonly isLight?: boolean
  readonly nameEncoding?: NameEncoding
}

export class HookWorld {
  readonly db: typeof NameDb.Service
  private readonly branches = new Branches()
  private chain: ReadonlyArray<ConnectedBlock> = []
  readonly events
  /** Whether the node counts as syncing. */
  isSyncing = false

  constructor(db: typeof NameDb.Service) {
    this.db = db
    this.events = this.branches.events(db)
  }

  /** Moves the chain: blocks at the heights from `from` on, of a branch with a letter. */
  grow(letter: string, from: number, lists: ReadonlyArray<ReadonlyArray<Operation>>) {
    const blocks = lists.map((list, i) => ({
      ...blockAt(from + i, list),
      hash: hash256(text(`${letter} ${from + i}`))
    }))
    return this.go([...this.chain.slice(0, from), ...blocks])
  }

  get blocks(): ReadonlyArray<ConnectedBlock> {
    return this.chain
  }

  go(to: ReadonlyArray<ConnectedBlock>) {
    const same = this.chain.findIndex(({ hash }, i) => to[i] === undefined || !equal(to[i].hash, hash))
    const shared = same < 0 ? this.chain.length : same
    const [fork] = to.slice(shared - 1, shared)
    this.branches.add(to.slice(shared), fork)
    this.branches.tip = to.at(-1)
    const rewind = shared < this.chain.length && fork !== undefined ? this.db.follower.rewind(fork) : Effect.void
    this.chain = to
    return Effect.zipRight(rewind, applyAll(this.db, [to.slice(shared)]))
  }

  /** The service on webhooks.db of a directory. Closing the scope is the end of the process. */
  open({ choice, directory, isLight = false, nameEncoding = "ascii", post }: HookWorldOptions) {
    const layer = Webhooks.layer({
      filename: `${directory}/webhooks.db`,
      pageSize: 4096,
      choice: { configured: [], allowPrivate: true, ...choice },
      nameEncoding,
      textOf: eventText,
      ...post === undefined ? {} : { post }
    }).pipe(
      Layer.provide(Layer.succeed(NameEvents, this.events)),
      Layer.provide(Layer.succeed(LightPart, { ...NO_LIGHT, stays: isLight })),
      Layer.provide(Layer.mock(SyncStatus, { syncing: Effect.sync(() => this.isSyncing) })),
      Layer.provide(DataHealth.layer),
      Layer.provide(Logger.remove(Logger.defaultLogger))
    )
    return Effect.gen(function*() {
      const scope = yield* Effect.acquireRelease(Scope.make(), (made, exit) => Scope.close(made, exit))
      const context = yield* Layer.buildWithScope(layer, scope)
      const hooks = Context.get(context, Webhooks.Webhooks)
      return { hooks, scope }
    })
  }
}

/** Works with an empty chain of one block. */
export const withWorld = <A, E, R>(use: (world: HookWorld) => Effect.Effect<A, E, R>) =>
  withNewDb((db) =>
    Effect.gen(function*() {
      const world = new HookWorld(db)
      yield* world.grow("a", 0, [[]])
      return yield* Effect.scoped(use(world))
    })
  )

/** A hook that a caller adds. */
export const hookTo = (url: string, more: Partial<NewHook> = {}): NewHook => ({
  url,
  secret: Redacted.make(SECRET),
  filter: ALL,
  from: undefined,
  ...more
})
