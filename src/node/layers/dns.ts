import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Chain } from "../../chain/Chain.ts"
import { DataDirectory } from "../../config/DataDirectory.ts"
import type { Settings } from "../../config/settings.ts"
import { Dns } from "../../dns/Dns.ts"
import { makeForwarder } from "../../dns/forward.ts"
import type { DnsCounters, Transfers } from "../../dns/parts.ts"
import * as Responder from "../../dns/Responder.ts"
import * as Server from "../../dns/serve/DnsServer.ts"
import { keyTag } from "../../dns/sign/zoneKey.ts"
import * as ZoneKeys from "../../dns/sign/ZoneKeys.ts"
import { serialsLayer, transfersLayer } from "../../dns/transfer/transferLayer.ts"
import * as ZoneSerials from "../../dns/transfer/ZoneSerials.ts"
import * as ZoneTransfers from "../../dns/transfer/ZoneTransfers.ts"
import { wireNameOfHost } from "../../dns/wire/name.ts"
import { BIT_ORIGIN } from "../../dns/zone/suffix.ts"
import * as Metrics from "../../metrics/dnsMetrics.ts"
import { Samples } from "../../metrics/Samples.ts"
import { version } from "../../version.ts"

/** The DNS server of a node. Loaded on use: most nodes have none. */

const counters: DnsCounters = {
  answered: (rcode) => Metrics.dnsAnswers.of(rcode).increase(),
  took: (seconds) => Metrics.dnsAnswerDuration.observe(seconds),
  cacheHit: () => Metrics.dnsCacheHits.increase(),
  cacheBytes: (bytes) => Metrics.dnsCacheBytes.set(bytes)
}

/** Only the proxy can tell svcd who its clients are (`serve/https.ts`). */
const OPEN_PROXY =
  "the proxy in front of -dnshttp must set X-Forwarded-For: without it, svcd takes the proxy's clients for " +
  "callers on this machine, and -dnsforward resolves any name for them"

const keysOf = ({ dns }: Settings, directory: string) =>
  dns.dnssec ? ZoneKeys.layer({ zone: BIT_ORIGIN, directory }) : ZoneKeys.layerUnsigned

/** Without a rule and a key there is nothing to decide: the responder refuses by itself. */
const transfersOf = (settings: Settings) =>
  Effect.gen(function*() {
    const { dns } = settings
    if (dns.transfer.length === 0 && dns.tsig.length === 0 && dns.notify.length === 0) return undefined
    const { params } = yield* Chain
    const directory = yield* DataDirectory
    const layer = transfersLayer({
      settings: dns,
      params,
      file: directory.file,
      counted: (kind) => Metrics.dnsTransfers.of(kind).increase()
    })
    return Context.get(yield* Layer.build(layer), ZoneTransfers.ZoneTransfers)
  })

const forwarderOf = ({ dns: { allow, forward } }: Settings) =>
  forward.length === 0 ? Effect.succeed(undefined) : makeForwarder({ targets: forward, allowed: allow })

const responderOf = (settings: Settings, transfers: Transfers | undefined) =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const { serial } = yield* ZoneSerials.ZoneSerials
    const { signer } = yield* ZoneKeys.ZoneKeys
    const { dns } = settings
    return Responder.layer({
      servers: dns.servers.map(wireNameOfHost),
      suffixes: dns.suffixes.map(wireNameOfHost),
      requireProof: dns.requireProof,
      ttl: dns.ttl,
      version: `svcd ${version}`,
      serverId: dns.id,
      serial,
      signer,
      forwarder: yield* forwarderOf(settings),
      transfers,
      counters
    })
  }))

const serving = (settings: Settings) =>
  Effect.gen(function*() {
    const { add } = yield* Samples
    const { serial } = yield* ZoneSerials.ZoneSerials
    const { list, signer } = yield* ZoneKeys.ZoneKeys
    const { forward, http } = settings.dns
    if (http.length > 0 && forward.length > 0) {
      yield* Effect.annotateLogs(Effect.logWarning(OPEN_PROXY), "subsystem", "dns")
    }
    const transfers = yield* transfersOf(settings)
    const listening = Server.layer(settings.dns).pipe(Layer.provide(responderOf(settings, transfers)))
    const { addresses } = Context.get(yield* Layer.build(listening), Server.DnsServer)
    yield* add(Effect.sync(() => Metrics.dnsZoneSerial.set(serial())))
    yield* add(Effect.match(list, {
      onSuccess: (keys) => Metrics.dnsKeyTime.set(keys.findLast(({ phase }) => phase === "active")?.key.created ?? 0),
      onFailure: () => Metrics.dnsKeyTime.set(0)
    }))
    return Dns.of({
      addresses,
      serial,
      keyTags: () => signer?.keys().map(keyTag) ?? [],
      secondaries: () => transfers?.secondaries.all ?? []
    })
  })

export const dnsLayer = (settings: Settings) =>
  Layer.unwrapEffect(Effect.map(DataDirectory, (directory) =>
    Layer.scoped(Dns, serving(settings)).pipe(
      Layer.provide(serialsLayer({ settings: settings.dns, file: directory.file })),
      Layer.provideMerge(keysOf(settings, directory.file("dns")))
    )))
