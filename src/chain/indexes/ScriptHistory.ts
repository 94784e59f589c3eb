import { isExpired } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { Block } from "../../protocol/block.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { hashOfKey, type Height, type OutpointKey, type ScriptKey } from "../../protocol/keys.ts"
import { addressScript, NAME_TX_VERSION, parseNameScript } from "../../protocol/nameOperation.ts"
import { outpoint, outpointKey, type Transaction } from "../../protocol/transaction.ts"
import { hasNoHistory, scriptHashOf } from "./hashRows.ts"

export interface ScriptEntry {
  /** Wire order. */
  readonly txid: Bytes
  readonly height: Height
  /** What the transaction adds to the script's coins, smallest units. */
  readonly change: number
}

export interface ScriptCoin {
  /** Wire order. */
  readonly txid: Bytes
  readonly vout: number
  readonly height: Height
  /** Smallest units. */
  readonly value: number
  /** Whether it holds a registered name: it is gone once that expires. */
  readonly holdsName: boolean
}

/** Approximate memory of an entry and a coin. */
const ENTRY_BYTES = 200
const COIN_BYTES = 400

/** Whether an output holds a name that expires. */
const isNameCoin = ({ outputs, version }: Transaction, vout: number): boolean => {
  if (version !== NAME_TX_VERSION) return false
  const op = parseNameScript(outputs[vout]?.script ?? new Uint8Array(0))?.operation.op
  return op !== undefined && op !== "name_new"
}

/** The transactions and coins of a script, from the blocks that may have some, in their order. */
export class ScriptHistory {
  readonly #hash: Bytes
  readonly #entries: Array<ScriptEntry>
  readonly #coins: Map<OutpointKey, ScriptCoin>
  /** The script, once an output has it: it is compared faster than its hash is made. */
  #script: Bytes | undefined

  constructor(from: ScriptKey | ScriptHistory) {
    if (from instanceof ScriptHistory) {
      this.#hash = from.#hash
      this.#entries = [...from.#entries]
      this.#coins = new Map(from.#coins)
      this.#script = from.#script
    } else {
      this.#hash = hashOfKey(from)
      this.#entries = []
      this.#coins = new Map()
    }
  }

  /** In the order of the chain. */
  get entries(): ReadonlyArray<ScriptEntry> {
    return this.#entries
  }

  /** Those that no block spends, in the order of the chain. */
  coins(): Iterable<ScriptCoin> {
    return this.#coins.values()
  }

  /** -1 without a transaction. */
  get lastHeight(): Height {
    return this.#entries.at(-1)?.height ?? -1
  }

  /** Approximate bytes of memory. */
  get bytes(): number {
    return ENTRY_BYTES * (this.#entries.length + 1) + COIN_BYTES * this.#coins.size
  }

  /** Adds what a block has of the script. */
  add({ transactions }: Pick<Block, "transactions">, height: Height): void {
    for (const transaction of transactions) {
      const spent = transaction.isCoinbase ? undefined : this.#spend(transaction)
      const received = this.#receive(transaction, height)
      if (spent === undefined && received === undefined) continue
      // A view would keep the whole block.
      this.#entries.push({ txid: transaction.txid.slice(), height, change: (received ?? 0) - (spent ?? 0) })
    }
  }

  /** The sum of the coins that it spends; `undefined` if it spends none. */
  #spend({ inputs }: Transaction): number | undefined {
    if (this.#coins.size === 0) return undefined
    let sum: number | undefined
    for (const { prevout } of inputs) {
      const key = outpointKey(prevout)
      const coin = this.#coins.get(key)
      if (coin === undefined) continue
      this.#coins.delete(key)
      sum = (sum ?? 0) + coin.value
    }
    return sum
  }

  #receive(transaction: Transaction, height: Height): number | undefined {
    let sum: number | undefined
    for (const [vout, { script, value }] of transaction.outputs.entries()) {
      if (!this.#pays(script)) continue
      const txid = transaction.txid.slice()
      const holdsName = isNameCoin(transaction, vout)
      this.#coins.set(outpointKey(outpoint(txid, vout)), { txid, vout, height, value, holdsName })
      sum = (sum ?? 0) + value
    }
    return sum
  }

  #pays(script: Bytes): boolean {
    if (hasNoHistory(script)) return false
    const own = addressScript(script)
    if (this.#script !== undefined) return equal(own, this.#script)
    if (!equal(scriptHashOf(script), this.#hash)) return false
    this.#script = own.slice()
    return true
  }
}

/** The coins of a script at a height, without those of expired names, which nobody can spend. */
export const livingCoins = (
  history: ScriptHistory,
  height: Height,
  params: ConsensusParams
): ReadonlyArray<ScriptCoin> =>
  [...history.coins()].filter((coin) => !(coin.holdsName && isExpired(coin, height + 1, params)))
