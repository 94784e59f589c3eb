import * as Either from "effect/Either"
import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import { hash160 } from "../../protocol/hash.ts"
import type { Network } from "../../protocol/networks.ts"
import { makeProvider, type SigningKey, type SigningProvider } from "../signing/SigningProvider.ts"
import { makeTaproot } from "../signing/taprootTree.ts"
import { type Descriptor, faultless, isRangedDescriptor, keysOf } from "./descriptors.ts"
import { type DescribedScript, describedScripts } from "./descriptorScripts.ts"
import { keyDeriver, type KeyExpression, privateKeyAt } from "./keyExpression.ts"
import { parseDescriptors } from "./parseDescriptor.ts"

/** Descriptors for callers without a wallet. */

/** One script per index, except for `combo`. Throws a `KeyFault` if hardened steps lack their private key. */
export const expandDescriptor = (descriptor: Descriptor): (index: number) => ReadonlyArray<DescribedScript> => {
  const derivers = new Map(keysOf(descriptor).map((key) => [key.position, keyDeriver(key)]))
  return (index) =>
    describedScripts(descriptor, (position) => {
      const key = derivers.get(position)?.(index)
      if (key === undefined) throw new TypeError("no key at this position")
      return key
    })
}

/** `ranged` and `multipath`: well-formed, but with more than one script. */
export type DescriptorFault = "invalid" | "ranged" | "multipath"

export type DescriptorScript =
  | { readonly script: Bytes }
  | { readonly error: string; readonly kind: DescriptorFault }

/** For `combo`, the witness program if the key can have one. */
const preferred = (scripts: ReadonlyArray<DescribedScript>): DescribedScript | undefined => scripts[2] ?? scripts.at(-1)

/** The checksum is optional. Source: upstream `rpc/mining.cpp`, `getScriptFromDescriptor`. */
export const descriptorScript = (network: Network, text: string): DescriptorScript => {
  const parsed = parseDescriptors(network, text, "optional")
  if (Either.isLeft(parsed)) return { error: parsed.left.reason, kind: "invalid" }
  const [descriptor, ...others] = parsed.right
  if (others.length > 0) return { error: "Multipath descriptor not accepted", kind: "multipath" }
  if (descriptor === undefined || isRangedDescriptor(descriptor)) {
    return { error: "Ranged descriptor not accepted", kind: "ranged" }
  }
  const made = faultless(() => preferred(expandDescriptor(descriptor)(0)))
  if (Either.isLeft(made)) return { error: made.left.reason, kind: "invalid" }
  if (made.right === undefined) throw new TypeError("a descriptor has no script")
  return { script: made.right.script }
}

interface ExpandedKey {
  readonly expression: KeyExpression
  readonly index: number
}

export class DescriptorKnowledge {
  private readonly described: Array<DescribedScript> = []
  private readonly keys = new Map<string, ExpandedKey>()

  private readonly inTrees = new Map<string, Bytes>()
  private keyCount = 0

  get size(): number {
    return this.described.length + this.keyCount
  }

  add(descriptor: Descriptor, index: number, scripts: ReadonlyArray<DescribedScript>): void {
    const expressions = new Map(keysOf(descriptor).map((key) => [key.position, key]))
    this.described.push(...scripts)
    for (const { keys, taproot } of scripts) {
      this.keyCount += keys.length
      const hasLeaves = (taproot?.leaves.length ?? 0) > 0
      for (const { position, publicKey } of keys) {
        const expression = expressions.get(position)
        if (expression !== undefined) this.keys.set(binaryString(hash160(publicKey)), { expression, index })
        // A miniscript in a script tree may have the hash of a key's x coordinate.
        if (hasLeaves) this.inTrees.set(binaryString(hash160(publicKey.subarray(-32))), publicKey)
      }
    }
  }

  /** Derives a private key on demand. */
  provider(): SigningProvider {
    const { described } = this
    const key = (keyHash: Bytes): SigningKey | undefined => {
      const found = this.keys.get(binaryString(keyHash))
      return found === undefined ? undefined : privateKeyAt(found.expression, found.index)
    }
    const known = makeProvider({
      scripts: described.flatMap(({ redeemScript, witnessScript }) =>
        [redeemScript, witnessScript].filter((script) => script !== undefined)
      ),
      origins: described.flatMap(({ keys }) => keys.map(({ origin, publicKey }) => ({ pubkey: publicKey, origin }))),
      taproot: described.flatMap(({ taproot }) =>
        taproot?.internalKey === undefined ? [] : [makeTaproot(taproot.internalKey, taproot.leaves)]
      )
    })
    const pubkey = (keyHash: Bytes): Bytes | undefined =>
      known.pubkey(keyHash) ?? this.inTrees.get(binaryString(keyHash))
    return { ...known, key, pubkey }
  }
}
