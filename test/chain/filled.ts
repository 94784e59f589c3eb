import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { blocksOf, type coinState, temporaryDirectory, verdictOf, type withChain } from "../support/chain.ts"
import { fillChain } from "../support/filledChain.ts"
import { fixtureJson, ownFixture } from "../support/fixtures.ts"

/** A directory with the whole chain. */
export const filled = Effect.tap(temporaryDirectory, (directory) => fillChain(directory))

export type CoinState = Effect.Effect.Success<ReturnType<typeof coinState>>

export interface Expected {
  readonly tipHash: string
  readonly tipHeight: number
  readonly checkpoints: ReadonlyArray<{ readonly height: number; readonly hash: string; readonly utxo: CoinState }>
}

export const FILE = ownFixture("regtest-names/blocks.dat")
export const expected = fixtureJson<Expected>("regtest-names/expected.json")
export const blocks = blocksOf("regtest-names/blocks.dat")

/** The state of a fixture, as far as the fixture specifies it. */
export const sameState = (got: CoinState, wanted: CoinState, what: string): void => {
  for (
    const key of ["height", "bestblock", "txouts", "bogosize", "hash_serialized_3", "muhash", "transactions"] as const
  ) {
    assert.strictEqual(got[key], wanted[key], `${what}: ${key}`)
  }
  assert.deepStrictEqual(got.amount, wanted.amount, `${what}: amount`)
}

export const atTip = (got: CoinState, what: string): void => {
  const last = expected.checkpoints.at(-1)
  if (last !== undefined) sameState(got, last.utxo, what)
}

export const submitAll = (chain: Parameters<Parameters<typeof withChain>[1]>[0], from: number, to: number) =>
  Effect.forEach(blocks.slice(from, to), (block) => Effect.map(chain.sink.submit(block), verdictOf)).pipe(
    Effect.map((verdicts) => verdicts.filter((verdict) => verdict !== null))
  )
