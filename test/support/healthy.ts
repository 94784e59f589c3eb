import type { HealthReport } from "../../src/http/health.ts"

/** The report of a node with its whole chain, which is the genesis block. */
export const HEALTHY: HealthReport = {
  network: "regtest",
  initializing: false,
  syncing: false,
  light: false,
  phase: "ready",
  proof: "full",
  blockHeight: 0,
  names: { height: 0, complete: true },
  peers: 0,
  doubts: [],
  notices: []
}
