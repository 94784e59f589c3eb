import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { type Address, formatHostPort } from "../../base/addresses.ts"
import { type Certificate, type CertificateUnusable, loadCertificate } from "../../base/givenCertificate.ts"
import type { BindFailed } from "../../base/listening.ts"
import type { DnsSettings } from "../../config/dnsOptions.ts"
import { dnsListeners } from "../../metrics/dnsMetrics.ts"
import type { Responder } from "../Responder.ts"
import { serveHttp, serveHttps } from "./https.ts"
import { DNS_LIMITS, type DnsLimits, makeServing, type Serving } from "./serving.ts"
import { clientConnections, serveTcp, serveTls } from "./streams.ts"
import { serveUdp } from "./udp.ts"

/** By transport, with actual ports. */
export interface DnsAddresses {
  /** UDP and TCP. */
  readonly dns: ReadonlyArray<Address>
  readonly tls: ReadonlyArray<Address>
  readonly https: ReadonlyArray<Address>
  readonly http: ReadonlyArray<Address>
}

/** The listeners that ask the responder. */
export class DnsServer extends Context.Tag("svcd/DnsServer")<DnsServer, {
  readonly addresses: DnsAddresses
}>() {}

export type DnsListenOptions = Pick<DnsSettings, "certificate" | "http" | "https" | "key" | "listen" | "rate" | "tls">

/** UDP and TCP at one address. TCP is first: it finds a free port, and refuses one that another server shares. */
const serveBoth = (
  { address, rate }: { readonly address: Address; readonly rate: number | undefined },
  parts: { readonly serving: Serving; readonly open: Effect.Effect.Success<ReturnType<typeof clientConnections>> }
): Effect.Effect<Address, BindFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const bound = yield* serveTcp(address, parts)
    yield* serveUdp({ address: bound, rate }, parts.serving)
    return bound
  })

const certificateOf = (
  { certificate, key }: DnsListenOptions
): Effect.Effect<Certificate | undefined, CertificateUnusable, Scope.Scope> =>
  certificate === undefined || key === undefined
    ? Effect.succeed(undefined)
    : loadCertificate({ use: "DNS", certificate, key })

const countListeners = (count: number): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => dnsListeners.set(dnsListeners.value() + count)),
    () => Effect.sync(() => dnsListeners.set(dnsListeners.value() - count))
  )

const logStarted = (addresses: DnsAddresses): Effect.Effect<void> => {
  const shown = Object.entries(addresses).flatMap(([transport, list]: [string, ReadonlyArray<Address>]) =>
    list.length === 0 ? [] : [[transport, list.map(formatHostPort).join(", ")] as const]
  )
  return Effect.logInfo("DNS listening", Object.fromEntries(shown))
}

/** Listens while the scope is open. */
export const makeServer = (
  options: DnsListenOptions,
  limits: Partial<DnsLimits> = {}
): Effect.Effect<typeof DnsServer.Service, BindFailed | CertificateUnusable, Responder | Scope.Scope> =>
  Effect.gen(function*() {
    const certificate = yield* certificateOf(options)
    const serving = yield* makeServing({ ...DNS_LIMITS, ...limits })
    const streams = { serving, open: yield* clientConnections(serving) }
    const web = { serving, open: yield* clientConnections(serving) }
    // With the options of a node, listeners for TLS have a certificate.
    const secure = certificate === undefined ? { tls: [], https: [] } : {
      tls: yield* Effect.forEach(options.tls, (address) => serveTls({ address, certificate }, streams)),
      https: yield* Effect.forEach(options.https, (address) => serveHttps({ address, certificate }, web))
    }
    const addresses = {
      dns: yield* Effect.forEach(options.listen, (address) => serveBoth({ address, rate: options.rate }, streams)),
      ...secure,
      http: yield* Effect.forEach(options.http, (address) => serveHttp(address, web))
    }
    yield* countListeners(Object.values(addresses).flat().length)
    yield* logStarted(addresses)
    return DnsServer.of({ addresses })
  }).pipe(Effect.annotateLogs("subsystem", "dns"))

export const layer = (
  options: DnsListenOptions
): Layer.Layer<DnsServer, BindFailed | CertificateUnusable, Responder> => Layer.scoped(DnsServer, makeServer(options))
