import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { BindFailed } from "../base/listening.ts"
import type { Budget } from "../base/MemoryBudget.ts"
import { make } from "./connect/manager.ts"
import type { PeerManagerOptions } from "./connect/net.ts"
import type { PeerControl } from "./PeerControl.ts"
import type { PeerHandlers } from "./PeerHandlers.ts"

export class PeerManager extends Context.Tag("svcd/PeerManager")<PeerManager, PeerControl>() {}

/**
 * Listens and connects as the options specify, while the layer is open. On release, the port is freed first. Then all
 * connections close without a message to the peers.
 */
export const layer = (
  options: PeerManagerOptions
): Layer.Layer<PeerManager, BindFailed, PeerHandlers | Budget> => Layer.scoped(PeerManager, make(options))
