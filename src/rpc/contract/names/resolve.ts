import * as Schema from "effect/Schema"
import { DOMAIN_STATUSES } from "../../../dns/domainRecord.ts"
import { PROOF_LEVELS } from "../../../light/proof.ts"
import { namesContract } from "../../method/contract.ts"
import { notNull, object, orEmpty, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { NAME_INFO } from "../../shapes/name.ts"
import { ENCODINGS, PROOF_ERRORS, REQUIRE_PROOF } from "./nameParams.ts"

const number = (description: string) => Schema.optional(Result.integer(description))
const bytes = (description: string) => Schema.optional(Result.hex(description))

const RECORD = Schema.Struct({
  name: Result.string("The owner, with a dot at the end"),
  type: Result.string("Such as A, or TYPE65 for a type that values cannot hold"),
  ttl: Result.integer("Seconds"),
  data: Result.string("As in a zone file"),
  address: Schema.optional(Result.string("A, AAAA: the address")),
  target: Schema.optional(Result.string("CNAME, DNAME, NS, MX, SRV: the host, with a dot at the end")),
  preference: number("MX: the preference"),
  priority: number("SRV: the priority"),
  weight: number("SRV: the weight"),
  port: number("SRV: the port"),
  strings: Schema.optional(Schema.Array(Result.string("A text")).annotations({ description: "TXT: the texts" })),
  usage: number("TLSA: the certificate usage"),
  selector: number("TLSA: the selector"),
  matchingType: number("TLSA: the matching type"),
  association: bytes("TLSA: the certificate association data"),
  keyTag: number("DS: the key tag"),
  algorithm: number("DS, SSHFP: the algorithm"),
  digestType: number("DS: the digest type"),
  digest: bytes("DS: the digest"),
  fingerprintType: number("SSHFP: the fingerprint type"),
  fingerprint: bytes("SSHFP: the fingerprint")
})

export const RESOLVED = Schema.Struct({
  host: Result.string("The host as DNS has it, with a dot at the end"),
  type: Result.string("The type of records"),
  status: Result.oneOf(
    "records: there are such records; no-data: the host exists, without such records; no-name: the host does not exist; " +
      "delegated: name servers of the owner answer for it; alias-outside: it is an alias of a host outside .bit",
    ...DOMAIN_STATUSES
  ),
  records: Schema.Array(RECORD).annotations({
    description:
      "Aliases that were followed, then the records. For delegated, NS and DS records and the addresses of " +
      "name servers below the domain"
  }),
  cut: Result.boolean("Whether the values or their imports exceed the limits, so records are missing"),
  sources: Schema.Array(NAME_INFO).annotations({
    description: "The names whose values decide the answer: the domain's own first, then imported names and aliases"
  }),
  height: Result.integer("Height of the last block with known names"),
  synced: Result.boolean("Whether all names are known"),
  proof: Result.oneOf("What the answer rests on", ...PROOF_LEVELS)
})

export const RESOLVE_PARAMS = {
  host: string("The host below .bit, such as www.example.bit."),
  type: withDefault(string("The type of records, such as AAAA, TXT or TYPE65; ANY for all types."), "A"),
  options: orEmpty(notNull(object({ ...ENCODINGS, requireProof: REQUIRE_PROOF }, "Options.")))
}

export const NAME_RESOLVE = namesContract({
  name: "name_resolve",
  right: "read",
  summary: "Returns the DNS records of a host below .bit, as the node's own DNS server says them: imports, aliases, " +
    "wildcards and delegations included.",
  params: RESOLVE_PARAMS,
  results: [{ schema: RESOLVED }],
  examples: [["www.example.bit"], ["_443._tcp.example.bit", "TLSA"]],
  errors: [
    "-10 Namecoin is downloading blocks...",
    "-8 host must be a host below .bit, such as www.example.bit",
    "-8 type must be a type of records, such as A, AAAA, TXT or TYPE65",
    ...PROOF_ERRORS
  ]
})
