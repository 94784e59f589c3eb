import { assert } from "@effect/vitest"
import { type ConsensusParams, regtestParams, withOverrides } from "../../src/consensus/params.ts"
import type { Activation } from "../../src/consensus/readerParams.ts"
import type { NameClaim } from "../../src/consensus/view.ts"
import type { Block } from "../../src/protocol/block.ts"
import { displayHash, fromBinaryString, toHex } from "../../src/protocol/bytes.ts"
import { prevoutIndex, prevoutTxid } from "../../src/protocol/transaction.ts"
import { fixtureBlocks, type NameRow } from "../support/chainFixture.ts"
import type { JudgeOptions, MemoryChain } from "../support/MemoryChain.ts"

/** The chain of test/fixtures/regtest-names in memory, and its names as rows of the reference node. */

const chainBlocks = fixtureBlocks("regtest-names/blocks.dat")

const withActivation = (activation: Partial<Activation>): ConsensusParams =>
  withOverrides(regtestParams, { activation })

export const WITHOUT_TAPROOT = withActivation({ taproot: Infinity })
const LATE = 100_000
export const BEFORE_SOFTFORKS = withActivation({ bip34: LATE, bip65: LATE, bip66: LATE, csv: LATE, taproot: Infinity })

export const blockAt = (height: number): Block => {
  const block = chainBlocks[height]
  if (block === undefined) throw new RangeError(`the fixture has no block ${height}`)
  return block
}

export const connectUpTo = (chain: MemoryChain, height: number, options: JudgeOptions = {}): void => {
  while (chain.height < height) chain.connect(blockAt(chain.height + 1), options)
}

/** The names of a state as `name_scan` rows, without values, by name. */
export const claimRows = (claims: ReadonlyMap<string, NameClaim>) =>
  [...claims].map(([name, { height, outpoint }]) => {
    const prevout = fromBinaryString(outpoint)
    const txid = displayHash(prevoutTxid(prevout))
    return { name: toHex(fromBinaryString(name)), txid, vout: prevoutIndex(prevout), height }
  }).sort((a, b) => a.name < b.name ? -1 : 1)

export const expectedRows = (rows: ReadonlyArray<NameRow>) =>
  rows.map(({ height, name, txid, vout }) => ({ name, txid, vout, height })).sort((a, b) => a.name < b.name ? -1 : 1)

export const state = (chain: MemoryChain) => ({ coins: new Map(chain.coins), claims: new Map(chain.claims) })

/** Compares states of one chain. After an undo the objects are identical, which makes the comparison fast. */
export const assertUnchanged = (chain: MemoryChain, before: ReturnType<typeof state>, message?: string): void => {
  const same = <A>(now: ReadonlyMap<string, A>, then: ReadonlyMap<string, A>): boolean =>
    now.size === then.size && [...then].every(([key, value]) => now.get(key) === value)
  if (same(chain.coins, before.coins) && same(chain.claims, before.claims)) return
  assert.deepStrictEqual(state(chain), before, message)
}
