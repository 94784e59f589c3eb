import * as Kind from "./kinds.ts"
import { listOption, singleOption } from "./optionRow.ts"
import { PERMISSIONS, whitebindKind, whitelistKind } from "./permissions.ts"

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
  proxy: singleOption(
    Kind.optionalKind(Kind.addressKind("required")),
    "proxy",
    "Peers",
    "SOCKS5 proxy for connections to peers and for host names, such as Tor's",
    { defaultNote: "no proxy" }
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
  peerblockfilters: singleOption(
    Kind.onOffKind,
    "peerblockfilters",
    "Peers",
    "serve compact block filters to peers; needs -blockfilterindex",
    { default: "0" }
  ),
  uacomment: singleOption(
    Kind.optionalKind(Kind.commentKind),
    "uacomment",
    "Peers",
    "comment in the user agent sent to peers",
    { defaultNote: "no comment" }
  )
}
