import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { type Address, formatHostPort } from "../base/addresses.ts"
import type { CertificateUnusable } from "../base/givenCertificate.ts"
import type { BindFailed } from "../base/listening.ts"
import { Budget } from "../base/MemoryBudget.ts"
import { Chain } from "../chain/Chain.ts"
import type { ElectrumSettings } from "../config/electrumOptions.ts"
import { expirationDepth } from "../consensus/expiry.ts"
import { LightPart } from "../light/LightPart.ts"
import { NameAnswers } from "../light/NameAnswers.ts"
import { Mempool } from "../mempool/Mempool.ts"
import { ScriptBook } from "../mempool/scripts/ScriptBook.ts"
import { electrumListeners } from "../metrics/electrumMetrics.ts"
import { NameDb } from "../names/NameDb.ts"
import { displayHash } from "../protocol/bytes.ts"
import { Dispatch } from "../rpc/Dispatch.ts"
import { version } from "../version.ts"
import { electrumMethods } from "./methods/all.ts"
import type { ElectrumFacts } from "./methods/method.ts"
import { runNotifier } from "./notifier.ts"
import { ELECTRUM_LIMITS, type ServedLimits } from "./protocol/limits.ts"
import { electrumCertificate, shownFingerprint } from "./serve/ownCertificate.ts"
import { serveLines, serveSecureLines } from "./serve/streams.ts"
import { securing } from "./serve/tls.ts"
import { serveWebSockets } from "./serve/webSockets.ts"
import { makeSessions } from "./Sessions.ts"
import { makeBlocks } from "./sources/Blocks.ts"
import { makeHeaders } from "./sources/Headers.ts"
import { makeNameHistories } from "./sources/nameHistories.ts"
import { makeNodeCalls } from "./sources/NodeCalls.ts"
import { makeScriptHistories } from "./sources/scriptHistories.ts"
import { windowSources } from "./sources/windowSources.ts"
import { Subscriptions } from "./Subscriptions.ts"

/** By transport, with actual ports. */
export interface ElectrumAddresses {
  readonly tcp: ReadonlyArray<Address>
  readonly tls: ReadonlyArray<Address>
  readonly ws: ReadonlyArray<Address>
  readonly wss: ReadonlyArray<Address>
}

/** Serves Electrum's protocol: names to light clients and light wallets. */
export class ElectrumServer extends Context.Tag("svcd/ElectrumServer")<ElectrumServer, {
  readonly addresses: ElectrumAddresses
}>() {}

export interface ElectrumOptions extends ElectrumSettings {
  /** Keeps the certificate that svcd makes. */
  readonly directory: string
}

export type ElectrumNeeds = Budget | Chain | Dispatch | LightPart | Mempool | NameAnswers | NameDb | ScriptBook

/** By the letters of ElectrumX's services. */
const SERVICES = [
  { scheme: "tcp", port: "tcp_port", field: "listen" },
  { scheme: "ssl", port: "ssl_port", field: "tls" },
  { scheme: "ws", port: "ws_port", field: "webSocket" },
  { scheme: "wss", port: "wss_port", field: "secureWebSocket" }
] as const

const shownHosts = ({ hosts }: ElectrumOptions): ReadonlyArray<string> => hosts.map((host) => host.replace(/\.$/, ""))

const hostsOf = (options: ElectrumOptions): Readonly<Record<string, Readonly<Record<string, number>>>> => {
  const ports = SERVICES.flatMap(({ field, port }) => options[field].slice(0, 1).map((address) => [port, address.port]))
  return Object.fromEntries(shownHosts(options).map((host) => [host, Object.fromEntries(ports)]))
}

const servicesOf = (options: ElectrumOptions): ReadonlyArray<string> =>
  shownHosts(options).flatMap((host) =>
    SERVICES.flatMap(({ field, scheme }) => options[field].map(({ port }) => `${scheme}://${host}:${port}`))
  )

const NAMES_ONLY = "This svcd server answers for names. It has no index of addresses: a wallet would see no coins here."

const ALL = "This svcd server answers for names and for the addresses of wallets."

const WINDOW_ONLY =
  "This svcd server is a light node: it answers for names, as far as the last blocks of the chain set them. Wallets " +
  "must use another server: here they would see no coins."

