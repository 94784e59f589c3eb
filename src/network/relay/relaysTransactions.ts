import type { Peer } from "../Peer.ts"

/** Whether the connection type allows transactions from a peer (upstream `net_processing.cpp`, `RejectIncomingTxs`). */
export const maySendTransactions = ({ type }: Pick<Peer, "type">): boolean =>
  type !== "block-relay-only" && type !== "feeler"

/** Whether a peer gets announcements and may request transactions: if the connection type and the peer allow it. */
export const getsTransactions = (peer: Pick<Peer, "type" | "hello">): boolean =>
  maySendTransactions(peer) && peer.hello.relay
