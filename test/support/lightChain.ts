import { join } from "node:path"
import { BlockIndex } from "../../src/chain/index/BlockIndex.ts"
import { type HeaderPoint, nextBits } from "../../src/consensus/difficulty.ts"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import { LightChain } from "../../src/light/LightChain.ts"
import { LightHeaders } from "../../src/light/LightHeaders.ts"
import { WindowFile } from "../../src/light/WindowFile.ts"
import { type Block, decodeBlock, makeBlock } from "../../src/protocol/block.ts"
import { makeHeader } from "../../src/protocol/header.ts"
import { merkleRoot } from "../../src/protocol/merkle.ts"
import type { Transaction, TransactionOutput } from "../../src/protocol/transaction.ts"
import { ANYONE, makeCoinbase } from "./regtest.ts"

/** A light chain in its file, without a node, and chains of blocks for it. */

export const GENESIS_BLOCK = decodeBlock(regtestParams.network.genesisBlock)

export interface OpenLightChain {
  readonly file: WindowFile
  readonly chain: LightChain
}

/** Opens the light chain of a directory. Its clock is after the times of all blocks. */
export const openLightChain = (
  directory: string,
  params: ConsensusParams = regtestParams,
  mostWaiting?: number
): OpenLightChain => {
  const file = new WindowFile(join(directory, "names-window.db"), 4096)
  const index = new BlockIndex()
  const stored = file.state()
  if (stored !== undefined) index.load(file.pages(), stored.headerCount)
  return { file, chain: new LightChain(file, new LightHeaders(index, params, () => 4_000_000_000), mostWaiting) }
}

/** Offers the blocks that a chain lacks, the newest first, and stores them. */
export const fill = ({ chain }: OpenLightChain, blocks: ReadonlyArray<Block>): void => {
  for (const block of blocks.slice(Math.max(1, chain.first)).toReversed()) {
    const id = chain.index.find(block.hash)
    if (id !== -1 && !chain.hasBlock(id)) chain.take(block)
  }
  chain.settle()
}

/**
 * A network in which a block that comes late has the least difficulty, as on testnet: blocks of the same chain have
 * different work, so that a branch with more work can have fewer blocks. Its first 1,000 blocks raise the difficulty.
 */
export const UNEVEN: ConsensusParams = {
  ...regtestParams,
  noRetargeting: false,
  retargetInterval: 1_000,
  targetTimespan: 600_000,
  minDifficultySince: 0
}

export interface LooseBlock {
  readonly transactions?: ReadonlyArray<Transaction>
  readonly outputs?: ReadonlyArray<TransactionOutput>
  /** Seconds after the block before it. */
  readonly after?: number
  /** Makes the blocks of branches different. */
  readonly branch?: number
}

/** A block after some blocks that follows the rules of difficulty. It has no proof of work. */
export const looseBlock = (
  blocks: ReadonlyArray<Block>,
  { after = 600, branch = 0, outputs = [{ value: 1, script: ANYONE }], transactions = [] }: LooseBlock,
  params = UNEVEN
): Block => {
  const pointAt = (height: number): HeaderPoint => {
    const { header } = blocks[height] ?? GENESIS_BLOCK
    return { height, time: header.time, bits: header.bits }
  }
  const prev = pointAt(blocks.length - 1)
  const time = prev.time + after
  const all = [makeCoinbase(blocks.length, outputs, { extra: Uint8Array.of(1, branch) }), ...transactions]
  const header = makeHeader({
    version: 0x00010004,
    prevHash: blocks.at(-1)?.hash ?? GENESIS_BLOCK.hash,
    merkleRoot: merkleRoot(all.map(({ txid }) => txid)).root,
    time,
    bits: nextBits(params, { prev, newTime: time, ancestor: pointAt }),
    nonce: 0
  })
  return makeBlock({ header, auxpow: undefined }, all)
}
