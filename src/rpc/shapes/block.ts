import * as Schema from "effect/Schema"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { decodeCompact, difficultyOf } from "../../consensus/difficulty.ts"
import type { Coin } from "../../consensus/view.ts"
import type { Auxpow } from "../../protocol/auxpow.ts"
import type { Block } from "../../protocol/block.ts"
import { displayHash, toHex } from "../../protocol/bytes.ts"
import type { Header } from "../../protocol/header.ts"
import { lazily, LazyArray } from "../json/encodeJson.ts"
import * as Result from "../method/results.ts"
import type { ShapeContext } from "./context.ts"
import {
  TRANSACTION,
  TRANSACTION_OF_BLOCK,
  TRANSACTION_OF_BLOCK_WITH_COINS,
  transactionJson,
  wholeTransactionJson
} from "./transaction.ts"

/** Headers, merged-mining proofs and blocks (reference/rpc.md 3.2). Source: upstream `rpc/blockchain.cpp`. */

const BARE_HEADER = {
  hash: Result.hex("Hash of the block"),
  version: Result.integer("Version"),
  versionHex: Result.hex("The same in hexadecimal digits"),
  merkleroot: Result.hex("Merkle root"),
  time: Result.time("Time of the block"),
  nonce: Result.integer("Nonce"),
  bits: Result.hex("Target in compact form"),
  difficulty: Result.number("Difficulty"),
  previousblockhash: Schema.optional(Result.hex("Hash of the predecessor; not of the first block"))
}

export const AUXPOW = Schema.Struct({
  tx: Schema.Struct({
    hex: TRANSACTION_OF_BLOCK.fields.hex,
    ...TRANSACTION.fields,
    blockhash: Result.hex("Hash of the parent block")
  }).annotations({ description: "The parent block's coinbase" }),
  chainindex: Result.integer("The chain's position in the tree of merge-mined chains"),
  merklebranch: Schema.Array(Result.hex("A hash")).annotations({
    description: "From the coinbase to the parent's Merkle root"
  }),
  chainmerklebranch: Schema.Array(Result.hex("A hash")).annotations({
    description: "From this block's hash to the root in the coinbase"
  }),
  parentblock: Schema.Struct(BARE_HEADER).annotations({ description: "The parent block's header" })
})

const PLACED_HEADER = {
  ...BARE_HEADER,
  confirmations: Result.integer("1 for the tip; -1 off the best chain"),
  height: Result.integer("Height"),
  mediantime: Result.time("Median of the times of eleven blocks up to this one"),
  target: Result.hex("Target"),
  chainwork: Result.hex("Total work up to this block"),
  nTx: Result.integer("Number of transactions; 0 if only the header is known"),
  nextblockhash: Schema.optional(Result.hex("Hash of the successor on the best chain"))
}

const PROOF = Schema.optional(AUXPOW.annotations({ description: "The merged-mining proof of a merge-mined block" }))

export const HEADER = Schema.Struct({ ...PLACED_HEADER, auxpow: PROOF })

const COINBASE = Schema.Struct({
  version: Result.integer("Version"),
  locktime: Result.integer("Lock time"),
  sequence: Result.integer("Sequence number"),
  coinbase: Result.hex("Script of the coinbase"),
  witness: Schema.optional(Result.hex("The reserved value of the witness commitment"))
}).annotations({ description: "The coinbase" })

const blockOf = <T extends Result.AnyResult>(transaction: T) =>
  Schema.Struct({
    ...PLACED_HEADER,
    strippedsize: Result.integer("Bytes without witnesses"),
    size: Result.integer("Bytes"),
    weight: Result.integer("Weight units"),
    coinbase_tx: COINBASE,
    tx: Schema.Array(transaction).annotations({ description: "The transactions" }),
    auxpow: PROOF
  })

export const BLOCK_WITH_TXIDS = blockOf(Result.hex("A txid"))
export const BLOCK_WITH_TRANSACTIONS = blockOf(TRANSACTION_OF_BLOCK)
export const BLOCK_WITH_COINS = blockOf(TRANSACTION_OF_BLOCK_WITH_COINS)

/** `getblockchaininfo`; the client reads it too. */
export const CHAIN_INFO = Schema.Struct({
  chain: Result.string("main, test or regtest"),
  blocks: Result.integer("Height of the tip"),
  headers: Result.integer("Height of the best header"),
  bestblockhash: Result.hex("Hash of the block"),
  bits: Result.hex("The tip's target in compact form"),
  difficulty: Result.number("The tip's difficulty"),
  target: Result.hex("The tip's target"),
  time: Result.time("Time of the tip"),
  mediantime: Result.time("Median of the times of the last eleven blocks"),
  verificationprogress: Result.number("Checked part of all transactions of the chain, 0 to 1: an estimate"),
  initialblockdownload: Result.boolean("Whether the node is still catching up"),
  chainwork: Result.hex("Total work up to the tip"),
  size_on_disk: Result.integer("Bytes of block and undo files"),
  pruned: Result.boolean("Whether old blocks are deleted"),
  pruneheight: Schema.optional(Result.integer("The first block that is stored; 0 for all. Only if blocks are pruned")),
  automatic_pruning: Schema.optional(
    Result.boolean("Whether the node prunes automatically. Only if blocks are pruned")
  ),
  prune_target_size: Schema.optional(
    Result.integer("Bytes below which it keeps the files. Only if it prunes automatically")
  ),
  warnings: Schema.Array(Result.string("A warning"))
})

