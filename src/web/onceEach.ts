/** Returns a function that computes the result for each object once, and keeps it as long as the object. */
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
