import type { ConnectedBlock, NameCoin } from "../chain/write/Follower.ts"
import type { NameEffect } from "../consensus/view.ts"
import { type Bytes, fromBinaryString } from "../protocol/bytes.ts"
import { type Height, type NameKey, nameKey } from "../protocol/keys.ts"
import { parseNameScript } from "../protocol/nameOperation.ts"
import { prevoutIndex, prevoutTxid } from "../protocol/transaction.ts"
import { firstOperationAt, OPERATIONS_PER_BLOCK } from "./NameEntry.ts"

/** What a name's record takes from the operation that set it. */
export type StoredEffect = Omit<NameEffect, "transaction"> & { readonly transaction: { readonly txid: Bytes } }

export interface NumberedEffect {
  readonly id: number
  /** Packed operations make it on each access. */
  readonly effect: StoredEffect
}

export interface NameBatch {
  /** Every operation, in chain order. */
  readonly operations: ReadonlyArray<NumberedEffect>
  /** The last operation on each name, by `nameKey`, in the order in which names are first touched. */
  readonly latest: ReadonlyMap<NameKey, NumberedEffect>
}

/** Numbers the operations of consecutive blocks. Throws `RangeError` for others. */
export const batchOf = (blocks: ReadonlyArray<ConnectedBlock>): NameBatch => {
  const operations: Array<NumberedEffect> = []
  const latest = new Map<NameKey, NumberedEffect>()
  let expected = blocks[0]?.height
  for (const { effects, height } of blocks) {
    if (height !== expected) throw new RangeError(`block ${height} comes where block ${expected} should`)
    if (effects.length > OPERATIONS_PER_BLOCK) throw new RangeError(`${effects.length} names change in block ${height}`)
    expected = height + 1
    const first = firstOperationAt(height)
    for (let i = 0; i < effects.length; i++) {
      const effect = effects[i]
      if (effect === undefined) continue
      const numbered = { id: first + i, effect }
      operations.push(numbered)
      latest.set(nameKey(effect.name), numbered)
    }
  }
  return { operations, latest }
}

/** Numbers operations known only from coins, whose order within a block is unknown. */
export class SettingNumbers {
  /** The number of numbered operations per block. */
  private readonly used = new Map<Height, number>()

  operationOf({ claim, coin }: NameCoin): ReadonlyArray<NumberedEffect> {
    const { height } = claim
    const script = parseNameScript(coin.script)
    if (script === undefined || script.operation.op === "name_new") return []
    const at = this.used.get(height) ?? 0
    this.used.set(height, at + 1)
    const prevout = fromBinaryString(claim.outpoint)
    const { address, operation } = script
    const transaction = { txid: prevoutTxid(prevout) }
    const vout = prevoutIndex(prevout)
    const effect = { name: operation.name, operation, height, transaction, vout, value: coin.value, address }
    return [{ id: firstOperationAt(height) + at, effect }]
  }
}

/** The smallest byte string after all those that begin with `prefix`, if any. */
export const prefixEnd = (prefix: Bytes): Uint8Array | undefined => {
  let length = prefix.length
  while (length > 0 && prefix[length - 1] === 0xff) length--
  if (length === 0) return undefined
  const end = prefix.slice(0, length)
  end[length - 1] = (end[length - 1] ?? 0) + 1
  return end
}

export const successor = (name: Bytes): Uint8Array => {
  const next = new Uint8Array(name.length + 1)
  next.set(name)
  return next
}
