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

export const scriptKeyOf = (script: Uint8Array): ScriptKey => scriptKey(scriptHashOf(script))

const byTxid = (moves: ReadonlyArray<WaitingMove>): Map<TxidKey, WaitingMove> =>
  new Map(moves.map((move) => [move.entry.transaction.txidKey, move]))

/** The transactions of the mempool by the scripts that they pay or spend from. */
export class ScriptPool {
  /** Most scripts have a single move, for which a map would be several times as large. */
  readonly #moves = new Map<ScriptKey, WaitingMove | Map<TxidKey, WaitingMove>>()
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
    // A transaction that is added once more has one move of each script.
    this.remove(txidKey)
    for (const [key, change] of changes) this.#put(key, { entry, change })
    const keys = [...changes.keys()]
    this.#keys.set(txidKey, keys)
    return keys
  }

  #put(key: ScriptKey, move: WaitingMove): void {
    const moves = this.#moves.get(key)
    if (moves instanceof Map) moves.set(move.entry.transaction.txidKey, move)
    else this.#moves.set(key, moves === undefined ? move : byTxid([moves, move]))
  }

  /** Returns the scripts that the transaction touched. */
  remove(txid: TxidKey): ReadonlyArray<ScriptKey> {
    const keys = this.touchedBy(txid)
    for (const key of keys) {
      const moves = this.#moves.get(key)
      if (moves instanceof Map && moves.size > 1) moves.delete(txid)
      else this.#moves.delete(key)
    }
    this.#keys.delete(txid)
    return keys
  }

  touchedBy(txid: TxidKey): ReadonlyArray<ScriptKey> {
    return this.#keys.get(txid) ?? []
  }

  /** How many transactions wait for a script. */
  count(key: ScriptKey): number {
    const moves = this.#moves.get(key)
    return moves instanceof Map ? moves.size : moves === undefined ? 0 : 1
  }

  /** What waits for a script. */
  of(key: ScriptKey): ReadonlyArray<WaitingMove> {
    const moves = this.#moves.get(key)
    return moves instanceof Map ? [...moves.values()] : moves === undefined ? [] : [moves]
  }
}
