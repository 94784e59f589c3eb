import { type Bytes, concatAll, fromHex, toHex } from "../../protocol/bytes.ts"
import { type Descriptor, keysOf } from "./descriptors.ts"
import { isHardenedRange, keyDeriver, KeyFault } from "./keyExpression.ts"
import { type HardenedKeys, type Import, MOST_HARDENED_KEYS } from "./WalletDocument.ts"

/**
 * Public keys of hardened ranges (`/*h`) are stored, because a locked wallet must know its scripts and only the private
 * key derives them (upstream `script/descriptor.h`, `DescriptorCache`).
 */

const KEY_SIZE = 33

export const hardenedPositions = (descriptor: Descriptor): ReadonlyArray<number> =>
  keysOf(descriptor).filter(isHardenedRange).map(({ position }) => position)

export type IndexRange = readonly [first: number, end: number]

/** Throws a `KeyFault` without the private key. */
export const deriveHardened = (descriptor: Descriptor, [first, end]: IndexRange): ReadonlyArray<HardenedKeys> =>
  keysOf(descriptor).filter(isHardenedRange).map((key) => {
    const derive = keyDeriver(key)
    const keys: Array<Bytes> = []
    for (let index = first; index < end; index++) keys.push(derive(index).publicKey)
    return { position: key.position, keys: toHex(concatAll(keys)) }
  })

export const storedEnd = ({ hardened = [], range }: Import): number => {
  const sizes = hardened.map(({ keys }) => keys.length / (2 * KEY_SIZE))
  return (range?.[0] ?? 0) + (sizes.length === 0 ? 0 : Math.min(...sizes))
}

/** The stored keys of one descriptor. Each list begins at the first index of the range. */
export class StoredKeys {
  private readonly first: number
  private readonly byPosition = new Map<number, Array<Bytes>>()

  /** Throws a `KeyFault` for keys that do not fit the descriptor. */
  constructor(descriptor: Descriptor, first: number, stored: ReadonlyArray<HardenedKeys>) {
    this.first = first
    const positions = hardenedPositions(descriptor)
    for (const position of positions) this.byPosition.set(position, [])
    this.add(stored)
    if (stored.length !== positions.length) throw new KeyFault("the keys of a hardened range are missing")
  }

  get isNeeded(): boolean {
    return this.byPosition.size > 0
  }

  get end(): number {
    const counts = Array.from(this.byPosition.values(), ({ length }) => length)
    return this.first + Math.min(...counts)
  }

  get limit(): number {
    return this.first + MOST_HARDENED_KEYS
  }

  readonly at = (position: number) => (index: number): Bytes => {
    const key = this.byPosition.get(position)?.[index - this.first]
    if (key === undefined) throw new TypeError("the key of a hardened child is not stored")
    return key
  }

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

  get stored(): ReadonlyArray<HardenedKeys> {
    return Array.from(this.byPosition, ([position, keys]) => ({ position, keys: toHex(concatAll(keys)) }))
  }
}
