import * as Schema from "effect/Schema"
import { miningContract } from "../../method/contract.ts"
import { hexText, int32, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"

export const DEFAULT_LOOKUP = 120

const TARGET = {
  bits: Result.hex("The target in compact form"),
  difficulty: Result.number("The difficulty"),
  target: Result.hex("The target")
}

export const GETMININGINFO = miningContract({
  name: "getmininginfo",
  right: "read",
  summary: "Returns the state of mining.",
  params: {},
  results: [{
    schema: Schema.Struct({
      blocks: Result.integer("Height of the tip"),
      currentblockweight: Schema.optional(
        Result.integer("Weight of the last template, with the reserve for its coinbase")
      ),
      currentblocktx: Schema.optional(Result.integer("Transactions of the last template, without the coinbase")),
      ...TARGET,
      networkhashps: Result.number("Hashes per second of the network, from the last 120 blocks"),
      pooledtx: Result.integer("Transactions of the mempool"),
      blockmintxfee: Result.amount("Minimum fee per kvB for a block"),
      chain: Result.string("main, test or regtest"),
      next: Schema.Struct({ height: Result.integer("Height of the next block"), ...TARGET }),
      warnings: Schema.Array(Result.string("A warning"))
    })
  }],
  examples: [[]]
})

export const GETNETWORKHASHPS = miningContract({
  name: "getnetworkhashps",
  right: "read",
  summary: "Returns an estimate of the network's hashes per second.",
  params: {
    nblocks: withDefault(
      int32("Number of blocks; -1 for the blocks since the last change of the difficulty."),
      DEFAULT_LOOKUP
    ),
    height: withDefault(int32("Height of the last block; -1 for the tip."), -1)
  },
  results: [{ schema: Result.number("Hashes per second") }],
  examples: [[], [120, 1000]],
  errors: [
    "-8 Invalid nblocks. Must be a positive number or -1.",
    "-8 Block does not exist at specified height"
  ]
})

export const SUBMITHEADER = miningContract({
  name: "submitheader",
  coins: "any",
  writes: true,
  summary: "Submits a header, with its merged-mining proof if the version has the flag.",
  params: { hexdata: hexText("The header.") },
  results: [{ schema: Result.nothing("") }],
  examples: [["<header in hexadecimal digits>"]],
  errors: [
    "-22 Block header decode failed",
    "-25 Must submit previous header (<hash>) first",
    "-25 <reason of the refusal>"
  ]
})
