import * as Schema from "effect/Schema"
import type { Bytes } from "../../../protocol/bytes.ts"
import { type Json, typeOf } from "../../json/json.ts"
import { miningContract } from "../../method/contract.ts"
import { json, object, optional, readHash, refined, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"

const TRANSACTION = Schema.Struct({
  data: Result.hex("The transaction"),
  txid: Result.hex("Its hash without witnesses"),
  hash: Result.hex("Its hash with witnesses"),
  depends: Schema.Array(Result.integer("Position, from 1, of a transaction in this list that it needs")),
  fee: Result.integer("Fee in the smallest unit"),
  sigops: Result.integer("Cost of its signature operations"),
  weight: Result.integer("Weight units")
})

export const TEMPLATE = Schema.Struct({
  capabilities: Schema.Array(Result.string("An extension supported by the node: proposal")),
  version: Result.integer("Version of the block, without the flag of merged mining"),
  rules: Schema.Array(Result.string("An active soft fork; a leading ! means that the miner must support it")),
  vbavailable: Result.map("rulename", Result.integer("Version bit of a soft fork in its voting phase")),
  vbrequired: Result.integer("Version bits that must be set"),
  previousblockhash: Result.hex("Hash of the tip"),
  transactions: Schema.Array(TRANSACTION),
  coinbaseaux: Result.map("key", Result.hex("Data required in the coinbase")),
  coinbasevalue: Result.integer("Maximum value of the coinbase, in the smallest unit"),
  longpollid: Result.string("Id for a later call that waits for a change (long poll)"),
  target: Result.hex("Maximum value of the block hash"),
  mintime: Result.time("Earliest time of the block"),
  mutable: Schema.Array(Result.string("A part of the template the miner may change")),
  noncerange: Result.hex("First and last nonce"),
  sigoplimit: Result.integer("Limit of the cost of signature operations"),
  sizelimit: Result.integer("Limit of the bytes of the block"),
  weightlimit: Schema.optional(Result.integer("Limit of the weight units of the block")),
  curtime: Result.time("Time of the block"),
  bits: Result.hex("The target in compact form"),
  height: Result.integer("Height of the block"),
  default_witness_commitment: Schema.optional(
    Result.hex("Script of the witness commitment output for the unchanged template")
  )
})

const rulesOf = (value: Json): ReadonlySet<string> | RpcError => {
  const rules = new Set<string>()
  for (const rule of Array.isArray(value) ? value : []) {
    if (typeof rule !== "string") return RpcError.wrongType({ actual: typeOf(rule), expected: "string" })
    rules.add(rule)
  }
  return rules
}

export interface Known {
  readonly tip: Bytes
  /** `changes` of the mempool. */
  readonly changes: number
}

/** A longpollid is the hash of a tip and a count. A value other than text means the current state. */
const decodeLongPollId = (value: Json): Known | "now" | RpcError => {
  if (typeof value !== "string") return "now"
  const changes = Number.parseInt(value.slice(64), 10)
  const tip = readHash(value.slice(0, 64), { label: "longpollid" })
  return tip instanceof RpcError ? tip : { tip, changes: Number.isNaN(changes) ? 0 : changes }
}

const PARAMS = {
  template_request: object(
    {
      mode: optional(json("`template` or `proposal` (BIP 23).", { words: "string" }), "template"),
      capabilities: optional(json("Extensions supported by the caller; ignored.", { words: "json array" })),
      rules: withDefault(
        refined(json("Soft forks supported by the caller; must include `segwit`.", { words: "json array" }), rulesOf),
        new Set<string>()
      ),
      longpollid: optional(
        refined(
          json("The longpollid of an earlier template: waits until it is outdated.", { words: "string" }),
          decodeLongPollId
        )
      ),
      data: optional(json("The proposed block in hexadecimal digits.", { words: "string" }))
    },
    "Options of the request."
  )
}

export const GETBLOCKTEMPLATE = miningContract({
  name: "getblocktemplate",
  coins: "any",
  summary: "Returns a template for a block on top of the tip, or validates a proposed block.",
  params: PARAMS,
  results: [
    { when: "the proposal is valid", schema: Result.nothing("") },
    { when: "the proposal is invalid", schema: Result.string("Reason (BIP 22)") },
    { when: "mode is template", schema: TEMPLATE }
  ],
  examples: [[{ rules: ["segwit"] }], [{ mode: "proposal", data: "<block in hexadecimal digits>" }]],
  errors: [
    "-8 getblocktemplate must be called with the segwit rule set (call with {\"rules\": [\"segwit\"]})",
    "-8 Invalid mode",
    "-3 Missing data String key for proposal",
    "-22 Block decode failed",
    "-9 Namecoin Core is not connected!",
    "-10 Namecoin Core is in initial sync and waiting for blocks...",
    "-1 TestBlockValidity failed: <reason>"
  ],
  waits: true
})
