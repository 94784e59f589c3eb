import { type Bytes, concatAll, fromHex, toHex } from "../../protocol/bytes.ts"
import { type Descriptor, keysOf } from "./descriptors.ts"
import { isHardenedRange, keyDeriver, KeyFault } from "./keyExpression.ts"
import { type HardenedKeys, type Import, MOST_HARDENED_KEYS } from "./WalletDocument.ts"

/**
 * The public keys of hardened ranges (`/*h`). Only the private key derives them, and a locked wallet has to know its
 * scripts: they are stored, as upstream does (`script/descriptor.h`, `DescriptorCache`).
 */

const KEY_SIZE = 33

/** The positions of the keys whose children are hardened. */
export const hardenedPositions = (descriptor: Descriptor): ReadonlyArray<number> =>
  keysOf(descriptor).filter(isHardenedRange).map(({ position }) => position)

/** Indexes, the last one not included. */
export type IndexRange = readonly [first: number, end: number]

/** Derives the keys of the indexes of a range. Throws a `KeyFault` without their private key. */
export const deriveHardened = (descriptor: Descriptor, [first, end]: IndexRange): ReadonlyArray<HardenedKeys> =>
  keysOf(descriptor).filter(isHardenedRange).map((key) => {
    const derive = keyDeriver(key)
    const keys: Array<Bytes> = []
    for (let index = first; index < end; index++) keys.push(derive(index).publicKey)
    return { position: key.position, keys: toHex(concatAll(keys)) }
  })

/** The index after the last one whose keys an import stores. */
export const storedEnd = ({ hardened = [], range }: Import): number => {
  const sizes = hardened.map(({ keys }) => keys.length / (2 * KEY_SIZE))
  return (range?.[0] ?? 0) + (sizes.length === 0 ? 0 : Math.min(...sizes))
}

/** The stored keys of one descriptor, each list from the first index of the range on. */
export class StoredKeys {
  private readonly first: number
  private readonly byPosition = new Map<number, Array<Bytes>>()

  /** Throws a `KeyFault` if these are not the keys that the descriptor needs. */
  constructor(descriptor: Descriptor, first: number, stored: ReadonlyArray<HardenedKeys>) {
    this.first = first
    const positions = hardenedPositions(descriptor)
    for (const position of positions) this.byPosition.set(position, [])
    this.add(stored)
    if (stored.length !== positions.length) throw new KeyFault("the keys of a hardened range are missing")
  }

  /** Whether the descriptor has hardened ranges at all. */
  get isNeeded(): boolean {
    return this.byPosition.size > 0
  }

  /** The index after the last one whose keys are stored. */
  get end(): number {
    const counts = Array.from(this.byPosition.values(), ({ length }) => length)
    return this.first + Math.min(...counts)
  }

  /** The first index whose keys could not be stored. */
  get limit(): number {
    return this.first + MOST_HARDENED_KEYS
  }

  /** The stored keys at a position, by their indexes. */
  readonly at = (position: number) => (index: number): Bytes => {
    const key = this.byPosition.get(position)?.[index - this.first]
    if (key === undefined) throw new TypeError("the key of a hardened child is not stored")
    return key
  }

  /** Appends the keys of the next indexes. */
  add(more: ReadonlyArray<HardenedKeys>): void {
    for (const { keys, position } of more) {
      const known = this.byPosition.get(position)
      const bytes = fromHex(keys)
      if (known === undefined || bytes === undefined || bytes.length % KEY_SIZE !== 0) {
        throw new KeyFault("the keys of a hardened range are invalid")
      }
      for (let at = 0; at < bytes.length; at += KEY_SIZE) {
        const key = bytes.subarray(at, at + KEY_SIZE)
        if (key[0] !== 0x02 && key[0] !== 0x03) throw new KeyFault("a key of a hardened range is invalid")
        known.push(key)
      }
    }
  }

  /** The keys in the form of the document. */
  get stored(): ReadonlyArray<HardenedKeys> {
    return Array.from(this.byPosition, ([position, keys]) => ({ position, keys: toHex(concatAll(keys)) }))
  }
}
