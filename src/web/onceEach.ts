/** Computes once per object, and keeps the result as long as the object. */
export const onceEach = <A extends object, B>(compute: (of: A) => B): (of: A) => B => {
  const known = new WeakMap<A, B>()
  return (of) => {
    const before = known.get(of)
    if (before !== undefined) return before
    const made = compute(of)
    known.set(of, made)
    return made
  }
}
