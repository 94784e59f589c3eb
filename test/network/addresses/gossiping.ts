import { Effect } from "effect"
import { AddressBook } from "../../../src/network/addresses/AddressBook.ts"
import { BanList } from "../../../src/network/addresses/BanList.ts"
import { type GossipOptions, make } from "../../../src/network/addresses/gossip.ts"
import type { ConnectionType, Disconnection, Peer } from "../../../src/network/Peer.ts"
import type { Message } from "../../../src/network/wire/message.ts"
import type { AddressEntry } from "../../../src/network/wire/messages/addr.ts"
import { peerId } from "../../../src/protocol/keys.ts"
import { ampleAccount } from "../../support/memory.ts"
import { receive } from "../../support/receive.ts"
import { endpoint, NOW, numbered, seeded } from "./support.ts"

export const DAY = 86_400
export const ONION = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion:8334"

export interface TestPeer extends Peer {
  readonly sent: Array<Message>
  readonly disconnections: Array<Disconnection>
}

export const newPeer = (
  id: number,
  type: ConnectionType,
  fields: {
    readonly permissions?: Peer["permissions"]
    readonly addrV2?: boolean
    readonly ourAddress?: Peer["hello"]["ourAddress"]
    readonly from?: string
  } = {}
): TestPeer => {
  const sent: Array<Message> = []
  const disconnections: Array<Disconnection> = []
  const { address, port } = endpoint(fields.from ?? `80.${id}.1.1:8334`)
  return {
    id: peerId(id),
    type,
    inbound: type === "inbound",
    address,
    port,
    name: `peer ${id}`,
    permissions: fields.permissions ?? new Set(),
    bind: "127.0.0.1:8334",
    connectedAt: NOW,
    hello: {
      version: 110_016,
      commonVersion: 110_016,
      services: 9n,
      userAgent: "/test/",
      startHeight: 0,
      relay: true,
      timeOffset: 0,
      wtxidRelay: true,
      addrV2: fields.addrV2 ?? true,
      ourAddress: fields.ourAddress
    },
    features: { sendHeaders: false, compactBlocks: "none", feeFilter: 0, relay: true, bloom: undefined },
    traffic: {
      bytesSent: 0,
      bytesReceived: 0,
      lastSend: 0,
      lastReceive: 0,
      sentByCommand: new Map(),
      receivedByCommand: new Map()
    },
    memory: ampleAccount(),
    spent: () => {},
    judged: () => {},
    turn: Effect.void,
    ready: Effect.void,
    latency: { last: undefined, best: undefined, waiting: undefined },
    get closed() {
      return disconnections.length > 0
    },
    send: (message) => Effect.sync(() => void sent.push(message)),
    post: (message) => void sent.push(message),
    disconnect: (disconnection) => void disconnections.push(disconnection),
    sent,
    disconnections
  }
}

export const setup = (fields: Partial<GossipOptions> = {}) => {
  const clock = { now: NOW }
  const book = new AddressBook({ random: seeded(1) })
  const bans = new BanList({ key: new Uint8Array(16) })
  const gossip = make({
    book,
    bans,
    random: seeded(4),
    key: new Uint8Array(16).fill(6),
    now: () => clock.now,
    services: 0x409n,
    ownAddress: () => undefined,
    initialDownload: () => false,
    reachable: () => true,
    ...fields
  })
  const run = (effect: Effect.Effect<void>) => Effect.runSync(effect)
  return {
    book,
    bans,
    clock,
    gossip,
    connect: (peer: TestPeer) => (run(gossip.connected(peer)), peer),
    receive: (peer: TestPeer, message: Message) => run(receive(gossip, peer, message)),
    gone: (peer: TestPeer) => run(gossip.gone(peer)),
    /** Two minutes of ticks. */
    pass: (seconds = 300) => {
      for (let i = 0; i < seconds; i++) gossip.tick(++clock.now)
    }
  }
}

export const entry = (n: number, fields: Partial<AddressEntry> = {}): AddressEntry => ({
  time: NOW,
  services: 9n,
  address: numbered(n * 65_537),
  port: 8334,
  ...fields
})

export const entries = (count: number, fields: Partial<AddressEntry> = {}): Array<AddressEntry> =>
  Array.from({ length: count }, (_, n) => entry(n, fields))

export const addrv2 = (addresses: ReadonlyArray<AddressEntry>): Message => ({ type: "addrv2", addresses })

export const addressesSent = (peer: TestPeer): ReadonlyArray<AddressEntry> =>
  peer.sent.flatMap((message) => message.type === "addrv2" || message.type === "addr" ? message.addresses : [])
