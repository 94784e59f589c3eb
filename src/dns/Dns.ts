import * as Context from "effect/Context"
import type { DnsAddresses } from "./serve/DnsServer.ts"
import type { Secondary } from "./transfer/Secondaries.ts"

/** The DNS of a node, for its operator. */
export class Dns extends Context.Tag("svcd/Dns")<Dns, {
  /** Where it listens, with actual ports. */
  readonly addresses: DnsAddresses
  /** The serial of the zone. */
  readonly serial: () => number
  /** Tags of the keys that the zone publishes; empty without DNSSEC. */
  readonly keyTags: () => ReadonlyArray<number>
  /** Servers that have the zone from here, the last one seen first. */
  readonly secondaries: () => ReadonlyArray<Secondary>
}>() {}
