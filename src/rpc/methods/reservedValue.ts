import { witnessCommitment } from "../../consensus/block.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { type Block, makeBlock } from "../../protocol/block.ts"
import { makeTransaction } from "../../protocol/transaction.ts"

/**
 * Adds 32 zero bytes as reserved value if the coinbase commits to witnesses but has none, like the reference
 * node's `submitblock`. Source: upstream `validation.cpp`, `ChainstateManager::UpdateUncommittedBlockStructures`.
 */
export const withReservedValue = (block: Block, height: number, params: ConsensusParams): Block => {
  const [coinbase, ...others] = block.transactions
  if (coinbase === undefined || coinbase.hasWitness || height < params.activation.segwit) return block
  if (witnessCommitment(coinbase) === undefined) return block
  const [first, ...rest] = coinbase.inputs
  if (first === undefined) return block
  const { lockTime, outputs, version } = coinbase
  const inputs = [{ ...first, witness: [new Uint8Array(32)] }, ...rest]
  return makeBlock(block, [makeTransaction({ version, inputs, outputs, lockTime }), ...others])
}
