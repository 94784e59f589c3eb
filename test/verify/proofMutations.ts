import { isFailure, type NameProof } from "../../src/verify/nameProof.ts"
import { type ProofOptions, type VerifiedName, verifyNameProof } from "../../src/verify/verifyNameProof.ts"

/** Changed proofs, and whether the verifier takes one for something that the chain does not have. */

/** A whole number below a bound. */
export type Below = (bound: number) => number

/** Numbers from a seed, the same in each run (xorshift32). */
export const numbersFrom = (seed: number): Below => {
  let state = seed >>> 0 || 1
  return (bound) => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state % bound
  }
}

const DIGITS = "0123456789abcdef"

/** Changes one digit, removes one byte, repeats one byte, or cuts the text. */
const changedHex = (hex: string, below: Below): string => {
  const at = 2 * below(Math.max(1, hex.length / 2))
  switch (below(8)) {
    case 0:
      return hex.slice(0, at) + hex.slice(at + 2)
    case 1:
      return hex.slice(0, at + 2) + hex.slice(at)
    case 2:
      return hex.slice(0, at)
    default:
      return hex.slice(0, at) + DIGITS.charAt(below(16)) + hex.slice(at + 1)
  }
}

const changedNumber = (value: number, below: Below): number =>
  [value + 1, value - 1, 0, value ^ (1 << below(20))][below(4)] ?? 0

/** A place in a JSON value: the members and items that lead there. */
export type Path = ReadonlyArray<string | number>

export const placesIn = (value: unknown, path: Path = []): ReadonlyArray<Path> =>
  typeof value === "object" && value !== null
    ? [path, ...Object.entries(value).flatMap(([key, each]) => placesIn(each, [...path, key]))]
    : [path]

const changedValue = (value: unknown, below: Below, other: unknown): unknown => {
  if (typeof value === "number") return changedNumber(value, below)
  if (typeof value === "string") return below(10) === 0 ? other : changedHex(value, below)
  if (Array.isArray(value)) {
    const items: ReadonlyArray<unknown> = value
    const at = below(Math.max(1, items.length))
    return [
      [...items.slice(0, at), ...items.slice(at + 1)],
      [...items.slice(0, at + 1), ...items.slice(at)],
      items.toReversed()
    ][below(3)]
  }
  return below(2) === 0 ? undefined : other
}

export const replaced = (value: unknown, path: Path, change: (value: unknown) => unknown): unknown => {
  const [first, ...rest] = path
  if (first === undefined) return change(value)
  if (Array.isArray(value)) {
    return value.map((each: unknown, i) => i === Number(first) ? replaced(each, rest, change) : each)
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, key === first ? replaced(each, rest, change) : each])
    )
    : value
}

export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (at, key) =>
      typeof at === "object" && at !== null ? Object.entries(at).find(([k]) => k === String(key))?.[1] : undefined,
    value
  )

/** One to three changes of a proof; parts of another proof may take the place of its own. */
export const mutated = (
  { other, proof }: { readonly proof: NameProof; readonly other: NameProof },
  below: Below
): unknown => {
  let changed: unknown = proof
  for (let left = 1 + below(3); left > 0; left--) {
    const places = placesIn(changed)
    const path = places[below(places.length)] ?? []
    changed = replaced(changed, path, (value) => changedValue(value, below, valueAt(other, path)))
  }
  return changed
}

/** Whether a result differs from what a proof really shows. */
export const isWrong = (found: VerifiedName, real: VerifiedName): boolean =>
  found.nameHex !== real.nameHex || found.valueHex !== real.valueHex || found.owner !== real.owner ||
  found.txid !== real.txid ||
  // The result reports such a height as claimed by the server.
  (found.height !== real.height && !found.problems.some(({ code }) => code === "height-claimed"))

/** A proof, and what it shows: a part without its newest operations shows an earlier one, as a server that hides them can. */
export interface RealProof {
  readonly proof: NameProof
  readonly shown: ReadonlyArray<VerifiedName>
}

/** `undefined` for a proof that does not count. */
export const realProof = (proof: NameProof, options: ProofOptions): RealProof | undefined => {
  const outcomes = proof.operations.map((_, i) =>
    verifyNameProof({ ...proof, operations: proof.operations.slice(i) }, options)
  )
  const shown = outcomes.flatMap((outcome) => isFailure(outcome) ? [] : [outcome])
  const [newest] = outcomes
  return newest === undefined || isFailure(newest) ? undefined : { proof, shown }
}

export interface MutationCount {
  readonly accepted: number
  readonly wrong: ReadonlyArray<string>
}

/**
 * Verifies changed proofs, and counts those that still count. A result is wrong if it is none of the real ones: a change can turn one
 * proof into the other.
 */
export const countMutations = (
  { options, real }: { readonly real: ReadonlyArray<RealProof>; readonly options: ProofOptions },
  { count, seed }: { readonly count: number; readonly seed: number }
): MutationCount => {
  const below = numbersFrom(seed)
  const shown = real.flatMap((each) => each.shown)
  const wrong: Array<string> = []
  let accepted = 0
  for (let i = 0; i < count; i++) {
    const [one, two] = [real[below(real.length)], real[below(real.length)]]
    if (one === undefined || two === undefined) break
    const changed = mutated({ proof: one.proof, other: two.proof }, below)
    const outcome = verifyNameProof(changed, options)
    if (isFailure(outcome)) continue
    accepted++
    if (shown.every((each) => isWrong(outcome, each))) wrong.push(JSON.stringify(changed))
  }
  return { accepted, wrong }
}
