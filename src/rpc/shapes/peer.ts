import * as Schema from "effect/Schema"
import type { Peer } from "../../network/Peer.ts"
import type { PeerInfo } from "../../network/peerInfo.ts"
import { formatEndpoint } from "../../network/wire/addressText.ts"
import { Services } from "../../network/wire/messages/version.ts"
import type { AddressNetwork, NetAddress } from "../../network/wire/netAddress.ts"
import { isRoutable } from "../../network/wire/netGroup.ts"
import { Amount } from "../json/encodeJson.ts"
import * as Result from "../method/results.ts"

/** reference/rpc.md 3.7. */

const SERVICE_NAMES: ReadonlyArray<readonly [name: string, bit: bigint]> = [
  ["NETWORK", Services.network],
  ["BLOOM", Services.bloom],
  ["WITNESS", Services.witness],
  ["COMPACT_FILTERS", Services.compactFilters],
  ["NETWORK_LIMITED", Services.networkLimited],
  ["P2P_V2", Services.p2pV2]
]

export const hex64 = (bits: bigint): string => bits.toString(16).padStart(16, "0")

/** Unnamed bits appear by number, as in the reference node. */
export const serviceNames = (services: bigint): ReadonlyArray<string> => {
  const names: Array<string> = []
  for (let bit = 0n; bit < 64n; bit++) {
    if ((services >> bit & 1n) === 0n) continue
    names.push(SERVICE_NAMES.find(([, known]) => known === 1n << bit)?.[0] ?? `UNKNOWN[2^${bit}]`)
  }
  return names
}

export const PEER_NETWORKS = ["ipv4", "ipv6", "onion", "i2p", "cjdns"] as const

/** `torv3` on the wire is `onion` in RPC. */
export const rpcNetwork = (network: AddressNetwork): string => network === "torv3" ? "onion" : network

export const wireNetwork = (name: string): AddressNetwork | undefined =>
  PEER_NETWORKS.some((known) => known === name)
    ? ([...new Set<AddressNetwork>(["ipv4", "ipv6", "torv3", "i2p", "cjdns"])].find((one) => rpcNetwork(one) === name))
    : undefined

/** As in `getpeerinfo`. */
const networkOf = (address: NetAddress): string =>
  isRoutable(address) ? rpcNetwork(address.network) : "not_publicly_routable"

const seconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000

export const FEE = "NMC per kvB"

const BYTES_BY_MESSAGE = Result.map("msg", Result.integer("Bytes, frames with their headers"))

export const PEER = Schema.Struct({
  id: Result.integer("Id of the connection"),
  addr: Result.string("Address and port of the peer"),
  addrbind: Schema.optional(Result.string("Local address and port of the connection")),
  addrlocal: Schema.optional(Result.string("The node's address as the peer sees it")),
  network: Result.string("Network (ipv4, ipv6, onion, i2p, cjdns, not_publicly_routable)"),
  services: Result.hex("Services that the peer offers, 16 digits"),
  servicesnames: Schema.Array(Result.string("Name of a service")),
  relaytxes: Result.boolean("Whether the peer wants transactions announced"),
  last_inv_sequence: Result.integer("Mempool sequence at the last announcement"),
  inv_to_send: Result.integer("Transactions waiting to be announced to the peer"),
  lastsend: Result.time("Time of the last send"),
  lastrecv: Result.time("Time of the last receive"),
  last_transaction: Result.time("Time of the peer's last new transaction"),
  last_block: Result.time("Time of the peer's last new block"),
  bytessent: Result.integer("Bytes sent"),
  bytesrecv: Result.integer("Bytes received"),
  conntime: Result.time("Time of the connection"),
  timeoffset: Result.integer("The peer's clock minus the node's, in seconds"),
  pingtime: Schema.optional(Result.number("Round trip of the last ping, in seconds")),
  minping: Schema.optional(Result.number("Shortest round trip, in seconds")),
  pingwait: Schema.optional(Result.number("Seconds since an unanswered ping")),
  version: Result.integer("Protocol version of the peer"),
  subver: Result.string("User agent of the peer"),
  inbound: Result.boolean("Whether the peer opened the connection"),
  bip152_hb_to: Result.boolean("Whether the node asked the peer to send compact blocks unsolicited"),
  bip152_hb_from: Result.boolean("Whether the peer asked the node to do so"),
  presynced_headers: Result.integer("Headers checked without storing them (presync); -1 if no presync runs"),
  synced_headers: Result.integer("Height of the last common header, or -1"),
  synced_blocks: Result.integer("Height of the last common block, or -1"),
  inflight: Schema.Array(Result.integer("Height of a block requested from the peer")),
  addr_relay_enabled: Result.boolean("Whether addresses are exchanged"),
  addr_processed: Result.integer("Addresses accepted from the peer"),
  addr_rate_limited: Result.integer("Addresses of the peer dropped by the rate limit"),
  permissions: Schema.Array(Result.string("Permission of the peer: see -whitelist")),
  minfeefilter: Result.amount(`Minimum fee rate that the peer wants announced, ${FEE}`),
  bytessent_per_msg: BYTES_BY_MESSAGE,
  bytesrecv_per_msg: BYTES_BY_MESSAGE,
  connection_type: Result.string("inbound, manual, outbound-full-relay, block-relay-only, addr-fetch or feeler"),
  transport_protocol_type: Result.string("v1"),
  session_id: Result.string("Empty: version 1 of the transport has none")
})

const ourAddress = ({ hello }: Peer): string | undefined =>
  hello.ourAddress === undefined ? undefined : formatEndpoint(hello.ourAddress.address, hello.ourAddress.port)

export const peerJson = ({ gossip, peer, relay, sync }: PeerInfo): Result.ValueOf<typeof PEER> => ({
  id: peer.id,
  addr: peer.name,
  addrbind: peer.bind,
  addrlocal: ourAddress(peer),
  network: networkOf(peer.address),
  services: hex64(peer.hello.services),
  servicesnames: serviceNames(peer.hello.services),
  relaytxes: peer.features.relay && peer.type !== "block-relay-only" && peer.type !== "feeler",
  last_inv_sequence: relay.lastSequence,
  inv_to_send: relay.toAnnounce,
  lastsend: peer.traffic.lastSend,
  lastrecv: peer.traffic.lastReceive,
  last_transaction: relay.lastTransaction,
  last_block: sync.lastBlock,
  bytessent: peer.traffic.bytesSent,
  bytesrecv: peer.traffic.bytesReceived,
  conntime: peer.connectedAt,
  timeoffset: peer.hello.timeOffset,
  pingtime: seconds(peer.latency.last),
  minping: seconds(peer.latency.best),
  pingwait: seconds(peer.latency.waiting),
  version: peer.hello.version,
  subver: peer.hello.userAgent,
  inbound: peer.inbound,
  bip152_hb_to: sync.highBandwidthTo,
  bip152_hb_from: sync.highBandwidthFrom,
  presynced_headers: sync.presyncedHeaders,
  synced_headers: sync.syncedHeaders,
  synced_blocks: sync.syncedBlocks,
  inflight: sync.inFlight,
  addr_relay_enabled: gossip.enabled,
  addr_processed: gossip.processed,
  addr_rate_limited: gossip.rateLimited,
  permissions: [...peer.permissions],
  minfeefilter: new Amount(peer.features.feeFilter),
  bytessent_per_msg: Object.fromEntries([...peer.traffic.sentByCommand].sort()),
  bytesrecv_per_msg: Object.fromEntries([...peer.traffic.receivedByCommand].sort()),
  connection_type: peer.type,
  transport_protocol_type: "v1",
  session_id: ""
})
