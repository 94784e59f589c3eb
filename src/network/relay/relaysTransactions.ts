import type { Peer } from "../Peer.ts"

/**
 * Whether a peer may send us transactions: on a connection that is for blocks or for a short visit it breaks an agreement.
 * Source: upstream `net_processing.cpp`, `RejectIncomingTxs`.
 */
export const maySendTransactions = ({ type }: Pick<Peer, "type">): boolean =>
  type !== "block-relay-only" && type !== "feeler"

/** Whether a peer is told of transactions, and may ask for them: where we said so, and it wants to be. */
export const getsTransactions = (peer: Pick<Peer, "type" | "hello">): boolean =>
  maySendTransactions(peer) && peer.hello.relay
