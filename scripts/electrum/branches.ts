import { toHex } from "../../src/protocol/bytes.ts"
import type { Random } from "../crash/random.ts"
import { listOf, recordOf, type RpcClient } from "../crash/rpc.ts"

/** Reorganizations of a node on regtest, by its JSON-RPC. Replaced blocks stay invalid there. */

/** A P2WPKH output that nobody can spend. Few blocks share one. */
const outputFor = (random: Random): string =>
  `raw(0014${random.chance(0.3) ? "11".repeat(20) : toHex(random.bytes(20))})`

/** Some transactions of the mempool, each behind those on which it depends. */
const someWaiting = async (rpc: RpcClient, random: Random): Promise<ReadonlyArray<string>> => {
  const entries = Object.entries(recordOf(await rpc.call("getrawmempool", true)))
    .map(([txid, entry]) => ({ txid, entry: recordOf(entry) }))
    .toSorted((a, b) => Number(a.entry["ancestorcount"]) - Number(b.entry["ancestorcount"]))
  const chosen = new Set<string>()
  for (const { entry, txid } of entries) {
    if (random.chance(0.6) && listOf(entry["depends"]).every((each) => chosen.has(String(each)))) chosen.add(txid)
  }
  return [...chosen]
}

/** Mines a block with none, some or all of the mempool. */
export const mineBlock = async (rpc: RpcClient, random: Random): Promise<void> => {
  const output = outputFor(random)
  const taken = random.below(3)
  if (taken > 0) {
    const answer = await rpc.ask(["generateblock", output, taken === 1 ? [] : await someWaiting(rpc, random)])
    // Not each choice makes a valid block: two operations on a name belong together.
    if ("result" in answer) return
  }
  await rpc.call("generatetodescriptor", 1, output)
}

/** The transactions of blocks and of the mempool, in an order in which they can be sent. */
const transactionsFrom = async (rpc: RpcClient, from: number, to: number): Promise<ReadonlyArray<unknown>> => {
  const found: Array<unknown> = []
  for (let height = from; height <= to; height++) {
    const block = recordOf(await rpc.call("getblock", await rpc.call("getblockhash", height), 2))
    found.push(...listOf(block["tx"]).slice(1).map((each) => recordOf(each)["hex"]))
  }
  for (const txid of listOf(await rpc.call("getrawmempool"))) {
    const answer = await rpc.ask(["getrawtransaction", txid])
    if ("result" in answer) found.push(answer.result)
  }
  return found
}

/**
 * Replaces the last `depth` blocks by one more, and returns the hash of the tip. The node goes below its tip; nodes that
 * follow it go over to the longer branch in one step. What the blocks and the mempool had is sent again before each new
 * block: a wallet's transactions become final at the height where it made them.
 */
export const replaceBlocks = async (rpc: RpcClient, depth: number, random: Random): Promise<string> => {
  const height = Number(await rpc.call("getblockcount"))
  const first = height - depth + 1
  const transactions = await transactionsFrom(rpc, first, height)
  await rpc.call("invalidateblock", await rpc.call("getblockhash", first))
  for (let mined = 0; mined <= depth; mined++) {
    await rpc.askAll(transactions.map((each) => ["sendrawtransaction", each]))
    await mineBlock(rpc, random)
  }
  return String(await rpc.call("getbestblockhash"))
}
