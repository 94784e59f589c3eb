import { assert } from "@effect/vitest"
import { Effect, Layer, Runtime } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { ExpiringNames } from "../../src/alerts/ExpiringNames.ts"
import { Indexes } from "../../src/chain/indexes/Indexes.ts"
import { SyncStatus } from "../../src/chain/SyncStatus.ts"
import { TxIndex } from "../../src/chain/TxIndex.ts"
import { isStream, type PageAnswer, type PageHandler, type PageRequest, pageRequest } from "../../src/http/Pages.ts"
import { NameAnswers } from "../../src/light/NameAnswers.ts"
import { FeeEstimator } from "../../src/mempool/fees/FeeEstimator.ts"
import { Mempool } from "../../src/mempool/Mempool.ts"
import { ScriptBook } from "../../src/mempool/scripts/ScriptBook.ts"
import { NameDb } from "../../src/names/NameDb.ts"
import type { PeerInfo } from "../../src/network/peerInfo.ts"
import { PeerManager } from "../../src/network/PeerManager.ts"
import type { Bytes } from "../../src/protocol/bytes.ts"
import { peerId } from "../../src/protocol/keys.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import type { NameOutlook } from "../../src/wallet/names/WalletNames.ts"
import { nameLink } from "../../src/web/links.ts"
import { makeStatusPage } from "../../src/web/statusPage.ts"
import { servicesOf, type TestChain } from "../support/chain.ts"
import { ampleAccount } from "../support/memory.ts"
import { MethodNode } from "../support/methodNode.ts"
import { NO_INFO } from "../support/peerManager.ts"
import { peerManager } from "../support/peers.ts"
import { at, items, recordedJson } from "../support/recordedJson.ts"
import { wholeAnswers } from "../support/wholeAnswers.ts"

/** The status page of a node under test, asked directly or served over HTTP. */

/** A peer that counts as connected. */
export const peer = (id: number, changes: { readonly name?: string; readonly userAgent?: string } = {}): PeerInfo => ({
  ...NO_INFO,
  sync: { ...NO_INFO.sync, syncedBlocks: 600 + id },
  peer: {
    id: peerId(id),
    type: id % 2 === 1 ? "inbound" : "outbound-full-relay",
    inbound: id % 2 === 1,
    address: { network: "ipv4", bytes: Uint8Array.of(192, 0, 2, id) },
    port: 8334,
    name: changes.name ?? `192.0.2.${id}:8334`,
    permissions: new Set(),
    bind: undefined,
    connectedAt: 1_700_000_000 + id,
    hello: {
      version: 70016,
      commonVersion: 70016,
      services: 0x409n,
      userAgent: changes.userAgent ?? "/Satoshi:31.1.0/",
      startHeight: 600,
      relay: true,
      timeOffset: 0,
      wtxidRelay: true,
      addrV2: true,
      ourAddress: undefined
    },
    features: { sendHeaders: true, compactBlocks: "none", feeFilter: 0, relay: true, bloom: undefined },
    traffic: {
      bytesSent: 12_345,
      bytesReceived: 67_890_123,
      lastSend: 0,
      lastReceive: 0,
      sentByCommand: new Map(),
      receivedByCommand: new Map()
    },
    memory: ampleAccount(),
    ready: Effect.void,
    spent: () => {},
    judged: () => {},
    turn: Effect.void,
    latency: { last: 42.4, best: 40, waiting: undefined },
    closed: false,
    send: () => Effect.void,
    post: () => {},
    disconnect: () => {}
  }
})

export interface PageNode {
  readonly blocksOnly?: boolean
  /** Whether it answers from the last blocks alone. */
  readonly light?: boolean
  /** Whether it does not know all names yet. */
  readonly syncing?: boolean
  readonly overviewMs?: number
  readonly chain?: TestChain
  readonly names?: typeof NameDb.Service
  /** What becomes of the names of the wallets. */
  readonly outlooks?: ReadonlyArray<NameOutlook>
  readonly pool?: typeof Mempool.Service
  readonly fees?: typeof FeeEstimator.Service
  /** Whether the node has no peers by choice. */
  readonly offline?: boolean
  readonly manager?: typeof PeerManager.Service
  readonly scripts?: typeof ScriptBook.Service
}

