import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Address } from "../../base/addresses.ts"
import { Pulse } from "../../base/pulse.ts"
import { exponential, type Random } from "../../base/random.ts"
import type { PeerId } from "../../protocol/keys.ts"
import type { AddressStore } from "../addresses/AddressStore.ts"
import type { PeerUnreachable } from "../errors.ts"
import type { Peer } from "../Peer.ts"
import type { PeerConnection } from "../peer/PeerConnection.ts"
import type { PeerSync } from "../peerInfo.ts"
import { formatEndpoint, formatNetAddress } from "../wire/addressText.ts"
import { type AddressNetwork, endpointKey, type NetAddress } from "../wire/netAddress.ts"
import { networkGroup } from "../wire/netGroup.ts"
import { chooseAddress, extraBlockRelay, extraFullRelay, type ExtraPeer } from "./choose.ts"
import type { ConnectionOutcome, Connections } from "./Connections.ts"
import { nextConnection, type SlotLimits } from "./slots.ts"

/** Milliseconds. */
const STEP = 500

/** Extra delay after a failed check. */
const AFTER_DEFECT = "10 seconds"

/** Mean intervals in seconds (reference/protocol.md 6.10). */
const FEELER_INTERVAL = 120
const BLOCK_RELAY_INTERVAL = 300

/** Seconds between two checks for surplus peers. */
const EXTRA_CHECK = 45

/** Outbound peers required before a failed connection counts against an address. */
const PEERS_THAT_PROVE = 2

export interface OpenConnections extends Pick<Connections, "count" | "peers"> {
  readonly all: ReadonlyArray<Pick<PeerConnection, "facts">>
  readonly find: (id: PeerId) => Pick<PeerConnection, "disconnect"> | undefined
}

export interface AutomaticOptions {
  readonly connections: OpenConnections
  readonly limits: SlotLimits
  readonly store: AddressStore
  readonly random: Random
  readonly networks: ReadonlySet<AddressNetwork>
  readonly active: () => boolean
  readonly nearTip: () => boolean
  readonly needExtraPeer: () => boolean
  readonly sync: (peer: Peer) => PeerSync
  /** Seconds since 1970; 0 for never. */
  readonly lastAnnouncement: (peer: Peer) => number
  readonly call: (
    target: Address,
    type: "outbound-full-relay" | "block-relay-only" | "feeler",
    expectedServices: bigint
  ) => Effect.Effect<ConnectionOutcome, PeerUnreachable>
  readonly spawn: (effect: Effect.Effect<void>) => void
}

type Purpose = "outbound-full-relay" | "block-relay-only" | "feeler"

interface Target {
  readonly address: NetAddress
  readonly port: number
  readonly services: bigint
}

/** See reference/protocol.md 6.10. */
export class Automatic {
  private readonly options: AutomaticOptions
  private readonly calls = new Map<string, { readonly purpose: Purpose; readonly address: NetAddress }>()
  private readonly selves = new Set<string>()
  private anchorPeers: Array<{ readonly address: NetAddress; readonly port: number }>
  private nextFeeler: number
  private nextBlockRelay: number
  private nextCheck = 0

  /** `now`: seconds since 1970. */
  constructor(options: AutomaticOptions, now: number) {
    this.options = options
    this.anchorPeers = [...options.store.anchors]
    this.nextFeeler = now + exponential(options.random, FEELER_INTERVAL)
    this.nextBlockRelay = now + exponential(options.random, BLOCK_RELAY_INTERVAL)
  }

  readonly run: Effect.Effect<never> = Effect.suspend(() =>
    Clock.currentTimeMillis.pipe(
      Effect.map((millis) => this.step(Math.floor(millis / 1000))),
      Effect.catchAllDefect((defect) =>
        Effect.delay(
          Effect.logError("opening outbound connections failed unexpectedly", Cause.die(defect)),
          AFTER_DEFECT
        )
      ),
      Effect.zipRight(Effect.flatMap(Pulse, (pulse) => Effect.sleep(STEP * pulse))),
      Effect.forever
    )
  )

