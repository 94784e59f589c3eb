import type { Grant } from "../../config/permissions.ts"
import { type Bytes } from "../../protocol/bytes.ts"
import type { BanList } from "../addresses/BanList.ts"
import { type EvictionCandidate, selectPeerToEvict } from "../addresses/eviction.ts"
import type { Peer } from "../Peer.ts"
import type { PeerConnection } from "../peer/PeerConnection.ts"
import type { PeerRelay, PeerSync } from "../peerInfo.ts"
import { formatEndpoint } from "../wire/addressText.ts"
import { Services } from "../wire/messages/version.ts"
import type { NetAddress } from "../wire/netAddress.ts"
import { isLocal, networkGroup } from "../wire/netGroup.ts"
import { type ConnectionPlan, type Connections, socketAddress } from "./Connections.ts"
import type { PermissionRules } from "./permissions.ts"
import type { SlotLimits } from "./slots.ts"
import type { PeerStream } from "./Transport.ts"

export interface InboundOptions {
  readonly connections: Connections
  readonly limits: SlotLimits
  readonly bans: BanList
  readonly secret: Bytes
  readonly info: (peer: Peer) => { readonly sync: PeerSync; readonly relay: PeerRelay }
  readonly rules: Pick<PermissionRules, "inbound">
  readonly grant: Grant | undefined
}

const offersBlocks = (services: bigint): boolean =>
  (services & (Services.network | Services.witness)) === (Services.network | Services.witness)

/** Before the handshake, nothing protects a connection. */
const candidateOf = (connection: PeerConnection, { bans, info }: InboundOptions): EvictionCandidate => {
  const { connectedAt, facts: { address, id, permissions }, latency, peer } = connection
  const known = peer === undefined ? undefined : info(peer)
  return {
    id,
    connectedAt,
    group: networkGroup(address),
    bestPing: latency.best,
    lastTransaction: known?.relay.lastTransaction ?? 0,
    lastBlock: known?.sync.lastBlock ?? 0,
    servesBlocks: peer !== undefined && offersBlocks(peer.hello.services),
    relaysTransactions: peer?.features.relay ?? false,
    local: isLocal(address),
    network: address.network,
    preferEvict: bans.isDiscouraged(address),
    noban: permissions.has("noban")
  }
}

export type InboundDecision =
  | { readonly type: "admitted"; readonly plan: ConnectionPlan }
  | { readonly type: "refused"; readonly peer: string; readonly reason: string }

const refusedFor = (
  address: NetAddress,
  { bans, inbound, noban, now, room }: {
    readonly noban: boolean
    readonly inbound: number
    readonly room: number
    readonly bans: BanList
    readonly now: number
  }
): string | undefined => {
  if (room <= 0) return "slots full: no inbound slot is free"
  if (noban) return undefined
  if (bans.isBanned(address, now)) return "banned address"
  return bans.isDiscouraged(address) && inbound + 1 >= room
    ? "discouraged address: inbound slots are scarce"
    : undefined
}

/**
 * May evict another inbound peer. Counts connections before the handshake. `now`: seconds since 1970. Source: upstream
 * `net.cpp`, `CreateNodeFromAcceptedSocket`.
 */
export const admit = (socket: PeerStream, options: InboundOptions, now: number): InboundDecision => {
  const { bans, connections, grant, limits, rules, secret } = options
  const address = socketAddress(socket.remoteAddress)
  const port = socket.remotePort
  if (address === undefined || port === undefined) {
    return {
      type: "refused",
      peer: socket.remoteAddress ?? "unknown",
      reason: "connection lost: the peer has already disconnected"
    }
  }
  const name = formatEndpoint(address, port)
  const inbound = connections.all.filter(({ facts }) => facts.type === "inbound")
  const outbound = connections.all.length - inbound.length
  const room = Math.min(limits.inbound, limits.total - outbound)
  const permissions = rules.inbound(address, grant)
  const noban = permissions.has("noban")
  const reason = refusedFor(address, { inbound: inbound.length, noban, room, bans, now })
  if (reason !== undefined) return { type: "refused", peer: name, reason }
  if (inbound.length >= room) {
    const id = selectPeerToEvict(inbound.map((connection) => candidateOf(connection, options)), secret)
    const evicted = id === undefined ? undefined : connections.find(id)
    if (evicted === undefined) {
      return { type: "refused", peer: name, reason: "slots full: no inbound peer can be evicted" }
    }
    evicted.disconnect({ reason: "evicted: another inbound peer takes its slot", misbehaving: false })
  }
  return { type: "admitted", plan: { type: "inbound", address, port, name, permissions, expectedServices: 0n } }
}