/** The pages of the node. The overview is rebuilt for each request. */
export const pagesOf = (
  {
    blocksOnly = false,
    chain: givenChain,
    fees: givenFees,
    light = false,
    manager = peerManager(),
    names: given,
    offline = false,
    outlooks = [],
    overviewMs = 0,
    pool: givenPool,
    scripts: givenScripts,
    syncing = false
  }: PageNode = {}
) =>
  Effect.gen(function*() {
    const { chain, expiring, fees, indexes, names, pool, scripts, status, txIndex } = yield* MethodNode
    return yield* makeStatusPage({ blocksOnly, overviewMs }).pipe(
      Effect.updateService(NameAnswers, (answers) => ({
        ...answers,
        ...(light ? { fromWindow: () => true } : {}),
        ...(syncing ? { complete: Effect.succeed(false) } : {})
      })),
      Effect.provide(Layer.provideMerge(wholeAnswers, DataHealth.layer)),
      Effect.provideService(NameDb, given ?? names),
      Effect.provideService(ExpiringNames, {
        ...expiring,
        outlooks: Effect.succeed(outlooks.map((each) => ({ ...each, wallet: undefined })))
      }),
      Effect.provide(servicesOf(givenChain ?? chain)),
      Effect.provideService(Mempool, givenPool ?? pool),
      Effect.provideService(FeeEstimator, givenFees ?? fees),
      Effect.provideService(TxIndex, txIndex),
      Effect.provideService(Indexes, indexes),
      Effect.provideService(ScriptBook, givenScripts ?? scripts),
      Effect.provideService(SyncStatus, { ...status, offline: Effect.succeed(offline) }),
      Effect.provideService(PeerManager, manager)
    )
  })

/** The pages of the node, with these peers. */
export const statusPageOf = (peers: ReadonlyArray<PeerInfo> = [], node: PageNode = {}) => {
  const inbound = peers.filter(({ peer }) => peer.inbound).length
  return pagesOf({
    ...node,
    manager: peerManager({
      peers: Effect.succeed(peers),
      count: Effect.succeed({ inbound, outbound: peers.length - inbound })
    })
  })
}

export const requestOf = (target: string, acceptsHtml = true): PageRequest => {
  return pageRequest(target, acceptsHtml ? { accept: "text/html" } : {})
}

export interface Page extends PageAnswer {
  readonly body: string
}

/** The body of a document that is not a stream. */
const textOf = ({ body }: PageAnswer): string => {
  if (isStream(body)) return assert.fail("a stream")
  return typeof body === "string" ? body : new TextDecoder().decode(body)
}

export const get = (
  handler: PageHandler,
  target: string,
  caller: Partial<Pick<PageRequest, "seesWallets">> = {}
): Effect.Effect<Page> => {
  const request = { ...requestOf(target), ...caller }
  assert.isTrue(handler.serves(request), `no page serves ${target}`)
  return Effect.map(handler.answer(request), (answer) => ({
    ...answer,
    body: textOf(answer)
  }))
}

/** Serves a handler on a free port of loopback. Returns its origin, and the targets that were requested so far. */
export const serve = (handler: PageHandler) =>
  Effect.gen(function*() {
    const run = Runtime.runFork(yield* Effect.runtime())
    const asked: Array<string> = []
    const server = createServer((request, response) => {
      asked.push(request.url ?? "")
      const wanted = requestOf(request.url ?? "", request.headers.accept?.includes("text/html") === true)
      if (!handler.serves(wanted)) return void response.writeHead(404).end()
      run(Effect.map(handler.answer(wanted), ({ body, headers, status }) =>
        void response.writeHead(status, headers).end(body)))
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) =>
        void server.listen(0, "127.0.0.1", () => resume(Effect.void))
      ),
      () =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    const { port } = server.address() as AddressInfo
    return { origin: `http://127.0.0.1:${port}`, asked }
  })

export const names = items(at(recordedJson("regtest-names/tip-names.json"), "names"))

export const linkTo = (name: Bytes): string => `/${nameLink(name)}`

export const text = (value: string): Uint8Array => new TextEncoder().encode(value)
