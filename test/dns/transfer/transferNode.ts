import { Effect, Layer, Redacted, Stream } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { Chain } from "../../../src/chain/Chain.ts"
import type { DnsSettings } from "../../../src/config/dnsOptions.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import * as Responder from "../../../src/dns/Responder.ts"
import * as DnsServer from "../../../src/dns/serve/DnsServer.ts"
import { serialsLayer, transfersLayer } from "../../../src/dns/transfer/transferLayer.ts"
import { ZoneSerials } from "../../../src/dns/transfer/ZoneSerials.ts"
import { ZoneTransfers } from "../../../src/dns/transfer/ZoneTransfers.ts"
import { wireNameOfHost } from "../../../src/dns/wire/name.ts"
import * as LightPart from "../../../src/light/LightPart.ts"
import { NameAnswers } from "../../../src/light/NameAnswers.ts"
import { SyncReporter } from "../../../src/light/SyncReporter.ts"
import * as NameDb from "../../../src/names/NameDb.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { applyAll, blockAt, hashAt, type Operation, text } from "../../names/blocks.ts"
import { askWhile } from "../../support/askNames.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { responderOptions } from "../../support/dnsNode.ts"
import { noTree } from "../../support/noTree.ts"

/** A primary: names.db, serials, transfers and the server at a free port. */

export const SECRET = Buffer.alloc(32, 7)

export const TSIG = {
  name: "transfer.example.",
  algorithm: "hmac-sha256",
  secret: Redacted.make(new Uint8Array(SECRET))
} as const

export type TransferSettings = Pick<DnsSettings, "notify" | "servers" | "transfer" | "tsig" | "ttl">

export const SETTINGS: TransferSettings = {
  notify: [],
  servers: ["ns1.example.org."],
  transfer: [{ address: "127.0.0.1", prefix: 32 }, { key: "transfer.example." }],
  tsig: [TSIG],
  ttl: 600
}

type Db = typeof NameDb.NameDb.Service

/** What the node's other parts say, to be changed by a test. */
interface World {
  complete: boolean
  /** Whether the node is a light one with a window of names, here empty. */
  light: boolean
}

const answersOver = (db: Db, world: World) =>
  Layer.mock(NameAnswers, {
    fromWindow: () => world.light,
    atOnce: db.atOnce,
    scanByPrefix: () => Stream.empty,
    proofOfAbsence: () => "full",
    resolve: (name) =>
      db.resolve(name).pipe(
        Effect.map((record) => ({ record, proof: "full" as const })),
        Effect.catchTag("NameNotFound", () => Effect.succeed(undefined))
      ),
    height: Effect.map(db.cursor, (cursor) => cursor?.height ?? 0),
    complete: Effect.sync(() => world.complete),
    ask: askWhile(() => true)
  })

export interface Primary {
  readonly port: number
  readonly transfers: typeof ZoneTransfers.Service
  readonly serials: typeof ZoneSerials.Service
  readonly world: World
  /** What was counted of transfers, in order. */
  readonly counted: ReadonlyArray<string>
  /** Connects a block with these values, and waits for its serial. */
  readonly block: (values?: Readonly<Record<string, unknown>>) => Effect.Effect<number>
  /** Takes the last blocks back. */
  readonly undo: (blocks: number) => Effect.Effect<void>
}

export const withPrimary = <A, E>(
  settings: Partial<TransferSettings>,
  use: (primary: Primary) => Effect.Effect<A, E>
) =>
  Effect.scoped(Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    mkdirSync(join(directory, "dns"))
    const file = (name: string) => join(directory, name)
    const world = { complete: true, light: false }
    const counted: Array<string> = []
    const names = NameDb.layer({ filename: file("names.db"), pageSize: 4096 }).pipe(Layer.provide(DataHealth.layer))
    const below = Layer.unwrapEffect(Effect.map(NameDb.NameDb, (db) => answersOver(db, world))).pipe(
      Layer.provideMerge(names),
      Layer.merge(LightPart.layerWhole)
    )
    const options = {
      settings: { ...SETTINGS, ...settings },
      params: regtestParams,
      file,
      counted: (kind: string) => void counted.push(kind)
    }
    const transfers = Layer.provideMerge(transfersLayer(options), serialsLayer(options))
    const responder = Layer.unwrapEffect(Effect.gen(function*() {
      const parts = yield* ZoneTransfers
      const serials = yield* ZoneSerials
      return Responder.layer({
        ...responderOptions,
        servers: [wireNameOfHost("ns1.example.org.")],
        serial: serials.serial,
        transfers: parts
      })
    })).pipe(
      Layer.provide(Layer.mock(Chain, { params: regtestParams, tree: noTree })),
      Layer.provide(DataHealth.layer),
      Layer.provide(Layer.mock(SyncReporter, {}))
    )
    const server = DnsServer.layer({
      listen: [{ host: "127.0.0.1", port: 0 }],
      tls: [],
      https: [],
      http: [],
      certificate: undefined,
      key: undefined,
      rate: 0
    })
    const all = server.pipe(Layer.provide(responder), Layer.provideMerge(transfers), Layer.provideMerge(below))
    return yield* Effect.gen(function*() {
      const db = yield* NameDb.NameDb
      const serials = yield* ZoneSerials
      const { addresses } = yield* DnsServer.DnsServer
      let height = -1
      const block: Primary["block"] = (values = {}) =>
        Effect.gen(function*() {
          const before = serials.serial()
          const operations = Object.entries(values).map(([name, value]): Operation => ({
            name: text(name),
            value: text(JSON.stringify(value))
          }))
          height += 1
          yield* applyAll(db, [[blockAt(height, operations)]])
          return yield* serials.after(before)
        }).pipe(Effect.orDie)
      yield* applyAll(db, [[blockAt(++height)]])
      yield* block()
      return yield* use({
        port: addresses.dns[0]?.port ?? 0,
        transfers: yield* ZoneTransfers,
        serials,
        world,
        counted,
        block,
        undo: (blocks) =>
          Effect.suspend(() => {
            height -= blocks
            return db.follower.rewind({ height, hash: hashAt(height) })
          }).pipe(Effect.orDie)
      })
    }).pipe(Effect.provide(all))
  }))
