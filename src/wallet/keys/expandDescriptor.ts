import { type Descriptor, keysOf } from "./descriptors.ts"
import { type DescribedScript, describedScripts } from "./descriptorScripts.ts"
import { derivePath, fingerprintOf, HARDENED, hardenedChildren, publicKeyOfExtended } from "./hd.ts"
import { type DerivedKey, type KeyExpression, publicDeriver } from "./keyExpression.ts"

/** The scripts of any descriptor, also of one with hardened children, for callers that have no wallet. */

/** The public keys of an expression; each hardened child needs its private key. */
const deriver = (expression: KeyExpression): (index: number) => DerivedKey => {
  if (expression.kind === "single" || expression.wildcard !== "hardened") return publicDeriver(expression)
  const { key, origin, path, position } = expression
  const childAt = hardenedChildren(derivePath(key, path))
  const fingerprint = origin?.fingerprint ?? fingerprintOf(publicKeyOfExtended(key))
  const before = [...origin?.path ?? [], ...path]
  return (index) => ({
    publicKey: childAt(index),
    origin: { fingerprint, path: [...before, HARDENED + index] },
    position
  })
}

/** Returns what makes the scripts of a descriptor at an index: one, except for `combo`. */
export const expandDescriptor = (descriptor: Descriptor): (index: number) => ReadonlyArray<DescribedScript> => {
  const derivers = new Map(keysOf(descriptor).map((key) => [key.position, deriver(key)]))
  return (index) =>
    describedScripts(descriptor, (position) => {
      const key = derivers.get(position)?.(index)
      if (key === undefined) throw new TypeError("no key at this position")
      return key
    })
}
