import { Effect } from "effect"
import { eventually } from "../support/eventually.ts"
import { remotePeer } from "../support/network.ts"
import type { TestNetwork } from "../support/peerManager.ts"

/** Peers that call a manager of peers, and what it has and logs of them. */

export const connectTo = ({ port }: TestNetwork, from?: string) =>
  Effect.tap(remotePeer(port, from === undefined ? {} : { from }), (remote) => remote.call())

/** Waits until the manager has this many peers. */
export const untilPeers = (network: TestNetwork, count: number) =>
  eventually(`${count} peers`, Effect.map(network.manager.peers, (peers) => peers.length === count))

export const calls = (network: TestNetwork, message: string) =>
  network.logs.filter((entry) => entry.message === message)
