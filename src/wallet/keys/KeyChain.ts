import { type Descriptor, isRangedDescriptor, keysOf } from "./descriptors.ts"
import { type DescribedScript, describedScripts, outputTypeOf } from "./descriptorScripts.ts"
import { type IndexRange, StoredKeys } from "./hardenedKeys.ts"
import { type DerivedKey, isHardenedRange, publicDeriver, storedDeriver } from "./keyExpression.ts"
import type { HardenedKeys, Purpose } from "./WalletDocument.ts"
import type { AddressType, OwnScript } from "./WalletKeys.ts"

/** The source of a chain's scripts: an account of the seed, or an imported descriptor by its public text. */
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
  /** Positions of the keys that the wallet can sign with. */
  readonly privateKeys: ReadonlySet<number>
  readonly timestamp: number
  /** The first watched index, and the index after the last one that must be watched. */
  readonly start: number
  readonly end: number
  /** The first index that is neither given out nor used. */
  readonly next: number
  /** Gap: the number of unused indexes watched from `next` on. */
  readonly lookahead: number
  /** The stored keys of hardened ranges. */
  readonly hardened?: ReadonlyArray<HardenedKeys> | undefined
}

/** The limit of the indexes (BIP 32). */
const INDEX_LIMIT = 0x80000000

/** The scripts of one descriptor, derived up to the lookahead. */
export class KeyChain {
  readonly source: KeySource
  readonly descriptor: Descriptor
  readonly text: string
  readonly change: boolean
  readonly privateKeys: ReadonlySet<number>
  readonly timestamp: number
  readonly ranged: boolean
  /** The type of the addresses that the chain gives out. */
  readonly type: AddressType | undefined
  active: boolean
  next: number
  readonly start: number
  /** The indexes from `start` up to this one are derived. */
  derived: number
  private end: number
  private readonly lookahead: number
  /** The first script of each index. */
  private readonly kept = new Map<number, OwnScript>()
  private readonly stored: StoredKeys
  private readonly derivers: ReadonlyMap<number, (index: number) => DerivedKey>

  constructor(options: KeyChainOptions) {
    this.source = options.source
    this.descriptor = options.descriptor
    this.text = options.text
    this.change = options.change
    this.privateKeys = options.privateKeys
    this.timestamp = options.timestamp
    this.active = options.active
    this.ranged = isRangedDescriptor(options.descriptor)
    this.type = outputTypeOf(options.descriptor)
    this.start = this.ranged ? options.start : 0
    this.derived = this.start
    this.end = this.ranged ? options.end : 1
    this.next = options.next
    this.lookahead = options.lookahead
    const stored = new StoredKeys(options.descriptor, this.start, options.hardened ?? [])
    this.stored = stored
    this.derivers = new Map(
      keysOf(options.descriptor).map((key) => [
        key.position,
        isHardenedRange(key) ? storedDeriver(key, stored.at(key.position)) : publicDeriver(key)
      ])
    )
  }

  /** The number of keys of each index. */
  get keyCount(): number {
    return this.derivers.size
  }

  /** Asks for this number of unused indexes, until the wallet is opened again. */
  wants(unused: number): void {
    if (this.ranged) this.end = Math.max(this.end, Math.min(this.next + unused, INDEX_LIMIT))
  }

  /** The index after the last one that must be watched now, if its keys are known. */
  private get wanted(): number {
    if (!this.ranged) return this.end
    return Math.min(Math.max(this.end, this.next + this.lookahead), INDEX_LIMIT)
  }

  /** The index after the last one that must be watched now, and can be. */
  get target(): number {
    return this.stored.isNeeded ? Math.min(this.wanted, this.stored.end) : this.wanted
  }

  /** The indexes that must be watched, whose keys only the private key derives; `undefined` for none. */
  get lacking(): IndexRange | undefined {
    if (!this.stored.isNeeded) return undefined
    const { end, limit } = this.stored
    const last = Math.min(this.wanted, limit)
    return last > end ? [end, last] : undefined
  }

  /** Takes the keys of the indexes that are lacking. */
  learn(keys: ReadonlyArray<HardenedKeys>): void {
    this.stored.add(keys)
  }

  /** The stored keys of hardened ranges, and the index after the last one; `undefined` without such ranges. */
  get hardened(): { readonly end: number; readonly keys: () => ReadonlyArray<HardenedKeys> } | undefined {
    const { stored } = this
    return stored.isNeeded ? { end: stored.end, keys: () => stored.stored } : undefined
  }

  /** Stores a script of an index. The first one is the script that the chain gives out. */
  keep(index: number, script: OwnScript): void {
    if (!this.kept.has(index)) this.kept.set(index, script)
  }

  /** The script that the chain gives out for a derived index. */
  at(index: number): OwnScript | undefined {
    return this.kept.get(index)
  }

  /** Derives the scripts of the next index. */
  derive(): { readonly index: number; readonly scripts: ReadonlyArray<DescribedScript> } {
    const index = this.derived++
    const keys = new Map<number, DerivedKey>()
    const keyAt = (position: number): DerivedKey => {
      const known = keys.get(position)
      if (known !== undefined) return known
      const key = this.derivers.get(position)?.(index)
      if (key === undefined) throw new TypeError("no key at this position")
      keys.set(position, key)
      return key
    }
    return { index, scripts: describedScripts(this.descriptor, keyAt) }
  }
}

/** Whether the wallet can sign for a script of a chain, once it is unlocked. */
export const isSpendable = ({ keys, required }: DescribedScript, { privateKeys }: KeyChain): boolean =>
  required > 0 && keys.filter(({ position }) => privateKeys.has(position)).length >= required
