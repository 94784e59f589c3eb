import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { MemoryAccount } from "../base/MemoryBudget.ts"
import type { ClientAddress } from "../http/clientAddress.ts"
import {
  type ElectrumEnd,
  electrumEnded,
  electrumSessions,
  type ElectrumTransport
} from "../metrics/electrumMetrics.ts"
import type { MethodsByName } from "./methods/all.ts"
import { CostMeter } from "./protocol/CostMeter.ts"
import type { ServedLimits } from "./protocol/limits.ts"
import { ServedClient, type SessionLink, type SessionWorld } from "./Session.ts"
import type { Subscriptions } from "./Subscriptions.ts"

export interface ElectrumClient {
  readonly transport: ElectrumTransport
  readonly address: ClientAddress
}

/** A connection as the sweep of old ones sees it. */
export interface OpenLink extends SessionLink {
  /** When an unfinished message began, milliseconds; `undefined` without one. */
  readonly unfinishedSince: () => number | undefined
  /** Since when the client has taken nothing of what waits for it, milliseconds; `undefined` if nothing waits. */
  readonly stalledSince: () => number | undefined
}

export interface SessionsOptions {
  readonly methods: MethodsByName
  readonly subscriptions: Subscriptions
  readonly limits: ServedLimits
  readonly memory: Pick<MemoryAccount, "give" | "take">
}

/** Bytes of an idle session over TCP, and of a subscription: as measured, rounded up. */
const SESSION_BYTES = 16_384
const SUBSCRIPTION_BYTES = 512

const SWEEP = "1 second"

/** Meters of networks whose sessions have ended, kept for their cost. */
const MOST_METERS = 10_000

interface OpenSession {
  readonly link: OpenLink
  readonly client: ElectrumClient
  readonly leave: () => void
}

/** The network whose clients share their costs: /24, or /48 of IPv6. */
const networkOf = ({ key }: ClientAddress): string =>
  key.includes(":") ? key.split(":").slice(0, 3).join(":") : key.slice(0, key.lastIndexOf("."))

const refused = (reason: ElectrumEnd): undefined => void electrumEnded.of(reason).increase()

/** The open sessions of all transports. */
export class Sessions {
  readonly #options: SessionsOptions
  readonly #world: SessionWorld
  readonly #open = new Map<ServedClient, OpenSession>()
  readonly #perAddress = new Map<string, number>()
  readonly #meters = new Map<string, CostMeter>()

  constructor(options: SessionsOptions, { now, run }: Pick<SessionWorld, "now" | "run">) {
    this.#options = options
    const { limits, memory, methods, subscriptions } = options
    this.#world = {
      methods,
      subscriptions,
      limits,
      now,
      run,
      hold: (count) => {
        if (count > 0) return memory.take("electrum", count * SUBSCRIPTION_BYTES)
        memory.give("electrum", -count * SUBSCRIPTION_BYTES)
        return true
      },
      keep: (bytes) => {
        if (bytes > 0) return memory.take("electrum", bytes)
        memory.give("electrum", -bytes)
        return true
      }
    }
  }

  get size(): number {
    return this.#open.size
  }

  get limits(): ServedLimits {
    return this.#options.limits
  }

  [Symbol.iterator](): Iterator<ServedClient> {
    return this.#open.keys()
  }

  /** `undefined` at a limit: the caller then closes the connection. Call `gone` of the session when it is closed. */
  open(client: ElectrumClient, link: OpenLink): ServedClient | undefined {
    const { limits, memory } = this.#options
    const { address: { key, loopback } } = client
    const ofAddress = this.#perAddress.get(key) ?? 0
    if (this.#open.size >= limits.sessions) return refused("sessions")
    if (!loopback && ofAddress >= limits.sessionsPerAddress) return refused("sessions")
    if (!memory.take("electrum", SESSION_BYTES)) return refused("memory")
    this.#perAddress.set(key, ofAddress + 1)
    const sessions = electrumSessions.of(client.transport)
    sessions.set(sessions.value() + 1)
    const session = new ServedClient(this.#world, link, this.#meterOf(client.address))
    this.#open.set(session, { link, client, leave: () => this.#leave(client) })
    return session
  }

  close(session: ServedClient): void {
    const open = this.#open.get(session)
    if (open === undefined) return
    this.#open.delete(session)
    session.gone()
    open.leave()
  }

  closeAll(): void {
    for (const { link } of this.#open.values()) link.destroy()
  }

  /** Ends idle sessions, those with a message that stays unfinished, and those whose client takes no answers. */
  sweep(): void {
    const now = this.#world.now()
    const { idle, stalled, unfinished } = this.#options.limits
    for (const [session, { link }] of this.#open) {
      const since = link.unfinishedSince()
      if (now - (link.stalledSince() ?? now) > stalled) session.end("unread")
      else if (since !== undefined && now - since > unfinished) session.end("unfinished")
      else if (!session.isBusy && now - session.usedAt > idle) session.end("idle")
    }
  }

  #leave({ address: { key }, transport }: ElectrumClient): void {
    this.#options.memory.give("electrum", SESSION_BYTES)
    const left = (this.#perAddress.get(key) ?? 1) - 1
    if (left === 0) this.#perAddress.delete(key)
    else this.#perAddress.set(key, left)
    const sessions = electrumSessions.of(transport)
    sessions.set(sessions.value() - 1)
  }

  /** Clients of this machine, and of an onion service, have nothing in common. */
  #meterOf(address: ClientAddress): CostMeter {
    const now = this.#world.now()
    if (address.loopback) return new CostMeter(now)
    const network = networkOf(address)
    const meter = this.#meters.get(network) ?? new CostMeter(now)
    this.#meters.delete(network)
    this.#meters.set(network, meter)
    if (this.#meters.size > MOST_METERS) this.#forgetMeter()
    return meter
  }

  #forgetMeter(): void {
    for (const [network, meter] of this.#meters) {
      if (meter.sessions > 0) continue
      this.#meters.delete(network)
      return
    }
  }
}

/** Sessions until the scope closes. */
export const makeSessions = (options: SessionsOptions): Effect.Effect<Sessions, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const run = yield* FiberSet.makeRuntime<never, void>()
    const sessions = new Sessions(options, { now: () => clock.unsafeCurrentTimeMillis(), run })
    yield* Effect.addFinalizer(() => Effect.sync(() => sessions.closeAll()))
    yield* Effect.forkScoped(Effect.schedule(Effect.sync(() => sessions.sweep()), Schedule.spaced(SWEEP)))
    return sessions
  })
