import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { contains, formatSubnet, parseSubnet } from "../../network/addresses/subnet.ts"
import type { Peer } from "../../network/Peer.ts"
import { type Ban, type KnownAddress, type PeerInfo, PeerManager } from "../../network/PeerManager.ts"
import { formatAddress, formatEndpoint } from "../../network/wire/addressText.ts"
import { Services } from "../../network/wire/messages/version.ts"
import type { AddressNetwork, NetAddress } from "../../network/wire/netAddress.ts"
import { isRoutable } from "../../network/wire/netGroup.ts"
import { version } from "../../version.ts"
import { Amount, type JsonValue } from "../encodeJson.ts"
import { helpText } from "../help.ts"
import { type Method, method } from "../method.ts"
import { boolean, int32, int64, optional, string, withDefault } from "../params.ts"
import { RPC_CODE, RpcError } from "../RpcError.ts"
import * as Shape from "../shape.ts"
import { PROTOCOL_VERSION, versionNumber } from "./infoMethods.ts"

/** Methods about peers and addresses (rpc.md 3.7). */

const SERVICE_NAMES: ReadonlyArray<readonly [name: string, bit: bigint]> = [
  ["NETWORK", Services.network],
  ["BLOOM", Services.bloom],
  ["WITNESS", Services.witness],
  ["COMPACT_FILTERS", Services.compactFilters],
  ["NETWORK_LIMITED", Services.networkLimited],
  ["P2P_V2", Services.p2pV2]
]

const hex64 = (bits: bigint): string => bits.toString(16).padStart(16, "0")

/** The names of service bits; those without a name by their number, as the reference node writes them. */
export const serviceNames = (services: bigint): ReadonlyArray<string> => {
  const names: Array<string> = []
  for (let bit = 0n; bit < 64n; bit++) {
    if ((services >> bit & 1n) === 0n) continue
    names.push(SERVICE_NAMES.find(([, known]) => known === 1n << bit)?.[0] ?? `UNKNOWN[2^${bit}]`)
  }
  return names
}

const NETWORK_NAMES = ["ipv4", "ipv6", "onion", "i2p", "cjdns"] as const

/** What RPC calls a network; the wire's name for it is `torv3` where RPC says `onion`. */
const rpcNetwork = (network: AddressNetwork): string => network === "torv3" ? "onion" : network

const wireNetwork = (name: string): AddressNetwork | undefined =>
  NETWORK_NAMES.some((known) => known === name)
    ? ([...new Set<AddressNetwork>(["ipv4", "ipv6", "torv3", "i2p", "cjdns"])].find((one) => rpcNetwork(one) === name))
    : undefined

/** The network of a connection, as `getpeerinfo` says it. */
const networkOf = (address: NetAddress): string =>
  isRoutable(address) ? rpcNetwork(address.network) : "not_publicly_routable"

const seconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000

const FEE = "NMC a kvB"

const BYTES_BY_MESSAGE = Shape.map("msg", Shape.integer("Bytes, frames with their headers"))

