import * as Kind from "./kinds.ts"
import { inGroup, listOption, oneOption } from "./optionRow.ts"
import { networkKind, nodeKind, ownAddressKind, uploadTargetKind } from "./peerKinds.ts"
import { PERMISSIONS, whitebindKind, whitelistKind } from "./permissions.ts"
import { onionKind, PROXIED_NETWORKS, proxyKind } from "./proxies.ts"

const peerCount = Kind.integerKind({ min: 0, max: 10_000 })

export const PEER_OPTIONS = inGroup("Peers", {
  listen: oneOption(Kind.optionalKind(Kind.addressKind("optional")), "peers.listen", {
    description: "address to listen on for peers; empty to listen nowhere",
    default: ":8334"
  }),
  maxpeers: oneOption(peerCount, "peers.maxPeers", {
    description: "maximum number of peers; 0 to stay offline",
    default: "125"
  }),
  maxinbound: oneOption(peerCount, "peers.maxInbound", {
    description: "maximum number of inbound peers",
    default: "100"
  }),
  maxoutbound: oneOption(peerCount, "peers.maxOutbound", {
    description: "maximum number of outbound peers",
    default: "25"
  }),
  addpeer: listOption(Kind.addressKind("required"), "peers.bootstrapPeers", {
    description: "peer to connect to instead of peers from DNS; may be repeated",
    defaultNote: "peers found by DNS"
  }),
  seednode: listOption(nodeKind, "peers.seedNodes", {
    description: "node to ask for addresses of peers once, while there are too few peers; may be repeated"
  }),
  dnsseed: oneOption(Kind.optionalKind(Kind.onOffKind), "peers.dnsSeed", {
    description: "ask the DNS seeds for addresses of peers while there are too few peers",
    defaultNote: "on, without -addpeer and with -onlynet=ipv4 or ipv6"
  }),
  forcednsseed: oneOption(Kind.onOffKind, "peers.forceDnsSeed", { description: "ask all DNS seeds at every start" }),
  fixedseeds: oneOption(Kind.onOffKind, "peers.fixedSeeds", {
    description: "use built-in addresses of peers if no others are known",
    default: "1"
  }),
  onlynet: listOption(networkKind, "peers.onlyNet", {
    description: "look for peers only in this network: ipv4, ipv6 or onion; may be repeated",
    defaultNote: "all that can be reached"
  }),
  externalip: listOption(ownAddressKind, "peers.externalAddresses", {
    description: "public address of this node, announced to peers; may be repeated"
  }),
  discover: oneOption(Kind.optionalKind(Kind.onOffKind), "peers.discover", {
    description: "announce the address at which peers see this node",
    defaultNote: "on, if it listens, without -externalip and -proxy"
  }),
  timeout: oneOption(Kind.integerKind({ min: 1, max: 3_600_000 }), "peers.connectTimeout", {
    description: "milliseconds for the connection to a peer",
    default: "5000"
  }),
  peertimeout: oneOption(Kind.integerKind({ min: 1, max: 999_999_999 }), "peers.peerTimeout", {
    description: "seconds for the handshake with a peer, and before it can count as silent",
    default: "60"
  }),
  bantime: oneOption(Kind.integerKind({ min: 1, max: 999_999_999 }), "answers.banTime", {
    description: "duration of a ban by setban that sets none, in seconds",
    default: "86400"
  }),
  maxuploadtarget: oneOption(uploadTargetKind, "peers.maxUploadTarget", {
    description: "bytes to send to peers in 24 hours, with a unit (M if none); 0 for no limit",
    default: "0M"
  }),
  proxy: listOption(proxyKind, "peers.proxy", {
    description: "SOCKS5 proxy to peers, such as Tor's: HOST[:PORT] or unix:PATH, for all, or for one of " +
      `${PROXIED_NETWORKS.join(", ")} followed by =NETWORK; 0 for none; may be repeated`,
    defaultNote: "no proxy"
  }),
  onion: oneOption(onionKind, "peers.onion", {
    description: "SOCKS5 proxy to onion addresses only: HOST[:PORT] or unix:PATH; 0 to connect to no onion address",
    defaultNote: "that of -proxy"
  }),
  proxyrandomize: oneOption(Kind.onOffKind, "peers.proxyRandomize", {
    description: "use separate proxy credentials for each connection, so that Tor gives each its own circuit",
    default: "1"
  }),
  whitelist: listOption(whitelistKind, "peers.whitelist", {
    description: `permissions of the peers in a network: ${
      PERMISSIONS.join(", ")
    }, all, and the directions in and out; may be repeated`
  }),
  whitebind: listOption(whitebindKind, "peers.whitebind", {
    description: "additional address to listen on, and the permissions of peers that connect to it; may be repeated"
  }),
  whitelistrelay: oneOption(Kind.onOffKind, "peers.whitelistRelay", {
    description: "give relay to whitelisted peers without explicit permissions",
    default: "1"
  }),
  whitelistforcerelay: oneOption(Kind.onOffKind, "peers.whitelistForceRelay", {
    description: "give forcerelay to whitelisted peers without explicit permissions"
  }),
  blocksonly: oneOption(Kind.onOffKind, "peers.blocksOnly", {
    description: "accept transactions only from peers with the permission relay"
  }),
  peerbloomfilters: oneOption(Kind.onOffKind, "peers.peerBloomFilters", {
    description: "let peers set bloom filters for transactions and blocks, and request the mempool"
  }),
  peerblockfilters: oneOption(Kind.onOffKind, "peers.peerBlockFilters", {
    description: "serve compact block filters to peers; needs -blockfilterindex"
  }),
  uacomment: listOption(Kind.commentKind, "peers.userAgentComments", {
    description: "comment in the user agent sent to peers; may be repeated",
    defaultNote: "no comment"
  })
})
