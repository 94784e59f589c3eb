import { Effect, Layer } from "effect"
import { PeerManager } from "../../src/network/PeerManager.ts"

type Manager = typeof PeerManager.Service

/** A network without peers, except for what a test overrides. */
export const peerManager = (said: Partial<Manager> = {}): Manager =>
  PeerManager.of({
    peers: Effect.succeed([]),
    count: Effect.succeed({ inbound: 0, outbound: 0 }),
    totals: Effect.succeed({ sent: 0, received: 0 }),
    relaysTransactions: true,
    upload: Effect.succeed({ target: 0, isReached: false, servesOldBlocks: true, bytesLeft: 0, secondsLeft: 0 }),
    networks: new Set(["ipv4", "ipv6"]),
    services: 0x409n,
    userAgent: "/svcd:0.0.0/",
    proxyTo: () => undefined,
    localAddresses: Effect.succeed([]),
    active: Effect.succeed(true),
    setActive: () => Effect.void,
    connectOnce: () => Effect.void,
    add: () => Effect.succeed(true),
    remove: () => Effect.succeed(true),
    added: Effect.succeed([]),
    disconnect: () => Effect.void,
    ping: Effect.void,
    sendRaw: () => Effect.succeed(false),
    fetchBlock: () => Effect.succeed("no peer"),
    bookPlaces: Effect.succeed([]),
    orphans: Effect.succeed([]),
    learn: () => Effect.succeed("added"),
    ban: () => Effect.succeed("banned"),
    unban: () => Effect.succeed("unbanned"),
    bans: Effect.succeed([]),
    clearBans: Effect.void,
    addresses: () => Effect.succeed([]),
    addressCounts: Effect.succeed(new Map()),
    lonely: Effect.succeed(false),
    ...said
  })

export const noPeers = Layer.succeed(PeerManager, peerManager())
