import type { Address } from "../../src/base/addresses.ts"
import type { Random } from "../crash/random.ts"
import {
  type Call,
  coinCalls,
  headerCalls,
  nameCalls,
  scriptCalls,
  type ServedChain,
  transactionCalls
} from "./calls.ts"
import { type Difference, ServedPair } from "./ServedPair.ts"

/** Versions of the protocol, each with calls of its own. */
export const COMPARED: ReadonlyArray<string> = ["1.4", "1.4.1", "1.4.2", "1.4.3", "1.6"]

/** Clients that ask at a time. */
const AT_ONCE = 8

export interface Compared {
  /** Messages to both servers. */
  readonly asked: number
  readonly differences: ReadonlyArray<Difference>
}

export const together = (all: ReadonlyArray<Compared>): Compared => ({
  asked: all.reduce((sum, { asked }) => sum + asked, 0),
  differences: all.flatMap(({ differences }) => differences)
})

/** Everything about what a chain has. Calls of one list have their order. */
export const chainQuestions = (chain: ServedChain, random: Random): ReadonlyArray<ReadonlyArray<Call>> => [
  ...chain.names.map((hash) => nameCalls(hash, chain, random)),
  ...chain.scripts.map((hash) => [...scriptCalls(hash), ...coinCalls(hash)]),
  ...chain.transactions.map(transactionCalls)
]

/** Headers at random heights around the tip of a chain. */
export const headerQuestions = (
  chain: ServedChain,
  count: number,
  random: Random
): ReadonlyArray<ReadonlyArray<Call>> => Array.from({ length: count }, () => headerCalls(chain, random))

/** Asks two servers the same. */
export const comparison = async (
  servers: readonly [Address, Address],
  version: string,
  questions: Iterable<ReadonlyArray<Call>>
): Promise<Compared> => {
  const pairs = Array.from({ length: AT_ONCE }, () => new ServedPair(servers, version))
  const waiting = questions[Symbol.iterator]()
  await Promise.all(pairs.map(async (pair) => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) {
      for (const call of next.value) await pair.call(call)
    }
    await pair.close()
  }))
  return together(pairs)
}
