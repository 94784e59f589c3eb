import { Effect, Layer } from "effect"
import { type ClientRequest, get, type IncomingMessage } from "node:http"
import { ExpiringNames } from "../../../src/alerts/ExpiringNames.ts"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import type { ConnectedBlock } from "../../../src/chain/write/Follower.ts"
import type { PageHandler, Pages } from "../../../src/http/Pages.ts"
import * as LiveEvents from "../../../src/mempool/live/LiveEvents.ts"
import { NameEvents } from "../../../src/names/events/NameEvents.ts"
import { addressOf, scriptOf } from "../../../src/protocol/address.ts"
import { hash256 } from "../../../src/protocol/hash.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { AnswerOptions } from "../../../src/rpc/AnswerOptions.ts"
import { eventsPage } from "../../../src/web/events/eventsPage.ts"
import { applyAll, blockAt, type Operation, text, withNewDb } from "../../names/blocks.ts"
import { Branches } from "../../names/events/world.ts"
import { testServer, type TestServerOptions } from "../../support/rpcServer.ts"

/** A server with `/events` over names.db and branches of blocks. */

export const OPTIONS = Layer.succeed(AnswerOptions, {
  nameEncoding: "ascii",
  valueEncoding: "ascii",
  allowExpired: false,
  nameHistory: false,
  nameHashIndex: false
})

const statusOf = (syncing: boolean): Layer.Layer<SyncStatus> =>
  Layer.succeed(SyncStatus, {
    offline: Effect.succeed(false),
    syncing: Effect.succeed(syncing),
    initialDownload: Effect.succeed(syncing),
    loading: Effect.succeed(false),
    loaded: Effect.void,
    load: () => Effect.void,
    expect: () => Effect.void,
    answered: Effect.void
  })

export const SYNCED = statusOf(false)
export const SYNCING = statusOf(true)

/** A node that watches d/a, and whose wallet has ALICE's key. */
export const SUBJECTS = Layer.succeed(ExpiringNames, {
  list: () => Effect.dieMessage("no list"),
  isMine: (script) => Buffer.from(ALICE_SCRIPT).equals(script),
  isWatched: (name) => Buffer.from(name).toString() === "d/a",
  isRenewed: () => false,
  isSearching: () => false,
  outlooks: Effect.succeed([])
})

export const rand = Uint8Array.of(1)

export const branch = (letter: string, from: number, lists: ReadonlyArray<ReadonlyArray<Operation>>) =>
  lists.map((list, i): ConnectedBlock => ({ ...blockAt(from + i, list), hash: hash256(text(`${letter}${from + i}`)) }))

export const world = (
  lists: ReadonlyArray<ReadonlyArray<Operation>>,
  use: (parts: {
    readonly db: Parameters<Branches["events"]>[0]
    readonly branches: Branches
    readonly blocks: ReadonlyArray<ConnectedBlock>
    readonly port: number
    readonly page: PageHandler
    readonly pages: typeof Pages.Service
  }) => Effect.Effect<void, unknown>,
  options: TestServerOptions = {},
  syncStatus = SYNCED
) =>
  Effect.scoped(withNewDb((db) =>
    Effect.gen(function*() {
      const blocks = branch("a", 0, lists)
      const branches = new Branches()
      branches.add(blocks)
      branches.tip = blocks.at(-1)
      yield* applyAll(db, [blocks])
      const { pages, port } = yield* testServer(options)
      const page = yield* eventsPage.pipe(
        Effect.provideService(NameEvents, branches.events(db)),
        Effect.provide([SUBJECTS, OPTIONS, LiveEvents.layerNoMempool, syncStatus])
      )
      yield* pages.install([page])
      yield* use({ db, branches, blocks, port, page, pages })
    })
  ))

export const ALICE_SCRIPT = scriptOf({ kind: "pubkeyhash", hash: new Uint8Array(20).fill(7) })
export const ALICE = addressOf(regtest, ALICE_SCRIPT)

export const LISTS: ReadonlyArray<ReadonlyArray<Operation>> = [
  [],
  [{ name: text("d/a"), rand, value: text("1") }, { name: text("id/b"), rand, value: text("2"), owner: ALICE_SCRIPT }],
  [{ name: text("d/a"), value: text("3") }]
]

export interface Reader {
  readonly request: ClientRequest
  readonly lines: () => ReadonlyArray<string>
  readonly length: () => number
  readonly received: () => string
  readonly answer: () => IncomingMessage | undefined
  readonly ended: () => boolean
}

/** Reads a stream until the scope ends. */
export const reader = (port: number, query: string, headers: Record<string, string> = {}) =>
  Effect.acquireRelease(
    Effect.sync((): Reader => {
      let received = ""
      let answer: IncomingMessage | undefined
      let over = false
      const request = get({ port, host: "127.0.0.1", path: `/events${query}`, agent: false, headers }, (incoming) => {
        answer = incoming
        incoming.on("data", (part: Buffer) => (received += part.toString()))
        incoming.on("close", () => (over = true))
        incoming.on("error", () => {})
      })
      request.on("error", () => (over = true))
      return {
        request,
        length: () => received.length,
        received: () => received,
        lines: () => received.split("\n").slice(0, -1),
        answer: () => answer,
        ended: () => over
      }
    }),
    ({ request }) => Effect.sync(() => request.destroy())
  )

export const LINES = { accept: "application/x-ndjson" }

/** The events of a reader of lines. */
export const eventsOf = (from: Reader) =>
  from.lines().map((line) => JSON.parse(line)).filter(({ type }) => type !== "position")