const PEER = Shape.object({
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

const addressJson = ({ address, port, services, time }: KnownAddress): JsonValue => ({
  time,
  services: Number(services),
  address: formatAddress(address),
  port,
  network: rpcNetwork(address.network)
})

const nodeError = (code: number, message: string): RpcError => new RpcError({ code, message })

/** A method whose command word decides what it does: an unknown word is answered with the method's help. */
const usage = (self: () => Method): RpcError => RpcError.misc(helpText(self()))

type Manager = typeof PeerManager.Service

const connectionMethods = (peers: Manager): ReadonlyArray<Method> => {
  const getconnectioncount = method({
    name: "getconnectioncount",
    group: "Network",
    summary: "Returns the number of connected peers.",
    params: {},
    results: [{ shape: Shape.integer("Number of peers") }],
    examples: [[]],
    handler: () => Effect.map(peers.count, ({ inbound, outbound }) => inbound + outbound)
  })

  const getpeerinfo = method({
    name: "getpeerinfo",
    group: "Network",
    summary: "Returns what is known of each connected peer.",
    params: {},
    results: [{ shape: Shape.array(PEER) }],
    examples: [[]],
    handler: () => Effect.map(peers.peers, (list) => list.map(peerJson))
  })

  const ping = method({
    name: "ping",
    group: "Network",
    summary: "Asks every peer for an answer now; getpeerinfo then tells how long it took.",
    params: {},
    results: [{ shape: Shape.nothing("") }],
    examples: [[]],
    handler: () => Effect.as(peers.ping, null)
  })

  const getnettotals = method({
    name: "getnettotals",
    group: "Network",
    summary: "Returns what went over the network since the start.",
    params: {},
    results: [{
      shape: Shape.object({
        totalbytesrecv: Shape.integer("Bytes received"),
        totalbytessent: Shape.integer("Bytes sent"),
        timemillis: Shape.integer("Now, in milliseconds since 1970"),
        uploadtarget: Shape.object({
          timeframe: Shape.integer("Seconds of a cycle"),
          target: Shape.integer("Bytes a cycle; 0, as svcd has no such limit"),
          target_reached: Shape.boolean("Never"),
          serve_historical_blocks: Shape.boolean("Always"),
          bytes_left_in_cycle: Shape.integer("0"),
          time_left_in_cycle: Shape.integer("0")
        })
      })
    }],
    examples: [[]],
    handler: () =>
      Effect.gen(function*() {
        const { received, sent } = yield* peers.totals
        return {
          totalbytesrecv: received,
          totalbytessent: sent,
          timemillis: yield* Clock.currentTimeMillis,
          uploadtarget: {
            timeframe: 86_400,
            target: 0,
            target_reached: false,
            serve_historical_blocks: true,
            bytes_left_in_cycle: 0,
            time_left_in_cycle: 0
          }
        }
      })
  })

  const disconnectnode = method({
    name: "disconnectnode",
    group: "Network",
    summary: "Ends the connection to a peer, named by its address or by its number.",
    params: {
      address: optional(string("Address and port, as in getpeerinfo.")),
      nodeid: optional(int64("Number, as in getpeerinfo."))
    },
    results: [{ shape: Shape.nothing("") }],
    examples: [["192.0.2.5:8334"], ["", 1]],
    errors: ["-29 Node not found in connected nodes", "-32602 Only one of address and nodeid should be provided."],
    handler: ({ address, nodeid }) => {
      // An empty address leaves it to the number; alone it is one that nobody has.
      const which = nodeid === undefined
        ? (address === undefined ? undefined : { name: address })
        : (address === undefined || address === "" ? { id: nodeid } : undefined)
      if (which === undefined) {
        return nodeError(RPC_CODE.invalidParams, "Only one of address and nodeid should be provided.")
      }
      return peers.disconnect(which).pipe(
        Effect.as(null),
        Effect.mapError(() => nodeError(RPC_CODE.nodeNotConnected, "Node not found in connected nodes"))
      )
    }
  })

  const setnetworkactive = method({
    name: "setnetworkactive",
    group: "Network",
    summary: "Switches the network off or on.",
    params: { state: boolean("Whether there are to be connections.") },
    results: [{ shape: Shape.boolean("The state from now on") }],
    examples: [[false]],
    handler: ({ state }) => Effect.as(peers.setActive(state), state)
  })

  return [getconnectioncount, getpeerinfo, ping, getnettotals, disconnectnode, setnetworkactive]
}

/** What a connection of our own may be for, beside being the operator's. */
const PURPOSES = ["outbound-full-relay", "block-relay-only", "addr-fetch", "feeler"] as const

const addedMethods = (peers: Manager, regtest: boolean): ReadonlyArray<Method> => {
  const addnode: Method = method({
    name: "addnode",
    group: "Network",
    summary: "Adds a peer that is to be called and called again, takes it off the list, or calls it once.",
    params: {
      node: string("Address or host name, with a port where it is not the network's own."),
      command: string("add, remove or onetry."),
      v2transport: optional(boolean("Whether to try version 2 of the transport, which svcd does not speak."))
    },
    results: [{ shape: Shape.nothing("") }],
    examples: [["192.0.2.5:8334", "onetry"]],
    errors: [
      "-23 Error: Node already added",
      "-24 Error: Node could not be removed. It has not been added previously.",
      "-8 Error: v2transport requested but not enabled (see -v2transport)"
    ],
    handler: ({ command, node, v2transport }): Effect.Effect<JsonValue, RpcError> => {
      if (command !== "add" && command !== "remove" && command !== "onetry") return usage(() => addnode)
      if (v2transport === true) {
        return RpcError.invalidParameter("Error: v2transport requested but not enabled (see -v2transport)")
      }
      if (command === "onetry") return Effect.as(peers.connectOnce(node), null)
      return command === "add"
        ? Effect.flatMap(
          peers.add(node),
          (added) => added ? Effect.succeed(null) : nodeError(RPC_CODE.nodeAlreadyAdded, "Error: Node already added")
        )
        : Effect.flatMap(peers.remove(node), (removed) =>
          removed
            ? Effect.succeed(null)
            : nodeError(
              RPC_CODE.nodeNotAdded,
              "Error: Node could not be removed. It has not been added previously."
            ))
    }
  })

  const getaddednodeinfo = method({
    name: "getaddednodeinfo",
    group: "Network",
    summary: "Returns the peers that were added by -addpeer or addnode, and whether they are connected.",
    params: { node: optional(string("One of them; all where it is left out.")) },
    results: [{
      shape: Shape.array(Shape.object({
        addednode: Shape.string("As it was added"),
        connected: Shape.boolean("Whether it is connected"),
        addresses: Shape.array(Shape.object({
          address: Shape.string("Address and port"),
          connected: Shape.string("inbound or outbound")
        }))
      }))
    }],
    examples: [[]],
    errors: ["-24 Error: Node has not been added."],
    handler: ({ node }) =>
      Effect.flatMap(peers.added, (all) => {
        const list = node === undefined ? all : all.filter((one) => one.node === node)
        if (node !== undefined && list.length === 0) {
          return nodeError(RPC_CODE.nodeNotAdded, "Error: Node has not been added.")
        }
        return Effect.succeed(list.map(({ connected, node }) => ({
          addednode: node,
          connected: connected !== undefined,
          addresses: connected === undefined
            ? []
            : [{ address: connected.address, connected: connected.inbound ? "inbound" : "outbound" }]
        })))
      })
  })

  const addconnection: Method = method({
    name: "addconnection",
    group: "Hidden",
    summary: "Calls a peer for a purpose. For tests, on regtest alone.",
    params: {
      address: string("Address and port."),
      connection_type: string("outbound-full-relay, block-relay-only, addr-fetch or feeler."),
      v2transport: boolean("Whether to speak version 2 of the transport, which svcd does not.")
    },
    results: [{
      shape: Shape.object({
        address: Shape.string("Whom it calls"),
        connection_type: Shape.string("What for")
      })
    }],
    examples: [],
    errors: [
      "-1 addconnection is for regression testing (-regtest mode) only.",
      "-8 Error: Adding v2transport connections requires -v2transport init flag to be set."
    ],
    handler: ({ address, connection_type, v2transport }): Effect.Effect<JsonValue, RpcError> => {
      if (!regtest) return RpcError.misc("addconnection is for regression testing (-regtest mode) only.")
      const type = PURPOSES.find((known) => known === connection_type.trim())
      if (type === undefined) return RpcError.invalidParameter(helpText(addconnection))
      if (v2transport) {
        return RpcError.invalidParameter(
          "Error: Adding v2transport connections requires -v2transport init flag to be set."
        )
      }
      return Effect.as(peers.connectOnce(address, type), { address, connection_type: type })
    }
  })

  return [addnode, getaddednodeinfo, addconnection]
}

/** Seconds that a ban lasts where nothing else is said (protocol.md 6.11). */
const DEFAULT_BAN_SECONDS = 86_400

/**
 * How a range, or an address, stands to the bans: an address is banned by any range around it, a range by itself.
 * Source: upstream `banman.cpp`, `IsBanned`.
 */
const banOf = (text: string, bans: ReadonlyArray<Ban>): "free" | "already" | "invalid" => {
  const subnet = parseSubnet(text)
  if (subnet === undefined) return "invalid"
  const isRange = text.includes("/")
  const held = bans.some((ban) => {
    const range = parseSubnet(ban.subnet)
    if (range === undefined) return false
    return isRange ? formatSubnet(range) === formatSubnet(subnet) : contains(range, subnet.address)
  })
  return held ? "already" : "free"
}

const banMethods = (peers: Manager): ReadonlyArray<Method> => {
  const invalid = nodeError(RPC_CODE.invalidIpOrSubnet, "Error: Invalid IP/Subnet")
  const already = nodeError(RPC_CODE.nodeAlreadyAdded, "Error: IP/Subnet already banned")

  const setban: Method = method({
    name: "setban",
    group: "Network",
    summary: "Bans an address or a range, or takes that back. Who is connected from there is disconnected.",
    params: {
      subnet: string("An address, or a range as in 192.0.2.0/24."),
      command: string("add or remove."),
      bantime: withDefault(int64("Seconds that it lasts, or, with absolute, when it ends; 0 for a day."), 0),
      absolute: withDefault(boolean("Whether bantime is a time and no duration."), false)
    },
    results: [{ shape: Shape.nothing("") }],
    examples: [["192.0.2.6", "add", 86400], ["192.0.2.0/24", "remove"]],
    errors: [
      "-30 Error: Invalid IP/Subnet",
      "-23 Error: IP/Subnet already banned",
      "-8 Error: Absolute timestamp is in the past",
      "-30 Error: Unban failed. Requested address/subnet was not previously manually banned."
    ],
    handler: ({ absolute, bantime, command, subnet }): Effect.Effect<JsonValue, RpcError> =>
      Effect.gen(function*() {
        if (command !== "add" && command !== "remove") return yield* usage(() => setban)
        if (command === "remove") {
          const removed = yield* peers.unban(subnet)
          if (removed === "unbanned") return null
          return yield* removed === "invalid" ? invalid : nodeError(
            RPC_CODE.invalidIpOrSubnet,
            "Error: Unban failed. Requested address/subnet was not previously manually banned."
          )
        }
        const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        if (absolute && bantime < now) {
          const standing = banOf(subnet, yield* peers.bans)
          if (standing === "free") return yield* RpcError.invalidParameter("Error: Absolute timestamp is in the past")
          return yield* standing === "invalid" ? invalid : already
        }
        const until = absolute ? bantime : now + (bantime <= 0 ? DEFAULT_BAN_SECONDS : bantime)
        const banned = yield* peers.ban(subnet, until)
        if (banned === "banned") return null
        return yield* banned === "invalid" ? invalid : already
      })
  })

  const listbanned = method({
    name: "listbanned",
    group: "Network",
    summary: "Returns the addresses and ranges that are banned.",
    params: {},
    results: [{
      shape: Shape.array(Shape.object({
        address: Shape.string("Address or range"),
        ban_created: Shape.time("When it was banned"),
        banned_until: Shape.time("When that ends"),
        ban_duration: Shape.integer("Seconds in all"),
        time_remaining: Shape.integer("Seconds left")
      }))
    }],
    examples: [[]],
    handler: () =>
      Effect.gen(function*() {
        const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        return (yield* peers.bans).map(({ created, subnet, until }) => ({
          address: subnet,
          ban_created: created,
          banned_until: until,
          ban_duration: until - created,
          time_remaining: until - now
        }))
      })
  })

  const clearbanned = method({
    name: "clearbanned",
    group: "Network",
    summary: "Takes all bans back.",
    params: {},
    results: [{ shape: Shape.nothing("") }],
    examples: [[]],
    handler: () => Effect.as(peers.clearBans, null)
  })

  return [setban, listbanned, clearbanned]
}

const addressMethods = (peers: Manager): ReadonlyArray<Method> => {
  const getnodeaddresses = method({
    name: "getnodeaddresses",
    group: "Network",
    summary: "Returns addresses of nodes that this one knows of, at random.",
    params: {
      count: withDefault(int32("How many at most; 0 for all."), 1),
      network: optional(string("ipv4, ipv6, onion, i2p or cjdns."))
    },
    results: [{
      shape: Shape.array(Shape.object({
        time: Shape.time("When somebody saw it last"),
        services: Shape.integer("Services that it offers, as bits"),
        address: Shape.string("Address"),
        port: Shape.integer("Port"),
        network: Shape.string("Its network")
      }))
    }],
    examples: [[8], [0, "ipv4"]],
    errors: ["-8 Address count out of range", "-8 Network not recognized: <x>"],
    handler: ({ count, network }) => {
      if (count < 0) return RpcError.invalidParameter("Address count out of range")
      const known = network === undefined ? undefined : wireNetwork(network)
      if (network !== undefined && known === undefined) {
        return RpcError.invalidParameter(`Network not recognized: ${network}`)
      }
      return Effect.map(peers.addresses(count, known), (list) => list.map(addressJson))
    }
  })

  const getaddrmaninfo = method({
    name: "getaddrmaninfo",
    group: "Network",
    summary: "Counts the addresses of nodes that this one knows of.",
    params: {},
    results: [{
      shape: Shape.map(
        "network",
        Shape.object({
          new: Shape.integer("Heard of"),
          tried: Shape.integer("Connected to before"),
          total: Shape.integer("Both")
        })
      )
    }],
    examples: [[]],
    handler: () =>
      Effect.map(peers.addressCounts, (counts) => {
        const rows = NETWORK_NAMES.map((name) => {
          const found = [...counts].find(([network]) => rpcNetwork(network) === name)?.[1]
          const { fresh, tried } = found ?? { fresh: 0, tried: 0 }
          return [name, { new: fresh, tried, total: fresh + tried }] as const
        })
        const sum = (of: (row: { new: number; tried: number; total: number }) => number) =>
          rows.reduce((total, [, row]) => total + of(row), 0)
        const all = { new: sum((row) => row.new), tried: sum((row) => row.tried), total: sum((row) => row.total) }
        return Object.fromEntries([...rows, ["all_networks", all]])
      })
  })

  return [getnodeaddresses, getaddrmaninfo]
}

const summaryMethods = (peers: Manager, mempool: typeof Mempool.Service): ReadonlyArray<Method> => {
  const getnetworkinfo = method({
    name: "getnetworkinfo",
    group: "Network",
    summary: "Returns a summary of the network as this node sees it.",
    params: {},
    results: [{
      shape: Shape.object({
        version: Shape.integer("Version of svcd, two digits a part"),
        subversion: Shape.string("What this node calls itself"),
        protocolversion: Shape.integer("Version of the network protocol"),
        localservices: Shape.hex("Services that this node offers, 16 digits"),
        localservicesnames: Shape.array(Shape.string("The same in words")),
        localrelay: Shape.boolean("Whether transactions are relayed"),
        timeoffset: Shape.integer("Seconds that the clock is corrected by: never"),
        connections: Shape.integer("Connected peers"),
        connections_in: Shape.integer("Peers that called this node"),
        connections_out: Shape.integer("Peers that this node called"),
        networkactive: Shape.boolean("Whether there are to be connections"),
        networks: Shape.array(Shape.object({
          name: Shape.string("ipv4, ipv6, onion, i2p or cjdns"),
          limited: Shape.boolean("Whether it is left out"),
          reachable: Shape.boolean("Whether its peers can be called"),
          proxy: Shape.string("The proxy, if any"),
          proxy_randomize_credentials: Shape.boolean("Whether each connection has credentials of its own there")
        })),
        relayfee: Shape.amount(`Least fee rate that is relayed, ${FEE}`),
        incrementalfee: Shape.amount(`What a replacement has to pay on top, ${FEE}`),
        localaddresses: Shape.array(Shape.object({
          address: Shape.string("An address of this node"),
          port: Shape.integer("Its port"),
          score: Shape.integer("How sure that is")
        })),
        warnings: Shape.array(Shape.string("What is wrong"))
      })
    }],
    examples: [[]],
    handler: () =>
      Effect.gen(function*() {
        const { inbound, outbound } = yield* peers.count
        const { incrementalFeeRate, minRelayFeeRate } = mempool.info()
        const proxy = peers.proxy ?? ""
        const reachable = (name: string): boolean =>
          name === "ipv4" || name === "ipv6" || (name === "onion" && proxy !== "")
        const locals = yield* peers.localAddresses
        return {
          version: versionNumber(version),
          subversion: peers.userAgent,
          protocolversion: PROTOCOL_VERSION,
          localservices: hex64(peers.services),
          localservicesnames: serviceNames(peers.services),
          localrelay: true,
          timeoffset: 0,
          connections: inbound + outbound,
          connections_in: inbound,
          connections_out: outbound,
          networkactive: yield* peers.active,
          networks: NETWORK_NAMES.map((name) => ({
            name,
            limited: !reachable(name),
            reachable: reachable(name),
            proxy: reachable(name) ? proxy : "",
            proxy_randomize_credentials: reachable(name) && proxy !== ""
          })),
          relayfee: new Amount(minRelayFeeRate),
          incrementalfee: new Amount(incrementalFeeRate),
          localaddresses: locals.map(({ address, port, score }) => ({ address, port, score })),
          warnings: []
        }
      })
  })

  return [getnetworkinfo]
}

export const networkMethods: Effect.Effect<ReadonlyArray<Method>, never, Chain | PeerManager | Mempool> = Effect.gen(
  function*() {
    const chain = yield* Chain
    const peers = yield* PeerManager
    const mempool = yield* Mempool
    return [
      ...connectionMethods(peers),
      ...addedMethods(peers, chain.params.network.name === "regtest"),
      ...banMethods(peers),
      ...addressMethods(peers),
      ...summaryMethods(peers, mempool)
    ]
  }
)
