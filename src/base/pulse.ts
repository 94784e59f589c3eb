import * as Context from "effect/Context"

/**
 * How many times less often than usual the loops of the network check for due work, and metrics are sampled. A simulated
 * node is idle for hours of virtual time: with 40, the loops check every ten seconds, not four times a second.
 */
export class Pulse extends Context.Reference<Pulse>()("svcd/Pulse", { defaultValue: () => 1 }) {}
