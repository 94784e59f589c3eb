import * as Kind from "./kinds.ts"
import { listOption, singleOption } from "./optionRow.ts"
import { networkKind, nodeKind, ownAddressKind, uploadTargetKind } from "./peerKinds.ts"
import { PERMISSIONS, whitebindKind, whitelistKind } from "./permissions.ts"
import { onionKind, PROXIED_NETWORKS, proxyKind } from "./proxies.ts"

const peerCount = Kind.integerKind({ min: 0, max: 10_000 })

/** The options of the group "Peers". */
export const PEER_OPTIONS = {
  listen: singleOption(
    Kind.optionalKind(Kind.addressKind("optional")),
    "listen",
    "Peers",
    "address to listen on for peers; empty to listen nowhere",
    { default: ":8334" }
  ),
  maxpeers: singleOption(peerCount, "maxpeers", "Peers", "maximum number of peers; 0 to stay offline", {
    default: "125"
  }),
  maxinbound: singleOption(peerCount, "maxinbound", "Peers", "maximum number of inbound peers", { default: "100" }),
  maxoutbound: singleOption(peerCount, "maxoutbound", "Peers", "maximum number of outbound peers", { default: "25" }),
  addpeer: listOption(
    Kind.addressKind("required"),
    "addpeer",
    "Peers",
    "peer to connect to instead of peers from DNS; may be repeated",
    { defaultNote: "peers found by DNS" }
  ),
  seednode: listOption(
    nodeKind,
    "seednode",
    "Peers",
    "node to ask for addresses of peers once, while there are too few peers; may be repeated"
  ),
  dnsseed: singleOption(
    Kind.optionalKind(Kind.onOffKind),
    "dnsseed",
    "Peers",
    "ask the DNS seeds for addresses of peers while there are too few peers",
    { defaultNote: "on, without -addpeer and with -onlynet=ipv4 or ipv6" }
  ),
  forcednsseed: singleOption(Kind.onOffKind, "forcednsseed", "Peers", "ask all DNS seeds at every start", {
    default: "0"
  }),
  fixedseeds: singleOption(
    Kind.onOffKind,
    "fixedseeds",
    "Peers",
    "use built-in addresses of peers if no others are known",
    { default: "1" }
  ),
  onlynet: listOption(
    networkKind,
    "onlynet",
    "Peers",
    "connect by itself only to peers in this network: ipv4, ipv6 or onion; may be repeated",
    { defaultNote: "all that can be reached" }
  ),
  externalip: listOption(
    ownAddressKind,
    "externalip",
    "Peers",
    "public address of this node, announced to peers; may be repeated"
  ),
  discover: singleOption(
    Kind.optionalKind(Kind.onOffKind),
    "discover",
    "Peers",
    "announce the address at which peers see this node",
    { defaultNote: "on, if it listens, without -externalip and -proxy" }
  ),
  timeout: singleOption(
    Kind.integerKind({ min: 1, max: 3_600_000 }),
    "timeout",
    "Peers",
    "milliseconds for the connection to a peer",
    { default: "5000" }
  ),
  peertimeout: singleOption(
    Kind.integerKind({ min: 1, max: 999_999_999 }),
    "peertimeout",
    "Peers",
    "seconds for the handshake with a peer, and before it can count as silent",
    { default: "60" }
  ),
  bantime: singleOption(
    Kind.integerKind({ min: 1, max: 999_999_999 }),
    "bantime",
    "Peers",
    "seconds of a ban by setban without a time of its own",
    { default: "86400" }
  ),
  maxuploadtarget: singleOption(
    uploadTargetKind,
    "maxuploadtarget",
    "Peers",
    "bytes to send to peers in 24 hours, with a unit (M if none); 0 for no limit",
    { default: "0M" }
  ),
  proxy: listOption(
    proxyKind,
    "proxy",
    "Peers",
    "SOCKS5 proxy to peers, such as Tor's: HOST[:PORT] or unix:PATH, for all, or for one of " +
      `${PROXIED_NETWORKS.join(", ")} with =NETWORK behind it; 0 for none; may be repeated`,
    { defaultNote: "no proxy" }
  ),
  onion: singleOption(
    onionKind,
    "onion",
    "Peers",
    "SOCKS5 proxy to onion addresses alone: HOST[:PORT] or unix:PATH; 0 to connect to none of them",
    { defaultNote: "that of -proxy" }
  ),
  proxyrandomize: singleOption(
    Kind.onOffKind,
    "proxyrandomize",
    "Peers",
    "log in to the proxy with another name for each connection, so that Tor gives each a circuit of its own",
    { default: "1" }
  ),
  whitelist: listOption(
    whitelistKind,
    "whitelist",
    "Peers",
    `permissions of the peers in a network: ${
      PERMISSIONS.join(", ")
    }, all, and the directions in and out; may be repeated`
  ),
  whitebind: listOption(
    whitebindKind,
    "whitebind",
    "Peers",
    "another address to listen on, and the permissions of the peers that connect to it; may be repeated"
  ),
  whitelistrelay: singleOption(
    Kind.onOffKind,
    "whitelistrelay",
    "Peers",
    "give relay to whitelisted peers without named permissions",
    { default: "1" }
  ),
  whitelistforcerelay: singleOption(
    Kind.onOffKind,
    "whitelistforcerelay",
    "Peers",
    "give forcerelay to whitelisted peers without named permissions",
    { default: "0" }
  ),
  blocksonly: singleOption(
    Kind.onOffKind,
    "blocksonly",
    "Peers",
    "take no transactions from peers, except those with the permission relay",
    { default: "0" }
  ),
  peerbloomfilters: singleOption(
    Kind.onOffKind,
    "peerbloomfilters",
    "Peers",
    "let peers set bloom filters for transactions and blocks, and ask for the mempool",
    { default: "0" }
  ),
  peerblockfilters: singleOption(
    Kind.onOffKind,
    "peerblockfilters",
    "Peers",
    "serve compact block filters to peers; needs -blockfilterindex",
    { default: "0" }
  ),
  uacomment: listOption(
    Kind.commentKind,
    "uacomment",
    "Peers",
    "comment in the user agent sent to peers; may be repeated",
    { defaultNote: "no comment" }
  )
}