const hex32 = (value: number): string => (value >>> 0).toString(16).padStart(8, "0")

const hex256 = (value: bigint): string => value.toString(16).padStart(64, "0")

/** A header of our chain or of a parent chain. */
const bareHeaderJson = (header: Header): Result.MembersOf<typeof BARE_HEADER> => ({
  hash: displayHash(header.hash),
  version: header.version,
  versionHex: hex32(header.version),
  merkleroot: displayHash(header.merkleRoot),
  time: header.time,
  nonce: header.nonce,
  bits: hex32(header.bits),
  difficulty: difficultyOf(header.bits),
  previousblockhash: header.prevHash.every((byte) => byte === 0) ? undefined : displayHash(header.prevHash)
})

const placedHeaderJson = (info: HeaderInfo): Result.MembersOf<typeof PLACED_HEADER> => ({
  ...bareHeaderJson(info.header),
  confirmations: info.confirmations,
  height: info.height,
  mediantime: info.medianTimePast,
  target: hex256(decodeCompact(info.header.bits).target),
  chainwork: hex256(info.chainwork),
  nTx: info.transactions,
  nextblockhash: info.next === undefined ? undefined : displayHash(info.next)
})

/** The coinbase gets the parent block's hash, as if that were a block of our chain. Source: upstream `AuxpowToJSON`. */
const auxpowJson = (context: ShapeContext, auxpow: Auxpow): Result.ValueOf<typeof AUXPOW> => ({
  tx: {
    hex: toHex(auxpow.coinbase.bytes),
    ...transactionJson(context, auxpow.coinbase),
    blockhash: displayHash(auxpow.parent.hash)
  },
  chainindex: auxpow.chainIndex,
  merklebranch: auxpow.coinbaseBranch.map(displayHash),
  chainmerklebranch: auxpow.chainBranch.map(displayHash),
  parentblock: bareHeaderJson(auxpow.parent)
})

const proofJson = (context: ShapeContext, auxpow: Auxpow | undefined) =>
  auxpow === undefined ? undefined : auxpowJson(context, auxpow)

/** `getblockheader`. */
export const blockHeaderJson = (
  context: ShapeContext,
  info: HeaderInfo,
  auxpow: Auxpow | undefined
): Result.ValueOf<typeof HEADER> => ({
  ...placedHeaderJson(info),
  auxpow: proofJson(context, auxpow)
})

const coinbaseJson = ({ transactions: [coinbase] }: Block): Result.ValueOf<typeof COINBASE> => {
  const [input] = coinbase?.inputs ?? []
  if (coinbase === undefined || input === undefined) throw new Error("a block of the tree has no coinbase")
  const [reserved] = input.witness
  return {
    version: coinbase.version,
    locktime: coinbase.lockTime,
    sequence: input.sequence,
    coinbase: toHex(input.scriptSig),
    witness: reserved === undefined ? undefined : toHex(reserved)
  }
}

export type BlockVerbosity = 1 | 2 | 3

/** One array per transaction, without the coinbase. */
export type SpentCoins = ReadonlyArray<ReadonlyArray<Coin>>

interface ShownBlock {
  readonly block: Block
  readonly info: HeaderInfo
}

const blockWith = <T>(context: ShapeContext, { block, info }: ShownBlock, tx: T) => ({
  ...placedHeaderJson(info),
  strippedsize: block.strippedSize,
  size: block.size,
  weight: block.weight,
  coinbase_tx: coinbaseJson(block),
  tx,
  auxpow: proofJson(context, block.auxpow)
})

/** `getblock`. Without `spent`, when undo data are missing, it has neither fees nor prevouts. */
export const blockJson = (
  context: ShapeContext,
  shown: ShownBlock,
  { spent, verbosity }: { readonly verbosity: BlockVerbosity; readonly spent?: SpentCoins | undefined }
): Result.ValueOf<typeof BLOCK_WITH_TXIDS> | Result.ValueOf<typeof BLOCK_WITH_COINS> => {
  const { transactions } = shown.block
  if (verbosity === 1) return blockWith(context, shown, transactions.map(({ txid }) => displayHash(txid)))
  const prevouts = verbosity === 3
  const whole = lazily(
    transactions,
    (transaction, n) => wholeTransactionJson(context, transaction, { spent: spent?.[n - 1], prevouts })
  )
  return blockWith(context, shown, new LazyArray(whole))
}
