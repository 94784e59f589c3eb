import { Effect, Layer } from "effect"
import { turnOfEventLoop } from "../../src/base/turns.ts"
import { Chain } from "../../src/chain/Chain.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import type { DnsClient, DnsReply } from "../../src/dns/Responder.ts"
import * as Responder from "../../src/dns/Responder.ts"
import { META_TYPES } from "../../src/dns/wire/codes.ts"
import { type DnsMessage, readMessage } from "../../src/dns/wire/message.ts"
import type { WireName } from "../../src/dns/wire/name.ts"
import * as LightPart from "../../src/light/LightPart.ts"
import { NameAnswers } from "../../src/light/NameAnswers.ts"
import type { ProofLevel } from "../../src/light/proof.ts"
import type { SyncReport } from "../../src/light/syncReport.ts"
import { SyncReporter } from "../../src/light/SyncReporter.ts"
import { NameDb } from "../../src/names/NameDb.ts"
import type { Bytes } from "../../src/protocol/bytes.ts"
import { DataHealth } from "../../src/storage/DataHealth.ts"
import { type StorageFailure, StorageUnavailable } from "../../src/storage/errors.ts"
import { blockAt, hashAt, text } from "../names/blocks.ts"
import { askWhile } from "./askNames.ts"
import { wire } from "./dnsZone.ts"
import { noTree } from "./noTree.ts"

/** A responder over a names.db, with questions and answers as bytes. */

/** What the node's other parts say, to be changed by a test. */
export interface DnsWorld {
  complete: boolean
  proof: ProofLevel
  /** Whether names.db cannot be read. */
  broken: boolean
  /** Whether records are read with a fiber alone. */
  slow: boolean
  /** Whether stored data are in doubt. */
  doubted: boolean
}

export const RECURSION = 0x0100

export interface QueryOptions {
  readonly id?: number
  readonly flags?: number
  readonly class?: number
  /** Bytes of an OPT record behind its name and type: size, extended code, version, flags, and options. */
  readonly edns?: {
    readonly size?: number
    readonly version?: number
    readonly dnssec?: boolean
    readonly options?: ReadonlyArray<readonly [code: number, data: Bytes]>
  }
  readonly extra?: Bytes
}

const u16 = (value: number): Uint8Array => Uint8Array.of(value >> 8, value)

export const queryBytes = (name: WireName, type: number, options: QueryOptions = {}): Buffer => {
  const { edns, extra = new Uint8Array(0), flags = 0, id = 4_711 } = options
  const data = Buffer.concat((edns?.options ?? []).flatMap(([code, bytes]) => [u16(code), u16(bytes.length), bytes]))
  const opt = edns === undefined ? [] : [
    Uint8Array.of(0),
    u16(META_TYPES.OPT),
    u16(edns.size ?? 1_232),
    Uint8Array.of(0, edns.version ?? 0, edns.dnssec === true ? 0x80 : 0, 0),
    u16(data.length),
    data
  ]
  return Buffer.concat([
    ...[id, flags, 1, 0, 0, opt.length === 0 ? 0 : 1].map(u16),
    Buffer.from(name, "latin1"),
    u16(type),
    u16(options.class ?? 1),
    ...opt,
    extra
  ])
}

export const UDP: DnsClient = { transport: "udp", address: "127.0.0.1", port: 5_353 }

type Db = typeof NameDb.Service

export interface DnsNode {
  readonly responder: typeof Responder.Responder.Service
  readonly world: DnsWorld
  /** The whole way of a question: from the cache, or made. */
  readonly reply: (bytes: Bytes, client?: DnsClient) => Effect.Effect<DnsReply>
  readonly ask: (name: string, type: number, options?: QueryOptions, client?: DnsClient) => Effect.Effect<DnsMessage>
  /** Whether the question is answered from the cache. */
  readonly isCached: (name: string, type: number, options?: QueryOptions) => boolean
  /** Connects a block with these values; `undefined` registers nothing. */
  readonly block: (values?: Readonly<Record<string, string>>) => Effect.Effect<void, StorageFailure>
  readonly undo: Effect.Effect<void, StorageFailure>
  /** Ends when the responder knows the height of the last block. */
  readonly settled: Effect.Effect<void>
}

