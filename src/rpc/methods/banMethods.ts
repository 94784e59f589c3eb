import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { contains, formatSubnet, parseSubnet } from "../../network/addresses/subnet.ts"
import type { Ban, KnownAddress } from "../../network/peerInfo.ts"
import type { PeerManager } from "../../network/PeerManager.ts"
import { formatNetAddress } from "../../network/wire/addressText.ts"
import { CLEARBANNED, GETADDRMANINFO, GETNODEADDRESSES, LISTBANNED, SETBAN } from "../contract/network/connection.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"
import { PEER_NETWORKS, rpcNetwork, wireNetwork } from "../shapes/peer.ts"
import { nodeError, usageError } from "./errors.ts"

/** reference/rpc.md 3.7. */

type Manager = typeof PeerManager.Service

const addressJson = ({ address, port, services, time }: KnownAddress) => ({
  time,
  services: Number(services),
  address: formatNetAddress(address),
  port,
  network: rpcNetwork(address.network)
})

/** Seconds (reference/protocol.md 6.11). */
const DEFAULT_BAN_SECONDS = 86_400

/** Any range around an address bans it; only the same range bans a range. Source: upstream `banman.cpp`, `IsBanned`. */
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

  const setban: Method = method(
    SETBAN,
    ({ absolute, bantime, command, subnet }): Effect.Effect<null, RpcError> =>
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
  )

  const listbanned = method(LISTBANNED, () =>
    Effect.gen(function*() {
      const now = yield* unixTime
      return (yield* peers.bans).map(({ created, subnet, until }) => ({
        address: subnet,
        ban_created: created,
        banned_until: until,
        ban_duration: until - created,
        time_remaining: until - now
      }))
    }))

  const clearbanned = method(CLEARBANNED, () => Effect.as(peers.clearBans, null))

  return [setban, listbanned, clearbanned]
}

export const knownAddressMethods = (peers: Manager): ReadonlyArray<Method> => {
  const getnodeaddresses = method(GETNODEADDRESSES, ({ count, network }) => {
    if (count < 0) return RpcError.invalidParameter("Address count out of range")
    const known = network === undefined ? undefined : wireNetwork(network)
    if (network !== undefined && known === undefined) {
      return RpcError.invalidParameter(`Network not recognized: ${network}`)
    }
    return Effect.map(peers.addresses(count, known), (list) => list.map(addressJson))
  })

  const getaddrmaninfo = method(GETADDRMANINFO, () =>
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
    }))

  return [getnodeaddresses, getaddrmaninfo]
}
