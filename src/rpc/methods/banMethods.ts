import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { unixTime } from "../../base/clock.ts"
import { contains, formatSubnet, parseSubnet } from "../../network/addresses/subnet.ts"
import type { Ban, KnownAddress } from "../../network/peerInfo.ts"
import type { PeerManager } from "../../network/PeerManager.ts"
import { formatNetAddress } from "../../network/wire/addressText.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { boolean, int32, int64, optional, string, withDefault } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"
import { PEER_NETWORKS, rpcNetwork, wireNetwork } from "../shapes/peer.ts"
import { nodeError, usageError } from "./peerErrors.ts"

/** Methods for banned addresses and for known addresses (reference/rpc.md 3.7). */

type Manager = typeof PeerManager.Service

const addressJson = ({ address, port, services, time }: KnownAddress) => ({
  time,
  services: Number(services),
  address: formatNetAddress(address),
  port,
  network: rpcNetwork(address.network)
})

/** Default duration of a ban in seconds (reference/protocol.md 6.11). */
const DEFAULT_BAN_SECONDS = 86_400

/**
 * Compares a range or an address with the bans: any range around an address bans it; only the same range bans a range.
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

export const banMethods = (peers: Manager, banTime = DEFAULT_BAN_SECONDS): ReadonlyArray<Method> => {
  const invalid = nodeError(RPC_CODE.invalidIpOrSubnet, "Error: Invalid IP/Subnet")
  const already = nodeError(RPC_CODE.nodeAlreadyAdded, "Error: IP/Subnet already banned")

  const setban: Method = method({
    name: "setban",
    writes: true,
    group: "Network",
    summary: "Adds or removes a ban of an address or a range. A new ban disconnects the peers that it covers.",
    params: {
      subnet: string("An address, or a range as in 192.0.2.0/24."),
      command: string("add or remove."),
      bantime: withDefault(
        int64("Seconds of the ban, or, with absolute, the time of its end; 0 for that of -bantime, by default a day."),
        0
      ),
      absolute: withDefault(boolean("Whether bantime is a time instead of a duration."), false)
    },
    results: [{ schema: Result.nothing("") }],
    examples: [["192.0.2.6", "add", 86400], ["192.0.2.0/24", "remove"]],
    errors: [
      "-30 Error: Invalid IP/Subnet",
      "-23 Error: IP/Subnet already banned",
      "-8 Error: Absolute timestamp is in the past",
      "-30 Error: Unban failed. Requested address/subnet was not previously manually banned."
    ],
    handler: ({ absolute, bantime, command, subnet }): Effect.Effect<null, RpcError> =>
      Effect.gen(function*() {
        if (command !== "add" && command !== "remove") return yield* usageError(() => setban)
        if (command === "remove") {
          const removed = yield* peers.unban(subnet)
          if (removed === "unbanned") return null
          return yield* removed === "invalid" ? invalid : nodeError(
            RPC_CODE.invalidIpOrSubnet,
            "Error: Unban failed. Requested address/subnet was not previously manually banned."
          )
        }
        const now = yield* unixTime
        if (absolute && bantime < now) {
          const standing = banOf(subnet, yield* peers.bans)
          if (standing === "free") return yield* RpcError.invalidParameter("Error: Absolute timestamp is in the past")
          return yield* standing === "invalid" ? invalid : already
        }
        const until = absolute ? bantime : now + (bantime <= 0 ? banTime : bantime)
        const banned = yield* peers.ban(subnet, until)
        if (banned === "banned") return null
        return yield* banned === "invalid" ? invalid : already
      })
  })

  const listbanned = method({
    name: "listbanned",
    right: "read",
    group: "Network",
    summary: "Lists the banned addresses and ranges.",
    params: {},
    results: [{
      schema: Schema.Array(Schema.Struct({
        address: Result.string("Address or range"),
        ban_created: Result.time("Start of the ban"),
        banned_until: Result.time("End of the ban"),
        ban_duration: Result.integer("Seconds of the whole ban"),
        time_remaining: Result.integer("Seconds left")
      }))
    }],
    examples: [[]],
    handler: () =>
      Effect.gen(function*() {
        const now = yield* unixTime
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
    writes: true,
    group: "Network",
    summary: "Removes all bans.",
    params: {},
    results: [{ schema: Result.nothing("") }],
    examples: [[]],
    handler: () => Effect.as(peers.clearBans, null)
  })

  return [setban, listbanned, clearbanned]
}

export const knownAddressMethods = (peers: Manager): ReadonlyArray<Method> => {
  const getnodeaddresses = method({
    name: "getnodeaddresses",
    right: "read",
    group: "Network",
    summary: "Returns randomly chosen addresses of known nodes.",
    params: {
      count: withDefault(int32("Maximum number; 0 for all."), 1),
      network: optional(string("ipv4, ipv6, onion, i2p or cjdns."))
    },
    results: [{
      schema: Schema.Array(Schema.Struct({
        time: Result.time("Time at which the address was last seen"),
        services: Result.integer("Services of the node, as bits"),
        address: Result.string("Address"),
        port: Result.integer("Port"),
        network: Result.string("Network of the address")
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
    right: "read",
    group: "Network",
    summary: "Counts the addresses of known nodes by network.",
    params: {},
    results: [{
      schema: Result.map(
        "network",
        Schema.Struct({
          new: Result.integer("Received from peers, not connected to yet"),
          tried: Result.integer("Connected to before"),
          total: Result.integer("Both")
        })
      )
    }],
    examples: [[]],
    handler: () =>
      Effect.map(peers.addressCounts, (counts) => {
        const rows = PEER_NETWORKS.map((name) => {
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
