/** Work on data that may be large. It pauses regularly, and the caller may do something else between two steps. */
export type Steps<A> = Generator<void, A, void>

export const runSteps = <A>(steps: Steps<A>): A => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Applies a function to each item, one item per step. */
export function* mapSteps<A, B>(items: Iterable<A>, make: (item: A, at: number) => B): Steps<Array<B>> {
  const made: Array<B> = []
  for (const item of items) {
    made.push(make(item, made.length))
    yield
  }
  return made
}
