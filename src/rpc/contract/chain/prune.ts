import { BLOCKS_KEPT } from "../../../chain/prune/pruneFiles.ts"
import { contract } from "../../method/contract.ts"
import { int32 } from "../../method/params.ts"
import * as Result from "../../method/results.ts"

export const PRUNEBLOCKCHAIN = contract({
  name: "pruneblockchain",
  coins: "any",
  writes: true,
  group: "Blockchain",
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
