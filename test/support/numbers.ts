/** Numbers that look random and are the same in every run: each call gives one from 0 up to, but without, `below`. */
export const numbers = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor(state / 2 ** 32 * below)
  }
}

export const shuffled = <A>(list: ReadonlyArray<A>, next: (below: number) => number): Array<A> => {
  const rest = [...list]
  return list.flatMap(() => rest.splice(next(rest.length), 1))
}