const logStarted = (addresses: ElectrumAddresses, fingerprint: string | undefined): Effect.Effect<void> => {
  const shown = Object.entries(addresses).flatMap(([transport, list]: [string, ReadonlyArray<Address>]) =>
    list.length === 0 ? [] : [[transport, list.map(formatHostPort).join(", ")] as const]
  )
  return Effect.logInfo("Electrum server listening", { ...Object.fromEntries(shown), fingerprint })
}

const countListeners = (count: number): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => electrumListeners.set(electrumListeners.value() + count)),
    () => Effect.sync(() => electrumListeners.set(electrumListeners.value() - count))
  )

/** Listens while the scope is open. */
export const makeElectrumServer = (
  options: ElectrumOptions,
  limits: Partial<ServedLimits> = {}
): Effect.Effect<typeof ElectrumServer.Service, BindFailed | CertificateUnusable, ElectrumNeeds | Scope.Scope> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const names = yield* NameDb
    const answers = yield* NameAnswers
    const pool = yield* Mempool
    const budget = yield* Budget
    const node = makeNodeCalls(yield* Dispatch)
    const clock = yield* Effect.clock
    const { stays, current } = yield* LightPart
    // A window that ends with the handover has too short histories for clients, which then grow.
    const light = stays ? current() : undefined
    const window = light === undefined ? undefined : windowSources(light, { answers, node })
    const { tree } = chain
    const { book } = yield* ScriptBook
    const named = makeNameHistories({ names, commits: yield* names.commits, answers, chain })
    const sources = window ?? {
      headers: makeHeaders(chain),
      blocks: makeBlocks(chain),
      histories: book === undefined ? named : makeScriptHistories({ names: named, book, chain }),
      node,
      expiration: () => expirationDepth(tree.height(tree.tip()), chain.params)
    }
    const certificate = options.tls.length + options.secureWebSocket.length === 0
      ? undefined
      : yield* electrumCertificate(options)
    const facts: ElectrumFacts = {
      software: `svcd ${version}`,
      genesis: displayHash(tree.hash(tree.at(0))),
      hosts: () => hostsOf(options),
      services: () => servicesOf(options),
      banner: () => window !== undefined ? WINDOW_ONLY : book === undefined ? NAMES_ONLY : ALL,
      pruning: () => window?.blockCount() ?? (answers.fromWindow() ? sources.expiration() : null),
      fingerprint: () => certificate && shownFingerprint(certificate)
    }
    const methods = electrumMethods({
      facts,
      pool,
      ...sources
    })
    const memory = yield* Effect.acquireRelease(
      Effect.sync(() => budget.open({ owner: "Electrum clients", share: 1, evictable: false, evict: () => {} })),
      (account) => Effect.sync(() => account.close())
    )
    const subscriptions = new Subscriptions()
    const sessions = yield* makeSessions({
      methods,
      subscriptions,
      memory,
      limits: { ...ELECTRUM_LIMITS, ...limits }
    })
    const followed = window === undefined || light === undefined
      ? { chain, names, scripts: book }
      : { chain: light.chain, names: window, scripts: undefined }
    yield* runNotifier({ ...sources, ...followed, sessions, subscriptions })
    const streams = { sessions, now: () => clock.unsafeCurrentTimeMillis() }
    // With listeners for TLS there is a certificate.
    const secure = certificate === undefined ? { tls: [], wss: [] } : {
      tls: yield* Effect.forEach(
        options.tls,
        (address) => serveSecureLines({ address, secured: securing(certificate) }, streams)
      ),
      wss: yield* Effect.forEach(
        options.secureWebSocket,
        (address) => serveWebSockets({ address, certificate }, streams)
      )
    }
    const addresses = {
      tcp: yield* Effect.forEach(options.listen, (address) => serveLines(address, streams)),
      ws: yield* Effect.forEach(options.webSocket, (address) => serveWebSockets({ address }, streams)),
      ...secure
    }
    yield* countListeners(Object.values(addresses).flat().length)
    yield* logStarted(addresses, facts.fingerprint())
    return ElectrumServer.of({ addresses })
  }).pipe(Effect.annotateLogs("subsystem", "electrum"))

/** The server on a node. */
export const layer = (
  options: ElectrumOptions
): Layer.Layer<ElectrumServer, BindFailed | CertificateUnusable, ElectrumNeeds> =>
  Layer.scoped(ElectrumServer, makeElectrumServer(options))
