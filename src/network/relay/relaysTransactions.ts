import type { Peer } from "../Peer.ts"

/** Whether the connection type allows transactions. */
export const carriesTransactions = ({ type }: Pick<Peer, "type">): boolean =>
  type !== "block-relay-only" && type !== "feeler"

/**
 * Whether a peer may send transactions. With -blocksonly it needs the permission `relay`. Source: upstream
 * `net_processing.cpp`, `RejectIncomingTxs`.
 */
export const maySendTransactions = (peer: Pick<Peer, "type" | "permissions">, blocksOnly: boolean): boolean =>
  carriesTransactions(peer) && (!blocksOnly || peer.permissions.has("relay"))

/** Whether a peer gets announcements and may request transactions. */
export const getsTransactions = (peer: Pick<Peer, "type" | "features">): boolean =>
  carriesTransactions(peer) && peer.features.relay
