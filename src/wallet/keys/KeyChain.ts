import { type Bytes, concat, concatAll, EMPTY, equal } from "../../protocol/bytes.ts"
import { hash160 } from "../../protocol/hash.ts"
import { AddressUse } from "./AddressUse.ts"
import { type Descriptor, isRangedDescriptor, keysOf } from "./descriptors.ts"
import { type DescribedScript, describedScripts, outputTypeOf } from "./descriptorScripts.ts"
import { type IndexRange, StoredKeys } from "./hardenedKeys.ts"
import { type DerivedKey, isHardenedRange, publicDeriver, storedDeriver } from "./keyExpression.ts"
import type { HardenedKeys, Purpose } from "./WalletDocument.ts"
import type { AddressType } from "./WalletKeys.ts"

/** An account of the seed, or an imported descriptor by its public text. */
export type KeySource =
  | { readonly kind: "account"; readonly purpose: Purpose; readonly change: boolean }
  | { readonly kind: "import"; readonly text: string }

export interface KeyChainOptions {
  readonly source: KeySource
  /** Without private keys. */
  readonly descriptor: Descriptor
  /** With checksum. */
  readonly text: string
  readonly change: boolean
  readonly active: boolean
  /** Positions of the keys with a private key. */
  readonly privateKeys: ReadonlySet<number>
  readonly timestamp: number
  /** The first watched index, and the end of those that must be watched. */
  readonly start: number
  readonly end: number
  /** The first index neither given out nor used. */
  readonly next: number
  /** Gap: unused indexes watched from `next` on. */
  readonly lookahead: number
  /** The part of the gap that counts as keypool; all of it if omitted. */
  readonly keypool?: number | undefined
  /** Reach of the seed phrase; `undefined` for a chain that it does not recover. */
  readonly reach?: number | undefined
  readonly hardened?: ReadonlyArray<HardenedKeys> | undefined
}

/** BIP 32. */
const INDEX_LIMIT = 0x80000000

const TAPROOT_SCRIPT = 34

/** A record is the script, and for taproot the HASH160 of the internal key. */
const RECORD_SIZE: Readonly<Record<AddressType, number>> = {
  legacy: 25,
  "p2sh-segwit": 23,
  bech32: 22,
  bech32m: TAPROOT_SCRIPT + 20
}

/** Whether a script's bytes lead to all else about it: then only they are kept, and the rest is derived on use. */
const isPlainDescriptor = (descriptor: Descriptor): boolean => {
  switch (descriptor.name) {
    case "pkh":
    case "wpkh":
      return true
    case "sh":
      return descriptor.inner.name === "wpkh"
    case "tr":
      return descriptor.leaves.length === 0
    default:
      return false
  }
}

export interface PlainRecord {
  readonly script: Bytes
  /** HASH160 of the taproot internal key. */
  readonly keyHash: Bytes | undefined
}

/** The scripts of one descriptor, derived up to the lookahead, and their use. */
export class KeyChain {
  readonly source: KeySource
  readonly descriptor: Descriptor
  readonly text: string
  readonly change: boolean
  readonly privateKeys: ReadonlySet<number>
  readonly timestamp: number
  readonly ranged: boolean
  readonly isPlain: boolean
  readonly type: AddressType | undefined
  active: boolean
  readonly use: AddressUse
  readonly start: number
  /** End of the derived indexes. */
  derived: number
  private end: number
  private readonly lookahead: number
  private readonly keypool: number
  private readonly stored: StoredKeys
  private readonly derivers: ReadonlyMap<number, (index: number) => DerivedKey>
  /** Records of the first indexes, from a file. */
  private records: Bytes = EMPTY
  /** Records not from the file, until `takeRecords`. */
  private fresh: Array<Bytes> | undefined = []

  constructor(options: KeyChainOptions) {
    this.source = options.source
    this.descriptor = options.descriptor
    this.text = options.text
    this.change = options.change
    this.privateKeys = options.privateKeys
    this.timestamp = options.timestamp
    this.active = options.active
    this.ranged = isRangedDescriptor(options.descriptor)
    this.isPlain = this.ranged && isPlainDescriptor(options.descriptor)
    this.type = outputTypeOf(options.descriptor)
    this.start = this.ranged ? options.start : 0
    this.derived = this.start
    this.end = this.ranged ? options.end : 1
    this.use = new AddressUse({ start: this.start, next: options.next, reach: options.reach })
    this.lookahead = options.lookahead
    this.keypool = options.keypool ?? options.lookahead
    const stored = new StoredKeys(options.descriptor, this.start, options.hardened ?? [])
    this.stored = stored
    this.derivers = new Map(
      keysOf(options.descriptor).map((key) => [
        key.position,
        isHardenedRange(key) ? storedDeriver(key, stored.at(key.position)) : publicDeriver(key)
      ])
    )
  }

