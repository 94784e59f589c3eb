import { displayHash, fromBinaryString, fromHex } from "../../src/protocol/bytes.ts"
import { sha256 } from "../../src/protocol/hash.ts"
import { nameKey } from "../../src/protocol/keys.ts"
import { addressScript, nameIndexHash, parseNameScript } from "../../src/protocol/nameOperation.ts"
import { decodeTransaction } from "../../src/protocol/transaction.ts"
import { isHash, type PlacedTransaction, type ServedChain } from "./calls.ts"
import type { Client } from "./ServedPair.ts"

const heightOf = (tip: unknown): number =>
  typeof tip === "object" && tip !== null && "height" in tip ? Number(tip.height) : 0

export interface ReadOptions {
  /** At most so many blocks, the last ones. */
  readonly blocks: number
  /** Whether the servers have an index of addresses. */
  readonly wallets: boolean
}

/** Reads all transactions of the last blocks from a server that has them. */
export const readServedChain = async (client: Client, { blocks, wallets }: ReadOptions): Promise<ServedChain> => {
  const tip = heightOf(await client.result("blockchain.headers.subscribe"))
  const transactions: Array<PlacedTransaction> = []
  const names = new Set<string>()
  const scripts = new Set<string>()
  for (let height = Math.max(0, tip - blocks + 1); height <= tip; height++) {
    for (let position = 0;; position++) {
      const txid = await client.result("blockchain.transaction.id_from_pos", height, position)
      if (!isHash(txid)) break
      transactions.push({ height, position, txid })
      const raw = fromHex(String(await client.result("blockchain.transaction.get", txid)))
      // The output of genesis is in no index, and its transaction in none.
      if (raw === undefined || raw.length === 0) continue
      for (const { script } of decodeTransaction(raw).outputs) {
        const named = parseNameScript(script)
        if (named !== undefined && named.operation.op !== "name_new") names.add(nameKey(named.operation.name))
        if (wallets) scripts.add(displayHash(sha256(addressScript(script))))
      }
    }
  }
  const hashes = [...names].map((name) => displayHash(nameIndexHash(fromBinaryString(name))))
  return { tip, transactions, names: hashes, scripts: [...scripts] }
}
