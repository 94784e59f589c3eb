import type { Peer } from "../../network/Peer.ts"
import type { PeerInfo } from "../../network/peerInfo.ts"
import { formatEndpoint } from "../../network/wire/addressText.ts"
import { Services } from "../../network/wire/messages/version.ts"
import type { AddressNetwork, NetAddress } from "../../network/wire/netAddress.ts"
import { isRoutable } from "../../network/wire/netGroup.ts"
import { Amount, type JsonValue } from "../json/encodeJson.ts"
import * as Shape from "../method/shape.ts"

/** Peers and networks as RPC shows them (reference/rpc.md 3.7). */

const SERVICE_NAMES: ReadonlyArray<readonly [name: string, bit: bigint]> = [
  ["NETWORK", Services.network],
  ["BLOOM", Services.bloom],
  ["WITNESS", Services.witness],
  ["COMPACT_FILTERS", Services.compactFilters],
  ["NETWORK_LIMITED", Services.networkLimited],
  ["P2P_V2", Services.p2pV2]
]

export const hex64 = (bits: bigint): string => bits.toString(16).padStart(16, "0")

/** The names of service bits; those without a name by their number, as the reference node writes them. */
export const serviceNames = (services: bigint): ReadonlyArray<string> => {
  const names: Array<string> = []
  for (let bit = 0n; bit < 64n; bit++) {
    if ((services >> bit & 1n) === 0n) continue
    names.push(SERVICE_NAMES.find(([, known]) => known === 1n << bit)?.[0] ?? `UNKNOWN[2^${bit}]`)
  }
  return names
}

export const NETWORK_NAMES = ["ipv4", "ipv6", "onion", "i2p", "cjdns"] as const

/** What RPC calls a network; the wire's name for it is `torv3` where RPC says `onion`. */
export const rpcNetwork = (network: AddressNetwork): string => network === "torv3" ? "onion" : network

export const wireNetwork = (name: string): AddressNetwork | undefined =>
  NETWORK_NAMES.some((known) => known === name)
    ? ([...new Set<AddressNetwork>(["ipv4", "ipv6", "torv3", "i2p", "cjdns"])].find((one) => rpcNetwork(one) === name))
    : undefined

/** The network of a connection, as `getpeerinfo` says it. */
const networkOf = (address: NetAddress): string =>
  isRoutable(address) ? rpcNetwork(address.network) : "not_publicly_routable"

const seconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000

export const FEE = "NMC a kvB"

const BYTES_BY_MESSAGE = Shape.map("msg", Shape.integer("Bytes, frames with their headers"))

export const PEER = Shape.object({
  id: Shape.integer("Number of the connection"),
  addr: Shape.string("Address and port of the peer"),
  addrbind: Shape.optional(Shape.string("Our end of the connection")),
  addrlocal: Shape.optional(Shape.string("Our address as the peer sees it")),
  network: Shape.string("ipv4, ipv6, onion, i2p, cjdns or not_publicly_routable"),
  services: Shape.hex("Services that it offers, 16 digits"),
  servicesnames: Shape.array(Shape.string("The same in words")),
  relaytxes: Shape.boolean("Whether it wants transactions announced"),
  last_inv_sequence: Shape.integer("Mempool sequence at the last announcement"),
  inv_to_send: Shape.integer("Transactions that wait to be announced"),
  lastsend: Shape.time("When something was sent last"),
  lastrecv: Shape.time("When something came last"),
  last_transaction: Shape.time("When it last gave a transaction that was new"),
  last_block: Shape.time("When it last gave a block that was new"),
  bytessent: Shape.integer("Bytes sent"),
  bytesrecv: Shape.integer("Bytes received"),
  conntime: Shape.time("When the connection was made"),
  timeoffset: Shape.integer("Its clock less ours, in seconds"),
  pingtime: Shape.optional(Shape.number("Seconds of the last round trip")),
  minping: Shape.optional(Shape.number("Seconds of the shortest")),
  pingwait: Shape.optional(Shape.number("Seconds that a ping has been waiting")),
  version: Shape.integer("Protocol version that it announced"),
  subver: Shape.string("What it calls itself"),
  inbound: Shape.boolean("Whether it called us"),
  bip152_hb_to: Shape.boolean("Whether we chose it to send compact blocks unasked"),
  bip152_hb_from: Shape.boolean("Whether it chose us"),
  presynced_headers: Shape.integer("Headers looked at without keeping them; -1 for no such pass"),
  synced_headers: Shape.integer("Height of the last header in common, or -1"),
  synced_blocks: Shape.integer("Height of the last block in common, or -1"),
  inflight: Shape.array(Shape.integer("Height of a block that it was asked for")),
  addr_relay_enabled: Shape.boolean("Whether addresses are exchanged"),
  addr_processed: Shape.integer("Addresses taken from it"),
  addr_rate_limited: Shape.integer("Addresses passed over because there were too many"),
  permissions: Shape.array(Shape.string("Nothing: svcd has no privileged peers")),
  minfeefilter: Shape.amount(`Least fee rate that it wants announced, ${FEE}`),
  bytessent_per_msg: BYTES_BY_MESSAGE,
  bytesrecv_per_msg: BYTES_BY_MESSAGE,
  connection_type: Shape.string("inbound, manual, outbound-full-relay, block-relay-only, addr-fetch or feeler"),
  transport_protocol_type: Shape.string("v1"),
  session_id: Shape.string("Empty: version 1 of the transport has none")
})

const ourAddress = ({ hello }: Peer): string | undefined =>
  hello.ourAddress === undefined ? undefined : formatEndpoint(hello.ourAddress.address, hello.ourAddress.port)

/** A peer as `getpeerinfo` has it. */
export const peerJson = ({ gossip, peer, relay, sync }: PeerInfo): JsonValue => ({
  id: peer.id,
  addr: peer.name,
  addrbind: peer.bind,
  addrlocal: ourAddress(peer),
  network: networkOf(peer.address),
  services: hex64(peer.hello.services),
  servicesnames: serviceNames(peer.hello.services),
  relaytxes: peer.hello.relay,
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
  permissions: [],
  minfeefilter: new Amount(peer.features.feeFilter),
  bytessent_per_msg: Object.fromEntries([...peer.traffic.sentByCommand].sort()),
  bytesrecv_per_msg: Object.fromEntries([...peer.traffic.receivedByCommand].sort()),
  connection_type: peer.type,
  transport_protocol_type: "v1",
  session_id: ""
})
