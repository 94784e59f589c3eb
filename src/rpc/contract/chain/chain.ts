import * as Schema from "effect/Schema"
import { BLOCKS_KEPT } from "../../../chain/prune/pruneFiles.ts"
import { chainContract, hiddenContract, miningContract } from "../../method/contract.ts"
import { hash, hexText, int32, optional, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { CHAIN_INFO } from "../../shapes/block.ts"

const BLOCK_HASH = Result.hex("Hash of the block")

export const GETBLOCKCOUNT = chainContract({
  name: "getblockcount",
  right: "read",
  summary: "Returns the height of the last block of the best chain.",
  params: {},
  results: [{ schema: Result.integer("Height of the tip") }],
  examples: [[]]
})

export const GETBESTBLOCKHASH = chainContract({
  name: "getbestblockhash",
  right: "read",
  summary: "Returns the hash of the last block of the best chain.",
  params: {},
  results: [{ schema: BLOCK_HASH }],
  examples: [[]]
})

export const GETBLOCKHASH = chainContract({
  name: "getblockhash",
  right: "read",
  summary: "Returns the hash of the block of the best chain at a height.",
  params: { height: int32("The height.") },
  results: [{ schema: BLOCK_HASH }],
  examples: [[0]],
  errors: ["-8 Block height out of range"]
})

export const GETDIFFICULTY = chainContract({
  name: "getdifficulty",
  right: "read",
  summary: "Returns the difficulty of the last block as a multiple of the minimum.",
  params: {},
  results: [{ schema: Result.number("The difficulty") }],
  examples: [[]]
})

export const GETBLOCKCHAININFO = chainContract({
  name: "getblockchaininfo",
  right: "read",
  summary: "Returns the state of the chain and its sync progress.",
  params: {},
  results: [{ schema: CHAIN_INFO }],
  examples: [[]]
})

export const GETCHAINTIPS = chainContract({
  name: "getchaintips",
  right: "read",
  summary: "Lists the tips of all known branches, including the best chain's.",
  params: {},
  results: [{
    schema: Schema.Array(Schema.Struct({
      height: Result.integer("Height of the tip"),
      hash: BLOCK_HASH,
      branchlen: Result.integer("Blocks from the best chain to the tip; 0 for the best chain"),
      status: Result.string("active, valid-fork, valid-headers, headers-only or invalid")
    }))
  }],
  examples: [[]]
})

export const GETDEPLOYMENTINFO = chainContract({
  name: "getdeploymentinfo",
  right: "read",
  summary: "Returns the soft forks, and whether each is active in the block after the given one.",
  params: { blockhash: optional(hash("The block."), "the tip") },
  results: [{
    schema: Schema.Struct({
      hash: BLOCK_HASH,
      height: Result.integer("Height of the block"),
      script_flags: Schema.Array(Result.string("A script rule of the block")),
      deployments: Result.map(
        "name",
        Schema.Struct({
          type: Result.string("buried"),
          active: Result.boolean("Whether it is active in the next block"),
          height: Result.integer("The height of activation")
        })
      )
    })
  }],
  examples: [[]],
  errors: ["-5 Block not found"]
})

export const SUBMITBLOCK = miningContract({
  name: "submitblock",
  coins: "any",
  writes: true,
  summary: "Submits a block, with its merged-mining proof if the version has the flag.",
  params: {
    hexdata: hexText("The block."),
    dummy: optional(string("Ignored."), "ignored")
  },
  results: [
    { when: "the block is the new tip", schema: Result.nothing("") },
    { when: "otherwise", schema: Result.string("duplicate, inconclusive, or the reason of the refusal (BIP 22)") }
  ],
  examples: [["<block in hexadecimal digits>"]],
  errors: ["-22 Block decode failed"]
})

export const PRECIOUSBLOCK = chainContract({
  name: "preciousblock",
  coins: "any",
  writes: true,
  summary:
    "Prefers a block over others with the same work, as if it had arrived first, until the node stops. A later " +
    "call takes precedence over an earlier one.",
  params: { blockhash: hash("The block.") },
  results: [{ schema: Result.nothing("") }],
  examples: [["000000000062b72c5e2ceb45fbc8587e807c155b0da735e6483dfba2f0a9c770"]],
  errors: ["-5 Block not found"]
})

export const INVALIDATEBLOCK = hiddenContract({
  name: "invalidateblock",
  coins: "any",
  writes: true,
  summary: "Marks a block and all its descendants as invalid.",
  params: { blockhash: hash("The block.") },
  results: [{ schema: Result.nothing("") }],
  examples: [["000000000062b72c5e2ceb45fbc8587e807c155b0da735e6483dfba2f0a9c770"]],
  errors: ["-5 Block not found", "-20 the chain cannot go back below a pruned block"]
})

export const RECONSIDERBLOCK = hiddenContract({
  name: "reconsiderblock",
  coins: "any",
  writes: true,
  summary: "Clears the invalid mark of a block.",
  params: { blockhash: hash("The block.") },
  results: [{ schema: Result.nothing("") }],
  examples: [["000000000062b72c5e2ceb45fbc8587e807c155b0da735e6483dfba2f0a9c770"]],
  errors: ["-5 Block not found"]
})

export const SYNC_STATUS = Schema.Struct({
  phase: Result.string(
    "Current phase: headers, window, signatures, blocks, or ready"
  ),
  proof: Result.string("Proof of answers about names: work, signatures or full"),
  height: Result.integer("Height up to which names are known"),
  headers: Result.integer("Height of the last header"),
  synced: Result.boolean("Whether all names are known up to the tip of the network"),
  percent: Result.number("Completed part of the phase, 0 to 100"),
  secondsleft: Schema.NullOr(Result.number("Estimated seconds until its end; null if unknown")),
  offline: Schema.optional(
    Result.boolean("Only with -maxpeers 0: true, and no blocks come from peers")
  ),
  window: Schema.NullOr(
    Schema.Struct({
      blocks: Result.integer("Blocks in the window"),
      of: Result.integer("Size of the complete window; 0 before it starts"),
      names: Result.integer("Names in the window"),
      unchecked: Result.integer("Unchecked signatures")
    }).annotations({ description: "The window that answers about names; null if the whole chain does" })
  )
})

export const GETSYNCSTATUS = chainContract({
  name: "getsyncstatus",
  right: "read",
  summary: "Returns the sync progress of the node, and the proof of its answers about names.",
  params: {},
  results: [{ schema: SYNC_STATUS }],
  examples: [[]]
})

export const PRUNEBLOCKCHAIN = chainContract({
  name: "pruneblockchain",
  coins: "any",
  writes: true,
  summary:
    `Deletes old blocks with their undo data, whole files at a time, and never the last ${BLOCKS_KEPT} blocks. ` +
    "Names keep their history. Needs -prune.",
  params: {
    height: int32("The last block to delete, or a time in seconds since 1970: blocks before it are deleted.")
  },
  results: [{ schema: Result.integer("Height of the last deleted block; -1 for none") }],
  examples: [[1_000]],
  errors: [
    "-1 Cannot prune blocks because node is not in prune mode.",
    "-1 Blockchain is too short for pruning.",
    "-8 Negative block height.",
    "-8 Could not find block with at least the specified timestamp.",
    "-8 Blockchain is shorter than the attempted prune height."
  ]
})
