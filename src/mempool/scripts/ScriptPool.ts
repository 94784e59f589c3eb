import { hasNoHistory, scriptHashOf } from "../../chain/indexes/hashRows.ts"
import type { Coin } from "../../consensus/view.ts"
import { type ScriptKey, scriptKey, type TxidKey } from "../../protocol/keys.ts"
import type { PoolEntry } from "../PoolEntry.ts"

/** What a waiting transaction does to the coins of a script. */
export interface WaitingMove {
  readonly entry: PoolEntry
  /** Smallest units; negative if it spends more than it pays. */
  readonly change: number
}

type Moved = Pick<Coin, "script" | "value">

const NONE: ReadonlyMap<TxidKey, WaitingMove> = new Map()

export const scriptKeyOf = (script: Uint8Array): ScriptKey => scriptKey(scriptHashOf(script))

/** The transactions of the mempool by the scripts that they pay or spend from. */
export class ScriptPool {
  readonly #moves = new Map<ScriptKey, Map<TxidKey, WaitingMove>>()
  readonly #keys = new Map<TxidKey, ReadonlyArray<ScriptKey>>()

  /** Adds a transaction with the coins that it spends. Returns the scripts that it touches. */
  add(entry: PoolEntry, spent: ReadonlyArray<Moved>): ReadonlyArray<ScriptKey> {
    const { outputs, txidKey } = entry.transaction
    const changes = new Map<ScriptKey, number>()
    const move = ({ script }: Moved, amount: number): void => {
      const key = scriptKeyOf(script)
      changes.set(key, (changes.get(key) ?? 0) + amount)
    }
    for (const coin of spent) move(coin, -coin.value)
    for (const output of outputs) if (!hasNoHistory(output.script)) move(output, output.value)
    for (const [key, change] of changes) {
      const moves = this.#moves.get(key)
      if (moves === undefined) this.#moves.set(key, new Map([[txidKey, { entry, change }]]))
      else moves.set(txidKey, { entry, change })
    }
    const keys = [...changes.keys()]
    this.#keys.set(txidKey, keys)
    return keys
  }

  /** Returns the scripts that the transaction touched. */
  remove(txid: TxidKey): ReadonlyArray<ScriptKey> {
    const keys = this.touchedBy(txid)
    for (const key of keys) {
      const moves = this.#moves.get(key)
      moves?.delete(txid)
      if (moves?.size === 0) this.#moves.delete(key)
    }
    this.#keys.delete(txid)
    return keys
  }

  touchedBy(txid: TxidKey): ReadonlyArray<ScriptKey> {
    return this.#keys.get(txid) ?? []
  }

  /** What waits for a script, by txid. */
  of(key: ScriptKey): ReadonlyMap<TxidKey, WaitingMove> {
    return this.#moves.get(key) ?? NONE
  }
}
