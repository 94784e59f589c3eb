import { LOCKTIME_THRESHOLD } from "../transaction.ts"

// The types of miniscript expressions: their effect on the stack, whether third parties can change the witness, and
// which
// kinds of locks they mix. Source: the miniscript specification; upstream `script/miniscript.cpp`, `ComputeType`.
// Letters:
// - `B`, `V`, `K`, `W`: base, verify, key, wrapped. A valid expression has one of them.
// - `z`, `o`, `n`: takes no stack element, exactly one, never needs a zero on top.
// - `d`, `u`: can be dissatisfied; leaves exactly 1 when satisfied.
// - `e`, `f`, `s`, `m`: its dissatisfaction is unique; needs a signature to dissatisfy, to satisfy; is not malleable.
// - `x`: its last opcode has no VERIFY form.
// - `g`, `h`, `i`, `j`: has a relative lock by time, by height, an absolute lock by time, by height.
// - `k`: no way to satisfy it mixes locks by time and by height.

export type MiniscriptType = number

const LETTERS = "BVKWzonduefsmxghijk"

export const type = (letters: string): MiniscriptType => {
  let bits = 0
  for (const letter of letters) bits |= 1 << LETTERS.indexOf(letter)
  return bits
}

export const has = (of: MiniscriptType, letters: MiniscriptType): boolean => (letters & ~of) === 0

const when = (condition: boolean, letters: MiniscriptType): MiniscriptType => condition ? letters : 0

const B = type("B")
const V = type("V")
const K = type("K")
const W = type("W")
const d = type("d")
const e = type("e")
const f = type("f")
const g = type("g")
const h = type("h")
const i = type("i")
const j = type("j")
const k = type("k")
const m = type("m")
const n = type("n")
const o = type("o")
const s = type("s")
const u = type("u")
const x = type("x")
const z = type("z")
const BASE = B | V | K | W
const LOCKS = g | h | i | j
const LOCKS_AND_K = LOCKS | k

export const isTyped = (of: MiniscriptType): boolean => (of & BASE) !== 0

/** Types that do not depend on subexpressions. */
export const leafTypes = {
  zero: type("Bzudemsxk"),
  one: type("Bzufmxk"),
  key: type("Konudemsxk"),
  keyHash: type("Knudemsxk"),
  hash: type("Bonudmk"),
  multi: type("Bnudemsk"),
  multiA: type("Budemsk")
} as const

/** Sequence numbers with this bit count time (BIP 68). */
const SEQUENCE_TIME_FLAG = 0x400000

export const olderType = (lock: number): MiniscriptType => type("Bzfmxk") | ((lock & SEQUENCE_TIME_FLAG) === 0 ? h : g)

export const afterType = (lock: number): MiniscriptType => type("Bzfmxk") | (lock < LOCKTIME_THRESHOLD ? j : i)

/** Whether satisfying both needs locks of one kind by time and by height, which no input can have. */
const mixesLocks = (a: MiniscriptType, b: MiniscriptType): boolean =>
  (has(a, g) && has(b, h)) || (has(a, h) && has(b, g)) || (has(a, i) && has(b, j)) || (has(a, j) && has(b, i))

const bothLocks = (a: MiniscriptType, b: MiniscriptType): MiniscriptType =>
  ((a | b) & LOCKS) | when(has(a & b, k) && !mixesLocks(a, b), k)

const eitherLocks = (a: MiniscriptType, b: MiniscriptType): MiniscriptType => ((a | b) & LOCKS) | (a & b & k)

const oneArgument = (a: MiniscriptType, b: MiniscriptType): MiniscriptType => when(has(a | b, z), (a | b) & o)

export type Wrapper = "a" | "s" | "c" | "d" | "v" | "j" | "n"