  step(now: number): void {
    if (!this.options.active()) return
    if (now >= this.nextCheck) {
      this.nextCheck = now + EXTRA_CHECK
      this.letGo(now)
    }
    const { limits, needExtraPeer, nearTip } = this.options
    const open = new Map<Purpose, number>()
    for (const { purpose } of this.calls.values()) open.set(purpose, (open.get(purpose) ?? 0) + 1)
    if ((open.get("block-relay-only") ?? 0) < limits.blockRelay && this.callAnchor(now)) return
    const purpose = nextConnection(limits, {
      open,
      extraPeer: needExtraPeer(),
      extraBlockRelay: now >= this.nextBlockRelay && nearTip(),
      feeler: now >= this.nextFeeler
    })
    if (purpose === undefined) return
    const target = chooseAddress(this.options.store.book, {
      ...this.avoided(now),
      purpose,
      now,
      random: this.options.random
    })
    if (target !== undefined) this.start(target, purpose, now)
    if (now >= this.nextFeeler) this.nextFeeler = now + exponential(this.options.random, FEELER_INTERVAL)
    if (now >= this.nextBlockRelay) this.nextBlockRelay = now + exponential(this.options.random, BLOCK_RELAY_INTERVAL)
  }

  private avoided(now: number) {
    const { connections, nearTip, networks, store } = this.options
    const groups = new Set<string>()
    for (const { address, purpose } of this.calls.values()) if (purpose !== "feeler") groups.add(networkGroup(address))
    const taken = new Set([...this.calls.keys(), ...this.selves])
    for (const { facts } of connections.all) {
      taken.add(endpointKey(facts.address, facts.port))
      if (facts.type === "manual") groups.add(networkGroup(facts.address))
    }
    const barred = (address: NetAddress): boolean =>
      store.bans.isDiscouraged(address) || store.bans.isBanned(address, now)
    return { networks, groups, taken, barred, nearTip: nearTip() }
  }

  /** A forced restart must not let an attacker choose all peers. */
  private callAnchor(now: number): boolean {
    for (;;) {
      const anchor = this.anchorPeers.shift()
      if (anchor === undefined) return false
      const { barred, groups, networks, taken } = this.avoided(now)
      if (!networks.has(anchor.address.network) || taken.has(endpointKey(anchor.address, anchor.port))) continue
      if (barred(anchor.address) || groups.has(networkGroup(anchor.address))) continue
      const known = this.options.store.book.find(anchor.address, anchor.port)
      this.start({ ...anchor, services: known?.services ?? 0n }, "block-relay-only", now)
      return true
    }
  }

  private start({ address, port, services }: Target, purpose: Purpose, now: number): void {
    const { call, connections, limits, spawn, store } = this.options
    const key = endpointKey(address, port)
    this.calls.set(key, { purpose, address })
    const proving = connections.count("outbound-full-relay") + connections.count("block-relay-only")
    store.book.attempt(
      address,
      port,
      { now, countFailure: proving >= Math.min(limits.fullRelay + limits.blockRelay - 1, PEERS_THAT_PROVE) }
    )
    const target = { host: formatNetAddress(address), port }
    spawn(
      call(target, purpose, services).pipe(
        Effect.map(({ self }) => {
          if (self) this.selves.add(key)
        }),
        Effect.catchTag(
          "PeerUnreachable",
          ({ reason }) => Effect.logDebug("peer cannot be reached", { peer: formatEndpoint(address, port), reason })
        ),
        Effect.ensuring(Effect.sync(() => void this.calls.delete(key)))
      )
    )
  }

  private letGo(now: number): void {
    const { connections, lastAnnouncement, limits, sync } = this.options
    const manual = connections.peers.filter(({ type }) => type === "manual").map(({ address }) => address.network)
    const candidates = (type: Purpose): ReadonlyArray<ExtraPeer> =>
      connections.peers.filter((peer) => peer.type === type).map((peer) => {
        const { inFlight, lastBlock } = sync(peer)
        const { address: { network }, connectedAt, id } = peer
        const busy = inFlight.length > 0
        return { id, network, connectedAt, lastAnnouncement: lastAnnouncement(peer), lastBlock, busy }
      })
    const extra = [
      extraFullRelay(candidates("outbound-full-relay"), { manual, limit: limits.fullRelay, now }),
      extraBlockRelay(candidates("block-relay-only"), { limit: limits.blockRelay, now })
    ]
    for (const id of extra) {
      if (id === undefined) continue
      connections.find(id)?.disconnect({
        reason: "stale tip: replaced by a peer with newer blocks",
        misbehaving: false
      })
    }
  }
}
