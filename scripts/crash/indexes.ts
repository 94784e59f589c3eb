import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { filterHash, filterHeader } from "../../src/chain/indexes/blockFilter.ts"
import { fromHex, parseDisplayHash, toHex } from "../../src/protocol/bytes.ts"
import type { Random } from "./random.ts"
import { listOf, pause, recordOf, type RpcClient } from "./rpc.ts"

/** The flags that enable all optional indexes. */
export const INDEX_FLAGS = ["-txindex", "-blockfilterindex=basic", "-coinstatsindex", "-txospenderindex"]

/** Their files. A node that starts without one of them builds it again. */
const FILES = ["txindex.db", "blockfilters.db", "coinstats.db", "spenders.db"]

/** Milliseconds that an index may be behind the chain once the node is ready. */
const PATIENCE = 20_000

/** Blocks below the tip that are looked at: deeper than the load reorganises. */
const LOOKED_AT = 25

/** Removes the files of one index. Returns whether there were any. */
export const removeIndex = (directory: string, random: Random): boolean => {
  const file = random.pick(FILES)
  const isThere = existsSync(join(directory, "chainstate", file))
  for (const end of ["", "-wal", "-shm"]) {
    rmSync(join(directory, "chainstate", `${file}${end}`), { force: true })
  }
  return isThere
}

/** Waits until all indexes are at the tip; returns what is late. */
const late = async (rpc: RpcClient): Promise<string | undefined> => {
  for (const until = performance.now() + PATIENCE;;) {
    const info = recordOf(await rpc.call("getindexinfo"))
    const behind = Object.keys(info).filter((name) => recordOf(info[name])["synced"] !== true)
    const count = Object.keys(info).length
    if (count === INDEX_FLAGS.length && behind.length === 0) return undefined
    if (performance.now() > until) return `${count} indexes, behind: ${behind.join(", ")}`
    await pause(50)
  }
}

/** The statistics of the index against those of a scan of all coins. */
const statisticsTrouble = async (rpc: RpcClient): Promise<string | undefined> => {
  const [stored, scanned] = [true, false].map((useIndex) => rpc.call("gettxoutsetinfo", "muhash", null, useIndex))
  const [a, b] = [recordOf(await stored), recordOf(await scanned)]
  for (const field of ["bestblock", "muhash", "txouts", "bogosize"]) {
    if (a[field] !== b[field]) return `gettxoutsetinfo: ${field} is ${String(a[field])} instead of ${String(b[field])}`
  }
  return undefined
}

/** The filter, the transactions and the spent outputs of a block; returns its filter header, or what is wrong. */
const blockTrouble = async (
  rpc: RpcClient,
  block: Readonly<Record<string, unknown>>,
  previous: Uint8Array | undefined
): Promise<{ readonly header: Uint8Array } | string> => {
  const hash = String(block["hash"])
  const stored = recordOf(await rpc.call("getblockfilter", hash))
  const header = parseDisplayHash(String(stored["header"])) ?? new Uint8Array(0)
  const filter = fromHex(String(stored["filter"])) ?? new Uint8Array(0)
  if (previous !== undefined && toHex(filterHeader({ hash: filterHash(filter), previous })) !== toHex(header)) {
    return `the filter header of block ${hash} does not follow the one before`
  }
  for (const [position, each] of listOf(block["tx"]).entries()) {
    const { txid, vin } = recordOf(each)
    const found = recordOf(await rpc.call("getrawtransaction", txid, true))
    if (found["blockhash"] !== hash) return `transaction ${String(txid)} has no place`
    for (const input of position === 0 ? [] : listOf(vin)) {
      const { txid: from, vout } = recordOf(input)
      const [spent] = listOf(await rpc.call("gettxspendingprevout", [{ txid: from, vout }], { mempool_only: false }))
      if (recordOf(spent)["spendingtxid"] !== txid) return `output ${String(from)}:${String(vout)} has no spender`
    }
  }
  return { header }
}

/** What is wrong with the optional indexes of a node that runs with `INDEX_FLAGS` and connects no block meanwhile. */
export const indexTrouble = async (rpc: RpcClient): Promise<string | undefined> => {
  const trouble = await late(rpc) ?? await statisticsTrouble(rpc)
  if (trouble !== undefined) return trouble
  const tip = Number(await rpc.call("getblockcount"))
  let previous: Uint8Array | undefined
  for (let height = Math.max(1, tip - LOOKED_AT); height <= tip; height++) {
    const block = recordOf(await rpc.call("getblock", await rpc.call("getblockhash", height), 2))
    const looked = await blockTrouble(rpc, block, previous)
    if (typeof looked === "string") return looked
    previous = looked.header
  }
  return undefined
}
