import { displayHash, fromBinaryString, fromHex } from "../../src/protocol/bytes.ts"
import { sha256 } from "../../src/protocol/hash.ts"
import { nameKey } from "../../src/protocol/keys.ts"
import { addressScript, nameIndexHash, parseNameScript } from "../../src/protocol/nameOperation.ts"
import {
  decodeTransaction,
  isNullPrevout,
  prevoutIndex,
  prevoutTxid,
  type Transaction
} from "../../src/protocol/transaction.ts"
import { isHash, type PlacedTransaction, type ServedChain } from "./calls.ts"
import type { Client } from "./ServedPair.ts"

const heightOf = (tip: unknown): number =>
  typeof tip === "object" && tip !== null && "height" in tip ? Number(tip.height) : 0

export interface ReadOptions {
  /** At most so many blocks, the last ones. */
  readonly blocks: number
  /** Whether the servers have an index of addresses. */
  readonly wallets: boolean
  /** Transactions in the mempool. */
  readonly pool?: ReadonlyArray<string>
}

/** Reads transactions, and gathers the names and scripts that they touch. */
class Touched {
  readonly names = new Set<string>()
  readonly scripts = new Set<string>()
  readonly #client: Client
  readonly #wallets: boolean
  readonly #read = new Map<string, Transaction | undefined>()

  constructor(client: Client, wallets: boolean) {
    this.#client = client
    this.#wallets = wallets
  }

  async add(txid: string): Promise<void> {
    const transaction = await this.#transaction(txid)
    for (const { script } of transaction?.outputs ?? []) {
      const named = parseNameScript(script)
      if (named !== undefined && named.operation.op !== "name_new") this.names.add(nameKey(named.operation.name))
      this.#addScript(script)
    }
    for (const { prevout } of this.#wallets ? transaction?.inputs ?? [] : []) {
      if (isNullPrevout(prevout)) continue
      const spent = await this.#transaction(displayHash(prevoutTxid(prevout)))
      const output = spent?.outputs[prevoutIndex(prevout)]
      if (output !== undefined) this.#addScript(output.script)
    }
  }

  #addScript(script: Uint8Array): void {
    if (this.#wallets) this.scripts.add(displayHash(sha256(addressScript(script))))
  }

  /** The output of genesis is in no index, and its transaction in none. */
  async #transaction(txid: string): Promise<Transaction | undefined> {
    if (this.#read.has(txid)) return this.#read.get(txid)
    const raw = fromHex(String(await this.#client.result("blockchain.transaction.get", txid)))
    const transaction = raw === undefined || raw.length === 0 ? undefined : decodeTransaction(raw)
    this.#read.set(txid, transaction)
    return transaction
  }
}

/** Reads all transactions of the last blocks, and those of the mempool, from a server that has them. */
export const readServedChain = async (
  client: Client,
  { blocks, pool = [], wallets }: ReadOptions
): Promise<ServedChain> => {
  const tip = heightOf(await client.result("blockchain.headers.subscribe"))
  const transactions: Array<PlacedTransaction> = []
  const touched = new Touched(client, wallets)
  for (let height = Math.max(0, tip - blocks + 1); height <= tip; height++) {
    for (let position = 0;; position++) {
      const txid = await client.result("blockchain.transaction.id_from_pos", height, position)
      if (!isHash(txid)) break
      transactions.push({ height, position, txid })
      await touched.add(txid)
    }
  }
  for (const txid of pool) {
    // Of no block: a proof is refused.
    transactions.push({ height: tip, position: 0, txid })
    await touched.add(txid)
  }
  const hashes = [...touched.names].map((name) => displayHash(nameIndexHash(fromBinaryString(name))))
  return { tip, transactions, names: hashes, scripts: [...touched.scripts] }
}
