import * as Either from "effect/Either"
import { type Bytes, toHex } from "../../protocol/bytes.ts"
import { descriptorChecksum } from "../../protocol/descriptor/descriptor.ts"
import type { MiniscriptContext } from "../../protocol/miniscript/expressions.ts"
import type { MiniscriptNode } from "../../protocol/miniscript/parse.ts"
import type { Network } from "../../protocol/networks.ts"
import { InvalidWalletRequest } from "../errors.ts"
import {
  isPrivate,
  isRanged,
  type KeyExpression,
  KeyFault,
  keyText,
  maskedKeys,
  publicForm,
  withoutPrivateKey
} from "./keyExpression.ts"

/** Output descriptors with their keys (BIP 380 to 389), without `musig`. Source: upstream `script/descriptor.cpp`. */
export type Descriptor =
  | {
    readonly name: "pk" | "pkh" | "wpkh" | "combo" | "rawtr"
    readonly key: KeyExpression
  }
  | {
    readonly name: "tr"
    readonly key: KeyExpression
    /** Depth first. */
    readonly leaves: ReadonlyArray<DescriptorLeaf>
  }
  | {
    readonly name: "multi" | "sortedmulti" | "multi_a" | "sortedmulti_a"
    readonly required: number
    readonly keys: ReadonlyArray<KeyExpression>
  }
  | MiniscriptDescriptor
  | { readonly name: "sh" | "wsh"; readonly inner: Descriptor }
  | { readonly name: "addr"; readonly address: string; readonly script: Bytes }
  | { readonly name: "raw"; readonly script: Bytes }

export interface DescriptorLeaf {
  readonly depth: number
  readonly inner: Descriptor
}

/** In `wsh` or a leaf of `tr`. `keyMark` stands for each key. */
export interface MiniscriptDescriptor {
  readonly name: "miniscript"
  readonly context: MiniscriptContext
  readonly tree: MiniscriptNode
  readonly text: string
  readonly keys: ReadonlyArray<KeyExpression>
}

/** Stands for a key in a miniscript; no expression has braces of its own. */
export const keyMark = (position: number): string => `{${position}}`

export const markedPosition = (mark: string): number => Number(mark.slice(1, -1))

/** In text order. */
export const keysOf = (descriptor: Descriptor): ReadonlyArray<KeyExpression> => {
  if ("leaves" in descriptor) return [descriptor.key, ...descriptor.leaves.flatMap(({ inner }) => keysOf(inner))]
  if ("key" in descriptor) return [descriptor.key]
  if ("keys" in descriptor) return descriptor.keys
  return "inner" in descriptor ? keysOf(descriptor.inner) : []
}

export const mapKeys = (descriptor: Descriptor, change: (key: KeyExpression) => KeyExpression): Descriptor => {
  if ("leaves" in descriptor) {
    const leaves = descriptor.leaves.map(({ depth, inner }) => ({ depth, inner: mapKeys(inner, change) }))
    return { ...descriptor, key: change(descriptor.key), leaves }
  }
  if ("key" in descriptor) return { ...descriptor, key: change(descriptor.key) }
  if ("keys" in descriptor) return { ...descriptor, keys: descriptor.keys.map(change) }
  return "inner" in descriptor ? { ...descriptor, inner: mapKeys(descriptor.inner, change) } : descriptor
}

/** Normalized, without private keys. Throws a `KeyFault` if hardened steps prevent it. */
export const publicDescriptor = (descriptor: Descriptor): Descriptor => mapKeys(descriptor, publicForm)

/** As written, with public keys for private ones. Its scripts may need the private keys. */
export const shownDescriptor = (descriptor: Descriptor): Descriptor => mapKeys(descriptor, withoutPrivateKey)

export const isRangedDescriptor = (descriptor: Descriptor): boolean => keysOf(descriptor).some(isRanged)

export const privatePositions = (descriptor: Descriptor): ReadonlyArray<number> =>
  keysOf(descriptor).filter(isPrivate).map(({ position }) => position)

/** A leaf, or both sides of a branch in braces. */
export const treeText = (leaves: ReadonlyArray<{ readonly depth: number; readonly text: string }>): string => {
  let text = ""
  /** For each open branch, whether its first side is complete. */
  const open: Array<boolean> = []
  for (const leaf of leaves) {
    if (open.length > 0 && open[open.length - 1] === true) text += ","
    while (open.length < leaf.depth) {
      text += "{"
      open.push(false)
    }
    text += leaf.text
    while (open[open.length - 1] === true) {
      text += "}"
      open.pop()
    }
    if (open.length > 0) open[open.length - 1] = true
  }
  return text
}

/** Without checksum. */
export const writtenDescriptor = (descriptor: Descriptor, write: (key: KeyExpression) => string): string => {
  const { name } = descriptor
  if ("tree" in descriptor) {
    const texts = new Map(descriptor.keys.map((key) => [keyMark(key.position), write(key)]))
    return descriptor.text.replaceAll(/\{\d+\}/g, (mark) => texts.get(mark) ?? mark)
  }
  if ("leaves" in descriptor) {
    const leaves = descriptor.leaves.map(({ depth, inner }) => ({ depth, text: writtenDescriptor(inner, write) }))
    return `tr(${write(descriptor.key)}${leaves.length === 0 ? "" : `,${treeText(leaves)}`})`
  }
  if ("key" in descriptor) return `${name}(${write(descriptor.key)})`
  if ("keys" in descriptor) return `${name}(${[descriptor.required, ...descriptor.keys.map(write)].join(",")})`
  if ("inner" in descriptor) return `${name}(${writtenDescriptor(descriptor.inner, write)})`
  return `${name}(${"address" in descriptor ? descriptor.address : toHex(descriptor.script)})`
}

export const withChecksum = (text: string): string => `${text}#${descriptorChecksum(text) ?? ""}`

/** With checksum, and private keys if it has any. */
export const descriptorText = (network: Network, descriptor: Descriptor): string =>
  withChecksum(writtenDescriptor(descriptor, (key) => keyText(network, key)))

export const faultless = <A>(run: () => A): Either.Either<A, InvalidWalletRequest> => {
  try {
    return Either.right(run())
  } catch (cause) {
    if (cause instanceof KeyFault) {
      return Either.left(new InvalidWalletRequest({ code: "descriptor", reason: maskedKeys(cause.message) }))
    }
    throw cause
  }
}
