import * as Schema from "effect/Schema"
import { miningContract } from "../../method/contract.ts"
import { hexText, optional, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { WATCH_ONLY } from "../wallet/walletParams.ts"

/** A block to merge-mine. Source: upstream `rpc/auxpow_miner.cpp`, `createAuxBlock`. */
export const CANDIDATE = Schema.Struct({
  hash: Result.hex("Hash of the block; the parent's coinbase must commit to it"),
  chainid: Result.integer("Chain id of the block"),
  previousblockhash: Result.hex("Hash of the tip"),
  coinbasevalue: Result.integer("Value of the coinbase, in the smallest unit"),
  bits: Result.hex("The target in compact form"),
  height: Result.integer("Height of the block"),
  _target: Result.hex("The target in reverse byte order")
})

export const NOT_CONNECTED = "Namecoin is not connected!"

export const AUX_ERRORS = [`-9 ${NOT_CONNECTED}`, "-10 Namecoin is downloading blocks..."]

export const CREATE_ERRORS = [
  "-1 mining auxblock method is not yet available",
  "-1 TestBlockValidity failed: <reason>"
]

export const SUBMIT_ERRORS = [
  "-8 invalid block hash hex",
  "-8 block hash unknown",
  "-1 DataStream::read(): end of data: iostream error"
]

export const CREATEAUXBLOCK = miningContract({
  name: "createauxblock",
  coins: "any",
  writes: true,
  summary: "Makes a block for merged mining. Returns the hash that the parent must commit to, and the target.",
  params: { address: string("Address paid by the coinbase.") },
  results: [{ schema: CANDIDATE }],
  examples: [["N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR"]],
  errors: ["-5 Error: Invalid coinbase payout address", ...AUX_ERRORS, ...CREATE_ERRORS]
})

export const SUBMITAUXBLOCK = miningContract({
  name: "submitauxblock",
  coins: "any",
  writes: true,
  summary: "Submits a block of createauxblock with its merged-mining proof.",
  params: { hash: hexText("Hash of the block."), auxpow: hexText("The proof.") },
  results: [{ schema: Result.boolean("Whether the block is accepted") }],
  examples: [["080f4a16410fe94cd35a9678ab817f8f8dd4f7dc2347813090d9d9bcabc20ea8", "<proof in hexadecimal digits>"]],
  errors: [...SUBMIT_ERRORS, ...AUX_ERRORS]
})

export const GETAUXBLOCK = miningContract({
  name: "getauxblock",
  coins: "any",
  writes: true,
  summary:
    "Without arguments, makes a block for merged mining that pays to the wallet. With arguments, submits such a " +
    "block with its merged-mining proof.",
  params: { hash: optional(hexText("Hash of the block.")), auxpow: optional(hexText("The proof.")) },
  results: [
    { when: "without arguments", schema: CANDIDATE },
    { when: "with arguments", schema: Result.boolean("Whether the block is accepted") }
  ],
  examples: [[]],
  errors: [
    `-4 ${WATCH_ONLY}`,
    "-12 Failed to generate mining address: <why>",
    ...AUX_ERRORS,
    ...CREATE_ERRORS,
    ...SUBMIT_ERRORS
  ]
})
