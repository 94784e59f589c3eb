import { Context, Effect, HashMap, Layer, Logger, type Scope, TestClock } from "effect"
import type { BindFailed } from "../../src/base/listening.ts"
import { Budget, type MemoryBudget } from "../../src/base/MemoryBudget.ts"
import { proxyRoutes } from "../../src/config/proxies.ts"
import { AddressBook } from "../../src/network/addresses/AddressBook.ts"
import type { AddressStore } from "../../src/network/addresses/AddressStore.ts"
import { BanList } from "../../src/network/addresses/BanList.ts"
import type { PeerManagerOptions } from "../../src/network/connect/net.ts"
import { Transport, type TransportService } from "../../src/network/connect/Transport.ts"
import { UploadTarget } from "../../src/network/peer/UploadTarget.ts"
import { PeerHandlers } from "../../src/network/PeerHandlers.ts"
import * as PeerManager from "../../src/network/PeerManager.ts"
import { Services } from "../../src/network/wire/messages/version.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { settingsOf } from "../config/input.ts"
import { Loopback, realLoopback } from "./Loopback.ts"
import { ampleBudget } from "./memory.ts"
import { messagesTo } from "./receive.ts"

/** A peer manager without a chain, for tests over loopback. */

/** An address book in memory alone. */
export const memoryStore = (changes: Partial<AddressStore> = {}): AddressStore => ({
  book: new AddressBook({ random: Math.random, allowLocal: true }),
  bans: new BanList({ key: new Uint8Array(16) }),
  anchors: [],
  setAnchors: () => {},
  save: Effect.void,
  ...changes
})

export const NO_INFO: ReturnType<typeof PeerHandlers.Service["info"]> = {
  sync: {
    syncedHeaders: -1,
    syncedBlocks: -1,
    presyncedHeaders: -1,
    inFlight: [],
    lastBlock: 0,
    highBandwidthTo: false,
    highBandwidthFrom: false
  },
  relay: { toAnnounce: 0, lastSequence: 0, lastTransaction: 0 },
  gossip: { enabled: false, processed: 0, rateLimited: 0 }
}

export interface LogEntry {
  readonly level: string
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

export interface TestNetwork {
  readonly manager: typeof PeerManager.PeerManager.Service
  readonly store: AddressStore
  readonly port: number
  readonly logs: ReadonlyArray<LogEntry>
}

export interface TestNetworkOptions extends Partial<PeerManagerOptions> {
  /** Listens on a free port of loopback. */
  readonly listening?: boolean
  readonly budget?: MemoryBudget
  readonly party?: Partial<typeof PeerHandlers.Service>
  readonly transport?: TransportService
  /** In place of that of the transport. */
  readonly resolve?: TransportService["resolve"]
}

/** A manager that lives as long as the scope. Without options it neither listens nor calls. */
export const testNetwork = (
  options: TestNetworkOptions = {}
): Effect.Effect<TestNetwork, BindFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const loopback = yield* Loopback
    // A simulated test has no test clock.
    if (loopback === realLoopback) yield* TestClock.setTime(0)
    const {
      budget = ampleBudget(),
      listening = false,
      party = {},
      transport = yield* Transport,
      resolve = transport.resolve,
      ...rest
    } = options
    const port = yield* loopback.freePort
    const logs: Array<LogEntry> = []
    const collect = Logger.make<unknown, void>(({ annotations, logLevel, message }) => {
      const [text, ...facts] = Array.isArray(message) ? message : [message]
      const subsystem = HashMap.unsafeGet(annotations, "subsystem")
      logs.push({ level: logLevel.label, message: String(text), facts: Object.assign({ subsystem }, ...facts) })
    })
    const store = party.store ?? memoryStore()
    const layer = PeerManager.layer({
      ...settingsOf([]).peers,
      network: regtest,
      listen: listening ? { host: "127.0.0.1", port } : undefined,
      maxInbound: 125,
      proxies: proxyRoutes({ proxy: [], onion: undefined }),
      networks: new Set(["ipv4", "ipv6"]),
      ...rest
    }).pipe(
      Layer.provide(Layer.succeed(PeerHandlers, {
        handlers: [],
        messages: messagesTo(() => Effect.void),
        info: () => NO_INFO,
        lastAnnouncement: () => 0,
        fetchBlock: () => Effect.succeed("no peer"),
        orphans: () => [],
        upload: new UploadTarget(0),
        services: () => Services.network | Services.witness | Services.networkLimited,
        startHeight: () => 0,
        nearTip: () => true,
        needExtraPeer: () => false,
        ...party,
        store
      })),
      Layer.provide(Layer.succeed(Budget, budget)),
      Layer.provide(Layer.succeed(Transport, { ...transport, resolve })),
      Layer.provide(Logger.replace(Logger.defaultLogger, collect))
    )
    const manager = Context.get(yield* Layer.build(layer), PeerManager.PeerManager)
    return { manager, store, port, logs }
  })
