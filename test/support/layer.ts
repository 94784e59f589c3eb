import { effect, flakyTest, it, layer as vitestLayer, prop, scoped } from "@effect/vitest"

/** What `layer` of @effect/vitest replaces on the one `it` of the process. */
const PLAIN = { effect, scoped, flakyTest, prop, layer: vitestLayer }

const restored = <It>(declare: (it: It) => void) => (own: It): void => {
  declare(own)
  Object.assign(it, PLAIN)
}

/**
 * `layer` of @effect/vitest for a process that runs many test files. The library gives the services of a layer to its
 * tests by writing to the imported `it`, and leaves it so: each later `it.effect` of the process would run with the test
 * clock of that layer, at the time that others set, beside fibers that still sleep on it. Here `it` is as before once
 * the tests of the layer are declared.
 */
export const layer: typeof vitestLayer = (provided, options) => {
  const declared = vitestLayer(provided, options)
  type Declare = Parameters<typeof declared>[1]
  return (...args: [name: string, declare: Declare] | [declare: Declare]) =>
    args.length === 1 ? declared(restored(args[0])) : declared(args[0], restored(args[1]))
}
