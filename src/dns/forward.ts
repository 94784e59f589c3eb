import * as Context from "effect/Context"
import type { Forwarder } from "./parts.ts"

/** The other resolver (`-dnsforward`). Not in the context of a node without one. */
export class Forward extends Context.Tag("svcd/dns/Forward")<Forward, Forwarder>() {}
