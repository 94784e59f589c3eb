import type { Peer } from "../Peer.ts"

export const carriesTransactions = ({ type }: Pick<Peer, "type">): boolean =>
  type !== "block-relay-only" && type !== "feeler"

/** `-blocksonly` requires the permission `relay`. Upstream `net_processing.cpp`, `RejectIncomingTxs`. */
export const maySendTransactions = (peer: Pick<Peer, "type" | "permissions">, blocksOnly: boolean): boolean =>
  carriesTransactions(peer) && (!blocksOnly || peer.permissions.has("relay"))

export const getsTransactions = (peer: Pick<Peer, "type" | "features">): boolean =>
  carriesTransactions(peer) && peer.features.relay
