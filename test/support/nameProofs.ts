import { type Block, encodeBlockHeader } from "../../src/protocol/block.ts"
import { displayHash, equal, toHex } from "../../src/protocol/bytes.ts"
import { merkleBranch } from "../../src/protocol/merkle.ts"
import { parseNameScript } from "../../src/protocol/nameOperation.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import { inputSpending } from "../../src/protocol/transaction.ts"
import { NAME_PROOF, type NameProof, type NameProofOperation, type ProofTip } from "../../src/verify/nameProof.ts"

/** Portable proofs made from whole blocks, without a node. */

/** Blocks from a height on, in order. */
export interface ProofChain {
  readonly network: NameProof["network"]
  readonly low: number
  readonly blocks: ReadonlyArray<Block>
}

/** The place of an operation that sets a name. */
export interface SettingAt {
  readonly height: number
  readonly pos: number
  readonly vout: number
  readonly transaction: Transaction
  readonly isFirst: boolean
}

/** All operations that set a name, the newest first. */
export const settingsOf = ({ blocks, low }: ProofChain, name: Uint8Array): ReadonlyArray<SettingAt> =>
  blocks.flatMap(({ transactions }, i) =>
    transactions.flatMap((transaction, pos) =>
      transaction.outputs.flatMap(({ script }, vout) => {
        const operation = parseNameScript(script)?.operation
        return operation === undefined || operation.op === "name_new" || !equal(operation.name, name)
          ? []
          : [{ height: low + i, pos, vout, transaction, isFirst: operation.op === "name_firstupdate" }]
      })
    )
  ).toReversed()

export const displayedBranch = ({ transactions }: Block, pos: number): ReadonlyArray<string> =>
  merkleBranch(transactions.map(({ txid }) => txid), pos).map(displayHash)

const blockAt = ({ blocks, low }: ProofChain, height: number): Block => {
  const block = blocks[height - low]
  if (block === undefined) throw new Error(`no block at height ${height}`)
  return block
}

const coinbaseOf = (block: Block): Pick<NameProofOperation, "coinbase"> => {
  const [coinbase] = block.transactions
  return coinbase === undefined
    ? {}
    : { coinbase: { tx: toHex(coinbase.strippedBytes()), branch: displayedBranch(block, 0) } }
}

/** A block as the tip of a proof. */
export const tipOf = (block: Block, height: number): ProofTip => ({
  height,
  hash: displayHash(block.header.hash),
  header: toHex(encodeBlockHeader(block)),
  ...coinbaseOf(block)
})

const operationOf = (chain: ProofChain, { height, pos, transaction, vout }: SettingAt, following: number) => {
  const block = blockAt(chain, height)
  const last = Math.min(height + following, chain.low + chain.blocks.length - 1)
  return {
    height,
    tx: toHex(transaction.bytes),
    vout,
    branch: displayedBranch(block, pos),
    pos,
    ...coinbaseOf(block),
    headers: Array.from(
      { length: last - height + 1 },
      (_, i) => toHex(encodeBlockHeader(blockAt(chain, height + i)))
    )
  } satisfies NameProofOperation
}

/** The operations of a name from its newest one back to its registration. */
const lifeOf = (settings: ReadonlyArray<SettingAt>): ReadonlyArray<SettingAt> => {
  const life: Array<SettingAt> = []
  for (const each of settings) {
    const next = life.at(-1)
    if (next !== undefined && inputSpending(next.transaction, each.transaction.txid, each.vout) < 0) break
    life.push(each)
    if (each.isFirst) break
  }
  return life
}

/** The proof of a name as of the last block. */
export const proofOf = (
  chain: ProofChain,
  name: Uint8Array,
  { following = 6, whole = false }: { readonly following?: number; readonly whole?: boolean } = {}
): NameProof => {
  const life = lifeOf(settingsOf(chain, name))
  const shown = whole ? life : life.slice(0, 1)
  const oldest = life.at(-1)
  const tip = chain.low + chain.blocks.length - 1
  return {
    svcd: NAME_PROOF,
    network: chain.network,
    name: toHex(name),
    operations: shown.map((each, i) => operationOf(chain, each, i === 0 ? following : 0)),
    asOf: tipOf(blockAt(chain, tip), tip),
    ...(oldest?.isFirst === true ? { since: oldest.height } : {})
  }
}
