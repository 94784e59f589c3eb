import { below, exponential, type Random } from "../../../src/base/random.ts"
import type { Arguments } from "../plan.ts"

/** How actors draw their steps, and read what steps say. */

/** Random times: exponential gaps of `mean` milliseconds on average, from `first` on. */
export const times = (
  random: Random,
  { first = 0, mean, until }: { readonly first?: number; readonly mean: number; readonly until: number }
): ReadonlyArray<number> => {
  const all: Array<number> = []
  for (let at = first + exponential(random, mean); at < until; at += exponential(random, mean)) all.push(Math.round(at))
  return all
}

/** Throws for an empty list. */
export const oneOf = <A>(random: Random, list: ReadonlyArray<A>): A => {
  const found = list[below(random, list.length)]
  if (found === undefined) throw new RangeError("nothing to choose from")
  return found
}

/** Each with its weight; 0 for never. */
export const weighted = <A extends string>(random: Random, weights: Readonly<Record<A, number>>): A => {
  const entries = Object.entries<number>(weights)
  let left = random() * entries.reduce((sum, [, weight]) => sum + weight, 0)
  const found = entries.find(([, weight]) => (left -= weight) < 0) ?? entries.at(-1)
  for (const name in weights) if (name === found?.[0]) return name
  throw new RangeError("nothing to choose from")
}

export const chance = (random: Random, probability: number): boolean => random() < probability

/** A whole number from `least` up to and including `most`. */
export const between = (random: Random, [least, most]: readonly [number, number]): number =>
  least + below(random, most - least + 1)

const wrong = (given: Arguments, key: string): TypeError =>
  new TypeError(`a step lacks its argument ${key}: ${JSON.stringify(given)}`)

export const textAt = (given: Arguments, key: string): string => {
  const value = given[key]
  if (typeof value !== "string") throw wrong(given, key)
  return value
}

export const booleanAt = (given: Arguments, key: string): boolean => {
  const value = given[key]
  if (typeof value !== "boolean") throw wrong(given, key)
  return value
}

export const numberAt = (given: Arguments, key: string): number => {
  const value = given[key]
  if (typeof value !== "number") throw wrong(given, key)
  return value
}

export const textsAt = (given: Arguments, key: string): ReadonlyArray<string> => {
  const value = given[key]
  if (!Array.isArray(value)) throw wrong(given, key)
  return value.map((each: unknown) => {
    if (typeof each !== "string") throw wrong(given, key)
    return each
  })
}
