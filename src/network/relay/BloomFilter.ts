import { murmur3 } from "../../base/murmur.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { ScriptCursor } from "../../protocol/script.ts"
import { scriptTemplate } from "../../protocol/scriptType.ts"
import { outpoint, type Transaction, type TransactionOutput } from "../../protocol/transaction.ts"
import type { FilterLoad } from "../wire/messages/bloom.ts"

/** Flags that add matching outputs to the filter, so that it also matches the transactions that spend them. */
const UPDATE_ALL = 1
const UPDATE_KEYS = 2
const UPDATE_MASK = 3

/** Difference between the seeds of consecutive hash functions (BIP 37). */
const SEED_STEP = 0xfba4c795

const paysToKeys = ({ script }: TransactionOutput): boolean => {
  const { type } = scriptTemplate(script)
  return type === "pubkey" || type === "multisig"
}

/** The caller checks the limits of BIP 37. Source: upstream `common/bloom.cpp`. */
export class BloomFilter {
  private readonly bits: Uint8Array
  private readonly seeds: ReadonlyArray<number>
  private readonly update: number

  constructor({ filter, flags, hashFunctions, tweak }: Omit<FilterLoad, "type">) {
    // Copied because the filter changes, and a view would keep the whole message in memory.
    this.bits = Uint8Array.from(filter)
    this.seeds = Array.from({ length: hashFunctions }, (_, i) => (Math.imul(i, SEED_STEP) + tweak) | 0)
    this.update = flags & UPDATE_MASK
  }

  get size(): number {
    return this.bits.length
  }

  add(data: Bytes): void {
    if (this.bits.length === 0) return
    for (const seed of this.seeds) {
      const place = this.place(seed, data)
      this.bits[place >>> 3] = (this.bits[place >>> 3] ?? 0) | (1 << (place & 7))
    }
  }

  /** An empty filter matches everything (upstream: CVE-2013-5700). */
  has(data: Bytes): boolean {
    return this.bits.length === 0 || this.seeds.every((seed) => {
      const place = this.place(seed, data)
      return ((this.bits[place >>> 3] ?? 0) & (1 << (place & 7))) !== 0
    })
  }

  /** Checks the txid, data in scripts, and spent coins. Adds matching outputs as the filter's flags require. */
  matches({ inputs, outputs, txid }: Transaction): boolean {
    if (this.bits.length === 0) return true
    let found = this.has(txid)
    for (const [index, output] of outputs.entries()) {
      if (!this.hasPush(output.script)) continue
      found = true
      if (this.update === UPDATE_ALL || (this.update === UPDATE_KEYS && paysToKeys(output))) {
        this.add(outpoint(txid, index))
      }
    }
    return found || inputs.some(({ prevout, scriptSig }) => this.has(prevout) || this.hasPush(scriptSig))
  }

  private hasPush(script: Bytes): boolean {
    const cursor = new ScriptCursor(script)
    while (cursor.next()) if (cursor.data.length > 0 && this.has(cursor.data)) return true
    return false
  }

  private place(seed: number, data: Bytes): number {
    return murmur3(seed, data) % (8 * this.bits.length)
  }
}
