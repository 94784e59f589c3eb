import * as Context from "effect/Context"

/**
 * How many times slower than usual the loops of the network look what is due. A simulated node is idle for hours of
 * virtual time: with 40, each of these looks comes after ten seconds instead of a quarter of one.
 */
export class Pulse extends Context.Reference<Pulse>()("svcd/Pulse", { defaultValue: () => 1 }) {}
