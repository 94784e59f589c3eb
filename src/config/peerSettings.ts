import type { Issue } from "./decode.ts"
import type { ReachableNetwork } from "./peerKinds.ts"
import { proxyRoutes } from "./proxies.ts"
import type { GivenSettings } from "./settings.ts"
import { ownUserAgent } from "./userAgent.ts"

type PeerOptions = GivenSettings["peers"]

type NetworkOptions = Pick<PeerOptions, "onion" | "onlyNet" | "proxy">

/** Networks of outbound connections. Tor's needs a proxy. */
export const reachableNetworks = ({ onlyNet, ...given }: NetworkOptions): ReadonlyArray<ReachableNetwork> => {
  const { onion } = proxyRoutes(given)
  const possible: ReadonlyArray<ReachableNetwork> = onion === undefined ? ["ipv4", "ipv6"] : ["ipv4", "ipv6", "onion"]
  return onlyNet.length === 0 ? possible : possible.filter((network) => onlyNet.includes(network))
}

/** Whether addresses from DNS, which are IPv4 and IPv6, can be used. */
const usesDns = (peers: NetworkOptions): boolean => reachableNetworks(peers).some((network) => network !== "onion")

/** Source of the defaults: upstream `init.cpp`, `InitParameterInteraction`. */
export const asksDns = (peers: PeerOptions): boolean =>
  peers.dnsSeed ?? (peers.bootstrapPeers.length === 0 && usesDns(peers))

/** With a proxy for any network, the node does not announce its address by itself. */
export const isProxied = (peers: NetworkOptions): boolean =>
  peers.proxy.some(({ proxy }) => proxy !== undefined) &&
  Object.values(proxyRoutes(peers)).some((proxy) => proxy !== undefined)

/** Upstream `net.h`, `MAX_SUBVERSION_LENGTH`. */
const LONGEST_USER_AGENT = 256

export const peerContradictions = (peers: PeerOptions): ReadonlyArray<Issue> => {
  const found: Array<Issue> = []
  if (peers.forceDnsSeed && !asksDns(peers)) {
    const onion = peers.dnsSeed === undefined && !usesDns(peers) ? "; -onlynet=onion does that" : "."
    found.push(["forcednsseed", `Cannot set -forcednsseed to true when setting -dnsseed to false${onion}`])
  }
  const agent = ownUserAgent(peers.userAgentComments).length
  if (agent > LONGEST_USER_AGENT) {
    found.push([
      "uacomment",
      `Total length of network version string (${agent}) exceeds maximum length (${LONGEST_USER_AGENT}). ` +
      "Reduce the number or size of uacomments."
    ])
  }
  if (peers.dnsSeed === true && peers.onlyNet.length > 0 && !usesDns(peers)) {
    found.push(["dnsseed", "finds peers of IPv4 and IPv6, and onlynet forbids connections to them"])
  }
  if (peers.onlyNet.includes("onion") && proxyRoutes(peers).onion === undefined) {
    const remedy = peers.onion === "off" ? "-onion=0 forbids it" : "set proxy or onion to Tor's SOCKS5 port"
    found.push(["onlynet", `allows Tor, and there is no way to it; ${remedy}`])
  }
  return found
}