export const wrapperTypes: Readonly<Record<Wrapper, (of: MiniscriptType) => MiniscriptType>> = {
  a: (of) => when(has(of, B), W) | (of & (LOCKS_AND_K | u | d | f | e | m | s)) | x,
  s: (of) => when(has(of, B | o), W) | (of & (LOCKS_AND_K | u | d | f | e | m | s | x)),
  c: (of) => when(has(of, K), B) | (of & (LOCKS_AND_K | o | n | d | f | e | m)) | u | s,
  // In tapscript also `u` (`wrap`).
  d: (of) =>
    when(has(of, V | z), B) | when(has(of, z), o) | when(has(of, f), e) | (of & (LOCKS_AND_K | m | s)) | n | d | x,
  v: (of) => when(has(of, B), V) | (of & (LOCKS_AND_K | z | o | n | m | s)) | f | x,
  j: (of) => when(has(of, B | n), B) | when(has(of, f), e) | (of & (LOCKS_AND_K | o | u | m | s)) | n | d | x,
  n: (of) => (of & (LOCKS_AND_K | B | z | o | n | d | f | e | m | s)) | u | x
}

export type Binary = "and_v" | "and_b" | "or_b" | "or_c" | "or_d" | "or_i"

/** The shared part of `or_c` and `or_d`: `b` runs if `a` is dissatisfied. */
const orElse = (a: MiniscriptType, b: MiniscriptType): MiniscriptType =>
  when(has(b, z), a & o) | when(has(a, e) && has(a | b, s), a & b & m) | (a & b & (z | s)) | x | eitherLocks(a, b)

export const binaryTypes: Readonly<Record<Binary, (a: MiniscriptType, b: MiniscriptType) => MiniscriptType>> = {
  and_v: (a, b) =>
    when(has(a, V), b & (K | V | B)) | (a & n) | when(has(a, z), b & n) | oneArgument(a, b) | (a & b & (m | z)) |
    ((a | b) & s) | when(has(b, f) || has(a, s), f) | (b & (u | x)) | bothLocks(a, b),
  and_b: (a, b) =>
    when(has(b, W), a & B) | oneArgument(a, b) | (a & n) | when(has(a, z), b & n) | when(has(a & b, s), a & b & e) |
    (a & b & (d | z | m)) | when(has(a & b, f) || has(a, s | f) || has(b, s | f), f) | ((a | b) & s) | u | x |
    bothLocks(a, b),
  or_b: (a, b) =>
    when(has(a, B | d) && has(b, W | d), B) | oneArgument(a, b) | when(has(a | b, s) && has(a & b, e), a & b & m) |
    (a & b & (z | s | e)) | d | u | x | eitherLocks(a, b),
  or_c: (a, b) => when(has(a, B | d | u), b & V) | f | orElse(a, b),
  or_d: (a, b) => when(has(a, B | d | u), b & B) | (b & (u | f | d | e)) | orElse(a, b),
  or_i: (a, b) =>
    (a & b & (V | B | K | u | f | s)) | when(has(a & b, z), o) | when(has(a | b, f), (a | b) & e) |
    when(has(a | b, s), a & b & m) | ((a | b) & d) | x | eitherLocks(a, b)
}

/** `b` runs if `a` is satisfied, else `c`. */
export const andorType = (a: MiniscriptType, b: MiniscriptType, c: MiniscriptType): MiniscriptType =>
  when(has(a, B | d | u), b & c & (B | K | V)) | (a & b & c & z) | when(has(a | (b & c), z), (a | (b & c)) & o) |
  (b & c & u) | when(has(a, s) || has(b, f), c & (f | e)) | (c & d) |
  when(has(a, e) && has(a | b | c, s), a & b & c & m) | (c & (a | b) & s) | x | ((a | b | c) & LOCKS) |
  when(has(a & b & c, k) && !mixesLocks(a, b), k)

/** Needs `count` of the expressions. Valid only if the first is a `B`, the others are `W`, and all have `d` and `u`. */
export const threshType = (count: number, subs: ReadonlyArray<MiniscriptType>): MiniscriptType => {
  let taken = 0
  let safe = 0
  let all = e | m
  let locks = k
  for (const [at, sub] of subs.entries()) {
    if (!has(sub, (at === 0 ? B : W) | d | u)) return 0
    all &= sub
    if (has(sub, s)) safe++
    taken += has(sub, z) ? 0 : has(sub, o) ? 1 : 2
    locks = ((locks | sub) & LOCKS) | when(has(locks & sub, k) && (count <= 1 || !mixesLocks(locks, sub)), k)
  }
  const others = subs.length - count
  return B | d | u | when(taken === 0, z) | when(taken === 1, o) | when(has(all, e) && safe === subs.length, e) |
    when(has(all, e | m) && safe >= others, m) | when(safe > others, s) | locks
}
