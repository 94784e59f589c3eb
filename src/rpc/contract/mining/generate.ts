import * as Schema from "effect/Schema"
import { DEFAULT_MAX_TRIES } from "../../../mempool/mining/Miner.ts"
import { hiddenContract, miningContract } from "../../method/contract.ts"
import { array, atMost, boolean, hexText, int32, int64, refined, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { EXAMPLE_OWN_ADDRESS } from "../examples.ts"

const HASHES = Schema.Array(Result.hex("Hash of a block"))

/** Blocks per call, which cannot be interrupted. */
const MOST_BLOCKS = 100_000

const TRIES = "Maximum number of nonces to try."

export const GENERATETOADDRESS = miningContract({
  name: "generatetoaddress",
  coins: "any",
  writes: true,
  summary: "Mines blocks that pay an address, each with a merged-mining proof, and returns their hashes.",
  params: {
    nblocks: atMost(MOST_BLOCKS, int32(`Number of blocks, at most ${MOST_BLOCKS}.`)),
    address: string("Address that the blocks pay."),
    maxtries: withDefault(int32(TRIES), DEFAULT_MAX_TRIES)
  },
  results: [{ schema: HASHES }],
  examples: [[11, EXAMPLE_OWN_ADDRESS]],
  errors: ["-5 Error: Invalid address", "-1 TestBlockValidity failed: <reason>"]
})

export const GENERATETODESCRIPTOR = miningContract({
  name: "generatetodescriptor",
  coins: "any",
  writes: true,
  summary: "Mines blocks that pay the script of a descriptor, and returns their hashes.",
  params: {
    num_blocks: atMost(MOST_BLOCKS, int32(`Number of blocks, at most ${MOST_BLOCKS}.`)),
    descriptor: string("Descriptor paid by the blocks; the checksum is optional."),
    maxtries: withDefault(
      refined(int64(TRIES), (tries) => {
        return tries < 0 ? RpcError.integerOutOfRange() : tries
      }),
      DEFAULT_MAX_TRIES
    )
  },
  results: [{ schema: HASHES }],
  examples: [[11, `addr(${EXAMPLE_OWN_ADDRESS})`]],
  errors: [
    "-5 <reason why the descriptor is invalid>",
    "-8 Ranged descriptor not accepted. Maybe pass through deriveaddresses first?",
    "-8 Multipath descriptor not accepted",
    "-1 TestBlockValidity failed: <reason>"
  ]
})

export const GENERATEBLOCK = miningContract({
  name: "generateblock",
  coins: "any",
  writes: true,
  summary: "Mines a block of exactly the given transactions in order. The coinbase does not claim their fees.",
  params: {
    output: string("Address or descriptor paid by the block."),
    transactions: array(
      hexText("A txid from the mempool, or any transaction in hexadecimal digits."),
      "Transactions of the block."
    ),
    submit: withDefault(boolean("Whether to submit the block to the chain or to return it."), true)
  },
  results: [{
    schema: Schema.Struct({
      hash: Result.hex("Hash of the block"),
      hex: Schema.optional(Result.hex("The block, if it is not submitted"))
    })
  }],
  examples: [[EXAMPLE_OWN_ADDRESS, []]],
  errors: [
    "-5 Error: Invalid address or descriptor",
    "-5 Transaction <txid> not in mempool.",
    "-22 Transaction decode failed for <hex>. Make sure the tx has at least one input.",
    "-25 TestBlockValidity failed: <reason>",
    "-1 Failed to make block."
  ]
})

export const GENERATE = hiddenContract({
  name: "generate",
  coins: "any",
  writes: true,
  summary: "Removed. Use generatetoaddress with an address of the wallet instead.",
  params: {},
  results: [{ schema: Result.nothing("Never returned: the method always fails.") }],
  examples: [],
  errors: ["-32601 <this text>"]
})
