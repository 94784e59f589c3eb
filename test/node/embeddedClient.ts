import { Layer, Logger } from "effect"
import { EmbeddedNode } from "../../src/node/clients.ts"

export const quiet = Logger.remove(Logger.defaultLogger)

export const embedded = (config: Parameters<typeof EmbeddedNode.layer>[0]) =>
  Layer.provide(EmbeddedNode.layer({ network: "regtest", maxPeers: 0, disableWallet: true, ...config }), quiet)