  get keyCount(): number {
    return this.derivers.size
  }

  /** Watches this many unused indexes, until the wallet is opened again. */
  wants(unused: number): void {
    if (this.ranged) this.end = Math.max(this.end, Math.min(this.use.next + unused, INDEX_LIMIT))
  }

  /** The end of the indexes to watch with this gap, as far as their keys are known. */
  private wanted(gap: number): number {
    if (!this.ranged) return this.end
    return Math.min(Math.max(this.end, this.use.next + gap), INDEX_LIMIT)
  }

  /** The end of the indexes to watch now. */
  get target(): number {
    const wanted = this.wanted(this.lookahead)
    return this.stored.isNeeded ? Math.min(wanted, this.stored.end) : wanted
  }

  get poolEnd(): number {
    return Math.min(this.derived, this.wanted(this.keypool))
  }

  /** Indexes to watch whose keys only the private key derives. */
  get lacking(): IndexRange | undefined {
    if (!this.stored.isNeeded) return undefined
    const { end, limit } = this.stored
    const last = Math.min(this.wanted(this.lookahead), limit)
    return last > end ? [end, last] : undefined
  }

  learn(keys: ReadonlyArray<HardenedKeys>): void {
    this.stored.add(keys)
  }

  /** The stored keys of hardened ranges and their end; `undefined` without such ranges. */
  get hardened(): { readonly end: number; readonly keys: () => ReadonlyArray<HardenedKeys> } | undefined {
    const { stored } = this
    return stored.isNeeded ? { end: stored.end, keys: () => stored.stored } : undefined
  }

  scripts(index: number): ReadonlyArray<DescribedScript> {
    const keys = new Map<number, DerivedKey>()
    const keyAt = (position: number): DerivedKey => {
      const known = keys.get(position)
      if (known !== undefined) return known
      const key = this.derivers.get(position)?.(index)
      if (key === undefined) throw new TypeError("no key at this position")
      keys.set(position, key)
      return key
    }
    return describedScripts(this.descriptor, keyAt)
  }

  private get recordSize(): number {
    return RECORD_SIZE[this.type ?? "legacy"]
  }

  nextRecord(): PlainRecord {
    const { records, recordSize } = this
    const at = (this.derived++ - this.start) * recordSize
    if (at + recordSize <= records.length) return this.recordOf(records.subarray(at, at + recordSize))
    const record = this.derivedRecord(this.derived - 1)
    this.fresh?.push(record)
    return this.recordOf(record)
  }

  record(index: number): PlainRecord {
    return this.recordOf(this.derivedRecord(index))
  }

  private recordOf(record: Bytes): PlainRecord {
    return this.type === "bech32m"
      ? { script: record.subarray(0, TAPROOT_SCRIPT), keyHash: record.subarray(TAPROOT_SCRIPT) }
      : { script: record, keyHash: undefined }
  }

  private derivedRecord(index: number): Bytes {
    const [described] = this.scripts(index)
    const [key] = described?.keys ?? []
    if (described === undefined || key === undefined) throw new TypeError("a plain script has one key")
    return this.type === "bech32m" ? concat(described.script, hash160(key.publicKey)) : described.script
  }

  get hasRecords(): boolean {
    return (this.derived - this.start) * this.recordSize < this.records.length
  }

  /** Records of another chain are ignored. */
  readRecords(records: Bytes): void {
    const count = records.length / this.recordSize
    if (!this.isPlain || count < 1 || !Number.isInteger(count)) return
    // An older copy of the wallet has fewer keys of a hardened range than the index.
    if (this.stored.isNeeded && this.start + count > this.stored.end) return
    const last = this.derivedRecord(this.start + count - 1)
    if (equal(last, records.subarray(-this.recordSize))) this.records = records
  }

  /** All records, if some were not read; only at the first call. */
  takeRecords(): Bytes | undefined {
    const { fresh = [], records } = this
    this.records = EMPTY
    this.fresh = undefined
    return fresh.length === 0 ? undefined : concatAll([records, ...fresh])
  }
}

/** Whether the wallet can sign for the script, once unlocked. */
export const isSpendable = ({ keys, required }: DescribedScript, { privateKeys }: KeyChain): boolean =>
  required > 0 && keys.filter(({ position }) => privateKeys.has(position)).length >= required
