import { binaryString } from "../protocol/bytes.ts"
import { type NameKey, nameKey, type TxidKey } from "../protocol/keys.ts"
import { NAME_TX_VERSION, type NameScript } from "../protocol/nameOperation.ts"
import type { Transaction } from "../protocol/transaction.ts"
import type { PoolEntry } from "./PoolEntry.ts"

/**
 * Commitments to remember; the oldest are forgotten first. The reference node forgets none before it stops. Each
 * commitment had to pay a fee and lock an amount, so reaching the limit is expensive.
 */
const MAX_COMMITMENTS = 500_000

const NONE: ReadonlySet<never> = new Set()

/**
 * The name operations in the pool (reference/protocol.md 5.6). Commitments are `binaryString`s. Upstream `CNameMemPool`.
 */
export class NamePool {
  /** The first transaction with each commitment, kept long after it left the pool. */
  private readonly commitments = new Map<string, TxidKey>()
  private readonly registering = new Map<NameKey, TxidKey>()
  private readonly updating = new Map<NameKey, Set<TxidKey>>()
  private readonly capacity: number

  constructor(capacity = MAX_COMMITMENTS) {
    this.capacity = capacity
  }

  /** Whether these name scripts conflict with a pool transaction or a remembered commitment (rules M1, M2). */
  refuses({ txidKey, version }: Transaction, made: ReadonlyArray<NameScript | undefined>): boolean {
    if (version !== NAME_TX_VERSION) return false
    return made.some((script) => {
      if (script === undefined) return false
      const { operation } = script
      if (operation.op === "name_firstupdate") return this.registering.has(nameKey(operation.name))
      if (operation.op === "name_update") return false
      return (this.commitments.get(binaryString(operation.commitment)) ?? txidKey) !== txidKey
    })
  }

  add({ name, transaction: { txidKey } }: PoolEntry): void {
    if (name === undefined) return
    const { operation } = name.script
    if (operation.op === "name_new") this.remember(binaryString(operation.commitment), txidKey)
    else if (operation.op === "name_firstupdate") this.registering.set(nameKey(operation.name), txidKey)
    else {
      const key = nameKey(operation.name)
      const updates = this.updating.get(key) ?? new Set()
      this.updating.set(key, updates.add(txidKey))
    }
  }

  private remember(commitment: string, txid: TxidKey): void {
    if (this.commitments.has(commitment)) return
    this.commitments.set(commitment, txid)
    if (this.commitments.size <= this.capacity) return
    for (const oldest of this.commitments.keys()) {
      this.commitments.delete(oldest)
      return
    }
  }

  remove({ name, transaction: { txidKey } }: PoolEntry): void {
    if (name === undefined || name.script.operation.op === "name_new") return
    const { operation } = name.script
    const key = nameKey(operation.name)
    if (operation.op === "name_firstupdate") this.registering.delete(key)
    else {
      const updates = this.updating.get(key)
      updates?.delete(txidKey)
      if (updates?.size === 0) this.updating.delete(key)
    }
  }

  registration(name: NameKey): TxidKey | undefined {
    return this.registering.get(name)
  }

  /** The transactions that update a name, unordered. */
  updates(name: NameKey): ReadonlySet<TxidKey> {
    return this.updating.get(name) ?? NONE
  }

  updatedNames(): Iterable<NameKey> {
    return this.updating.keys()
  }
}
