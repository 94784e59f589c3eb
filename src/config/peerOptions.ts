import * as Kind from "./kinds.ts"
import { manyValues as many, oneValue as one } from "./optionRow.ts"
import { PERMISSIONS, whitebindKind, whitelistKind } from "./permissions.ts"

const peerCount = Kind.integerKind({ min: 0, max: 10_000 })

/** The options of the group "Peers". */
export const PEER_OPTIONS = {
  listen: one(
    Kind.optionalKind(Kind.addressKind("optional")),
    "listen",
    "Peers",
    "address to listen on for peers; empty to listen nowhere",
    { default: ":8334" }
  ),
  maxpeers: one(peerCount, "maxpeers", "Peers", "maximum number of peers; 0 to stay offline", { default: "125" }),
  maxinbound: one(peerCount, "maxinbound", "Peers", "maximum number of inbound peers", { default: "100" }),
  maxoutbound: one(peerCount, "maxoutbound", "Peers", "maximum number of outbound peers", { default: "25" }),
  addpeer: many(
    Kind.addressKind("required"),
    "addpeer",
    "Peers",
    "peer to connect to instead of peers from DNS; may be repeated",
    { defaultNote: "peers found by DNS" }
  ),
  proxy: one(
    Kind.optionalKind(Kind.addressKind("required")),
    "proxy",
    "Peers",
    "SOCKS5 proxy for connections to peers and for host names, such as Tor's",
    { defaultNote: "no proxy" }
  ),
  whitelist: many(
    whitelistKind,
    "whitelist",
    "Peers",
    `permissions of the peers in a network: ${
      PERMISSIONS.join(", ")
    }, all, and the directions in and out; may be repeated`
  ),
  whitebind: many(
    whitebindKind,
    "whitebind",
    "Peers",
    "another address to listen on, and the permissions of the peers that connect to it; may be repeated"
  ),
  whitelistrelay: one(
    Kind.onOffKind,
    "whitelistrelay",
    "Peers",
    "give relay to whitelisted peers without named permissions",
    { default: "1" }
  ),
  whitelistforcerelay: one(
    Kind.onOffKind,
    "whitelistforcerelay",
    "Peers",
    "give forcerelay to whitelisted peers without named permissions",
    { default: "0" }
  ),
  uacomment: one(
    Kind.optionalKind(Kind.commentKind),
    "uacomment",
    "Peers",
    "comment in the user agent sent to peers",
    { defaultNote: "no comment" }
  )
}
