import * as Schema from "effect/Schema"
import { namesContract } from "../../method/contract.ts"
import * as Result from "../../method/results.ts"

const KEY = Schema.Struct({
  keytag: Result.integer("The key tag, by which signatures name the key"),
  state: Result.string(
    "new: in the zone, signs nothing yet; active: signs everything; leaving: signs the keys beside the active one; " +
      "revoked: no longer to be trusted; removed: not in the zone"
  ),
  created: Result.time("When the node made it"),
  until: Schema.NullOr(Result.time("When the next state begins; null if none is planned")),
  dnskey: Result.string("The data of its DNSKEY record"),
  ds: Result.string("The data of its DS record, the trust anchor for resolvers")
})

const UNSIGNED = "-1 the zone is not signed: start svcd with -dnssec=1"

export const LISTDNSKEYS = namesContract({
  name: "listdnskeys",
  coins: "any",
  right: "read",
  summary: "Lists the DNSSEC keys of the zone bit, the oldest first.",
  params: {},
  results: [{ schema: Schema.Array(KEY) }],
  examples: [[]],
  errors: [UNSIGNED]
})

export const ROLLDNSKEY = namesContract({
  name: "rolldnskey",
  coins: "any",
  writes: true,
  summary:
    "Begins a rollover of the DNSSEC key of the zone bit. The new key is published at once, signs after 30 days, and resolvers " +
    "that follow RFC 5011 come to trust it by themselves. The old key is revoked 15 days later, and removed after 30 more. " +
    "Returns all keys.",
  params: {},
  results: [{ schema: Schema.Array(KEY) }],
  examples: [[]],
  errors: [UNSIGNED, "-1 a rollover of the zone's key is under way until <date>: start the next one after that"]
})
