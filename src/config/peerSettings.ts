import type * as Schema from "effect/Schema"
import type { Address } from "../base/addresses.ts"
import type { ReachableNetwork } from "./peerKinds.ts"
import type { PEER_OPTIONS } from "./peerOptions.ts"
import { type ProxyRoutes, proxyRoutes } from "./proxies.ts"
import { ownUserAgent } from "./userAgent.ts"

/** The settings of connections to peers that follow from several options. */
export interface PeerSettings {
  /** Milliseconds for a TCP connection. */
  readonly connectTimeout: number
  /** Seconds for the handshake, and before a peer can count as silent. */
  readonly peerTimeout: number
  /** Seconds of a ban by `setban`, if the caller says nothing else. */
  readonly banTime: number
  /** Bytes in 24 hours; 0: no limit. */
  readonly maxUploadTarget: number
  /** Whether only peers with the permission `relay` may send transactions. */
  readonly blocksOnly: boolean
  readonly peerBloomFilters: boolean
  /** Networks of automatic connections. */
  readonly networks: ReadonlyArray<ReachableNetwork>
  /** The SOCKS5 proxies for connections to peers. */
  readonly proxies: ProxyRoutes
  /** Whether each connection through a proxy has a login of its own. */
  readonly proxyRandomize: boolean
  /** As the operator wrote them: addresses or names, with or without a port. Empty with `addPeers`. */
  readonly seedNodes: ReadonlyArray<string>
  readonly dnsSeed: boolean
  /** Whether all DNS seeds are asked, however many addresses and peers there are. */
  readonly forceDnsSeed: boolean
  readonly fixedSeeds: boolean
  /** Own addresses; port 0 is the port of the listener. */
  readonly externalAddresses: ReadonlyArray<Address>
  /** Whether own addresses that peers report are used. */
  readonly discover: boolean
}

type PeerOptions = typeof PEER_OPTIONS

/** The decoded values of options of the group "Peers". */
export type PeerValues = { readonly [K in keyof PeerOptions]: Schema.Schema.Type<ReturnType<PeerOptions[K]["schema"]>> }

type NetworkValues = Pick<PeerValues, "onion" | "onlynet" | "proxy">

/** Networks in which the node opens connections. Tor's needs a proxy. */
const networksOf = ({ onlynet, ...values }: NetworkValues): ReadonlyArray<ReachableNetwork> => {
  const { onion } = proxyRoutes(values)
  const possible: ReadonlyArray<ReachableNetwork> = onion === undefined ? ["ipv4", "ipv6"] : ["ipv4", "ipv6", "onion"]
  return onlynet.length === 0 ? possible : possible.filter((network) => onlynet.includes(network))
}

/** Whether addresses from DNS, which are of IPv4 and IPv6, can be used. */
const usesDns = (values: NetworkValues): boolean => networksOf(values).some((network) => network !== "onion")

/** Source of the defaults: upstream `init.cpp`, `InitParameterInteraction`. */
const asksDns = (values: NetworkValues & Pick<PeerValues, "addpeer" | "dnsseed">): boolean =>
  values.dnsseed ?? (values.addpeer.length === 0 && usesDns(values))

export const peerSettingsOf = (values: PeerValues, listen: Address | undefined): PeerSettings => ({
  connectTimeout: values.timeout,
  peerTimeout: values.peertimeout,
  banTime: values.bantime,
  maxUploadTarget: values.maxuploadtarget,
  blocksOnly: values.blocksonly,
  peerBloomFilters: values.peerbloomfilters,
  networks: networksOf(values),
  proxies: proxyRoutes(values),
  proxyRandomize: values.proxyrandomize,
  seedNodes: values.addpeer.length > 0 ? [] : values.seednode,
  dnsSeed: asksDns(values),
  forceDnsSeed: values.forcednsseed,
  fixedSeeds: values.fixedseeds,
  externalAddresses: values.externalip,
  discover: values.discover ??
    (listen !== undefined && values.externalip.length === 0 && !isProxied(values))
})

/** Whether a proxy of `-proxy` is in force for some network: then the node does not tell its address by itself. */
const isProxied = (values: NetworkValues): boolean =>
  values.proxy.some(({ proxy }) => proxy !== undefined) &&
  Object.values(proxyRoutes(values)).some((proxy) => proxy !== undefined)

/** Upstream `net.h`, `MAX_SUBVERSION_LENGTH`. */
const LONGEST_USER_AGENT = 256

/** The contradictions between options about peers, each with the option that it concerns. */
export const peerContradictions = (
  values: PeerValues
): ReadonlyArray<readonly [name: keyof PeerValues, message: string]> => {
  const found: Array<readonly [name: keyof PeerValues, message: string]> = []
  if (values.forcednsseed && !asksDns(values)) {
    const onion = values.dnsseed === undefined && !usesDns(values) ? "; -onlynet=onion does that" : "."
    found.push(["forcednsseed", `Cannot set -forcednsseed to true when setting -dnsseed to false${onion}`])
  }
  const agent = ownUserAgent(values.uacomment).length
  if (agent > LONGEST_USER_AGENT) {
    found.push([
      "uacomment",
      `Total length of network version string (${agent}) exceeds maximum length (${LONGEST_USER_AGENT}). ` +
      "Reduce the number or size of uacomments."
    ])
  }
  if (values.dnsseed === true && values.onlynet.length > 0 && !usesDns(values)) {
    found.push(["dnsseed", "finds peers of IPv4 and IPv6, and onlynet forbids connections to them"])
  }
  if (values.onlynet.includes("onion") && proxyRoutes(values).onion === undefined) {
    const remedy = values.onion === "off" ? "-onion=0 forbids it" : "set proxy or onion to Tor's SOCKS5 port"
    found.push(["onlynet", `allows Tor, and there is no way to it; ${remedy}`])
  }
  return found
}
