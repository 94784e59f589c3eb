import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
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
import { notifySecondaries } from "../../dns/transfer/notify.ts"
import type { Secondaries } from "../../dns/transfer/Secondaries.ts"
import type { TransferKey } from "../../dns/transfer/tsig.ts"
import * as ZoneSerials from "../../dns/transfer/ZoneSerials.ts"
import { zoneTip } from "../../dns/transfer/zoneTip.ts"
import * as ZoneTransfers from "../../dns/transfer/ZoneTransfers.ts"
import { wireNameOfHost } from "../../dns/wire/name.ts"
import { makeApex } from "../../dns/zone/apex.ts"
import { BIT_ORIGIN } from "../../dns/zone/suffix.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
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

/** What the records depend on besides the names: with other settings, secondaries transfer the whole zone. */
const madeWith = ({ servers, ttl }: Settings["dns"]): string => JSON.stringify({ form: 1, servers, ttl })

const serialsOf = (settings: Settings, directory: string) =>
  Layer.unwrapEffect(
    Effect.map(zoneTip, (tip) =>
      ZoneSerials.layer({ filename: join(directory, "serials.json"), made: madeWith(settings.dns), tip }))
  )

const keysOf = ({ dns }: Settings, directory: string) =>
  dns.dnssec ? ZoneKeys.layer({ zone: BIT_ORIGIN, directory }) : ZoneKeys.layerUnsigned

const apexOf = ({ dns: { servers, ttl } }: Settings) =>
  makeApex({ origin: BIT_ORIGIN, servers: servers.map(wireNameOfHost), ttl })

const tsigKeys = ({ dns: { tsig } }: Settings): ReadonlyArray<TransferKey> =>
  tsig.map(({ name, ...key }) => ({ ...key, name: wireNameOfHost(name) }))

/** Tells the secondaries of `-dnsnotify`. */
const notifying = (settings: Settings, secondaries: Secondaries) =>
  Effect.gen(function*() {
    const { complete } = yield* NameAnswers
    const keys = tsigKeys(settings)
    yield* notifySecondaries({
      targets: settings.dns.notify.map(({ address, key }) => {
        const name = key === undefined ? undefined : wireNameOfHost(key)
        return { address, key: keys.find((each) => each.name === name) }
      }),
      apex: apexOf(settings),
      serials: yield* ZoneSerials.ZoneSerials,
      complete: Effect.orElseSucceed(complete, () => false),
      secondaries
    })
  })

/** Without a rule and a key there is nothing to decide: the responder refuses by itself. */
const transfersOf = (settings: Settings) =>
  Effect.gen(function*() {
    const { dns } = settings
    if (dns.transfer.length === 0 && dns.tsig.length === 0 && dns.notify.length === 0) return undefined
    const { params } = yield* Chain
    const directory = yield* DataDirectory
    const layer = ZoneTransfers.layer({
      namesFile: directory.file("names.db"),
      params,
      rules: dns.transfer,
      keys: tsigKeys(settings),
      apex: apexOf(settings),
      counted: (kind) => Metrics.dnsTransfers.of(kind).increase()
    })
    const transfers = Context.get(yield* Layer.build(layer), ZoneTransfers.ZoneTransfers)
    yield* notifying(settings, transfers.secondaries)
    return transfers
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
      Layer.provide(serialsOf(settings, directory.file("dns"))),
      Layer.provideMerge(keysOf(settings, directory.file("dns")))
    )))
