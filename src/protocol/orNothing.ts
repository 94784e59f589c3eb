/** `undefined` in place of any error, for what throws at texts and keys from outside. */
export const orNothing = <A>(make: () => A): A | undefined => {
  try {
    return make()
  } catch {
    return undefined
  }
}
