/** Work on large data that pauses regularly, so that the caller can do something else between steps. */
export type Steps<A> = Generator<void, A, void>

export const runSteps = <A>(steps: Steps<A>): A => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

export function* mapSteps<A, B>(items: Iterable<A>, make: (item: A, at: number) => B): Steps<Array<B>> {
  const made: Array<B> = []
  for (const item of items) {
    made.push(make(item, made.length))
    yield
  }
  return made
}
