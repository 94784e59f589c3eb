import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { Budget } from "../base/MemoryBudget.ts"
import { make } from "./connect/manager.ts"
import type { PeerManagerOptions } from "./connect/net.ts"
import type { ListenFailed } from "./errors.ts"
import type { PeerControl } from "./PeerControl.ts"
import type { PeerHandlers } from "./PeerHandlers.ts"

/** The network of this node. */
export class PeerManager extends Context.Tag("svcd/PeerManager")<PeerManager, PeerControl>() {}

/**
 * Listens and calls as the options say, as long as the layer lives. When it is released the port is free first; then
 * all connections end, without a word to anybody.
 */
export const layer = (
  options: PeerManagerOptions
): Layer.Layer<PeerManager, ListenFailed, PeerHandlers | Budget> => Layer.scoped(PeerManager, make(options))
