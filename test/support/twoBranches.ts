import { regtestParams } from "../../src/consensus/params.ts"
import { blockSubsidy } from "../../src/consensus/subsidy.ts"
import type { Block } from "../../src/protocol/block.ts"
import { MemoryChain, trustScripts } from "./MemoryChain.ts"
import { ANYONE, emptyChain, makeCoinbase, mine } from "./regtest.ts"

/** The first blocks of a chain as a chain of its own. */
export const firstOf = (chain: MemoryChain, height: number): MemoryChain => {
  const first = new MemoryChain(regtestParams, trustScripts)
  for (let at = 1; at <= height; at++) first.connect(chain.blockAt(at))
  return first
}

/** All blocks of a chain, genesis first. */
export const allBlocks = (chain: MemoryChain): ReadonlyArray<Block> =>
  Array.from({ length: chain.height + 1 }, (_, height) => chain.blockAt(height))

/** Two chains of empty blocks that are one up to `fork`; their heights are given. */
export const twoBranches = (
  { fork, long, short }: { readonly fork: number; readonly short: number; readonly long: number }
): { readonly short: MemoryChain; readonly long: MemoryChain } => {
  const one = emptyChain(short)
  const other = firstOf(one, fork)
  while (other.height < long) {
    const height = other.height + 1
    const outputs = [{ value: blockSubsidy(height, regtestParams), script: ANYONE }]
    mine(other, [], { coinbase: makeCoinbase(height, outputs, { extra: Uint8Array.of(1, 7) }) })
  }
  return { short: one, long: other }
}