const broken = new StorageUnavailable({ file: "/secret/names.db", doing: "reading", reason: "no disk" })

const answersOver = (db: Db, world: DnsWorld) =>
  Layer.mock(NameAnswers, {
    fromWindow: () => false,
    atOnce: (name) => world.broken || world.slow || world.proof !== "full" ? undefined : db.atOnce(name),
    proofOfAbsence: () => world.proof,
    resolve: (name) =>
      Effect.suspend(() => world.broken ? broken : db.resolve(name)).pipe(
        Effect.map((record) => ({ record, proof: world.proof })),
        Effect.catchTag("NameNotFound", () => Effect.succeed(undefined))
      ),
    height: Effect.map(db.cursor, (cursor) => cursor?.height ?? 0),
    complete: Effect.sync(() => world.complete),
    ask: askWhile(() => world.complete)
  })

export const COUNTED = { answered: () => {}, took: () => {}, cacheHit: () => {}, cacheBytes: () => {} }

export const responderOptions: Responder.ResponderOptions = {
  servers: [],
  suffixes: [],
  requireProof: "work",
  ttl: 600,
  version: "svcd 1.2.3",
  serial: () => 1,
  counters: COUNTED
}

/** A node over an empty names.db. */
export const withDnsNode = <A, E>(
  db: Db,
  options: Partial<Responder.ResponderOptions>,
  use: (node: DnsNode) => Effect.Effect<A, E>
) =>
  Effect.gen(function*() {
    const world: DnsWorld = { complete: true, proof: "full", broken: false, slow: false, doubted: false }
    let height = -1
    const block = (values: Readonly<Record<string, string>> = {}) =>
      Effect.suspend(() => {
        height += 1
        const operations = Object.entries(values).map(([name, value]) => ({ name: text(name), value: text(value) }))
        return Effect.asVoid(db.follower.apply([blockAt(height, operations)]))
      })
    yield* block()
    let hits = 0
    const { counters = COUNTED } = options
    const counting = { ...counters, cacheHit: () => void (hits += 1, counters.cacheHit()) }
    const layer = Responder.layer({ ...responderOptions, ...options, counters: counting }).pipe(
      Layer.provide(answersOver(db, world)),
      Layer.provide(LightPart.layerWhole),
      Layer.provide(Layer.mock(DataHealth, {
        doubts: Effect.sync(() => world.doubted ? [{ what: "/secret/names.db", reason: "a page is damaged" }] : [])
      })),
      Layer.provide(Layer.mock(Chain, { params: regtestParams, tree: noTree })),
      Layer.provide(Layer.mock(SyncReporter, {
        report: Effect.sync((): SyncReport => ({
          phase: "blocks",
          proof: world.proof,
          height,
          headers: 100,
          synced: world.complete,
          percent: 63.7,
          secondsLeft: 240
        }))
      })),
      Layer.provide(Layer.succeed(NameDb, db))
    )
    return yield* Effect.gen(function*() {
      const responder = yield* Responder.Responder
      const reply = (bytes: Bytes, client = UDP): Effect.Effect<DnsReply> =>
        Effect.suspend(() => {
          const kept = responder.atOnce(bytes, client)
          return kept === undefined
            ? responder.respond(bytes, client)
            : Effect.succeed({ _tag: "Message", bytes: kept })
        })
      return yield* use({
        responder,
        world,
        reply,
        ask: (name, type, asked, client) =>
          Effect.map(reply(queryBytes(wire(name), type, asked), client), (found) => {
            if (found._tag !== "Message") throw new Error(`no message but ${found._tag}`)
            return readMessage(found.bytes)
          }),
        isCached: (name, type, asked) => {
          const before = hits
          responder.atOnce(queryBytes(wire(name), type, asked), UDP)
          return hits > before
        },
        block,
        settled: Effect.repeatN(turnOfEventLoop, 3),
        undo: Effect.suspend(() => {
          height -= 1
          return db.follower.rewind({ height, hash: hashAt(height) })
        })
      })
    }).pipe(Effect.provide(layer))
  })
