import { heightScript } from "../../src/consensus/block.ts"
import { meetsTarget } from "../../src/consensus/difficulty.ts"
import { MIN_NAME_AMOUNT } from "../../src/consensus/names.ts"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import { blockSubsidy } from "../../src/consensus/subsidy.ts"
import { commitmentScript } from "../../src/mempool/mining/blockTemplate.ts"
import { type Auxpow, makeAuxpow } from "../../src/protocol/auxpow.ts"
import { type Block, makeBlock } from "../../src/protocol/block.ts"
import { type Bytes, concat, EMPTY, reversed } from "../../src/protocol/bytes.ts"
import { type Header, makeHeader } from "../../src/protocol/header.ts"
import { merkleRoot } from "../../src/protocol/merkle.ts"
import { NAME_TX_VERSION, nameCommitment, type NameOperation, nameScript } from "../../src/protocol/nameOperation.ts"
import { Op } from "../../src/protocol/script.ts"
import {
  makeTransaction,
  NO_WITNESS,
  outpoint,
  type Transaction,
  type TransactionInput,
  type TransactionOutput
} from "../../src/protocol/transaction.ts"
import { MemoryChain, trustScripts } from "./MemoryChain.ts"

/** Valid blocks and name transactions on a regtest chain in memory, whose coins anyone can spend. */

/** An address script that anyone can spend with an empty input. */
export const ANYONE = Uint8Array.of(Op.OP_1)

/** Version of an ordinary block. */
export const BLOCK_VERSION = 0x00010004

export const text = (value: string): Uint8Array => new TextEncoder().encode(value)

/** A salt of the usual length, from a number. */
export const saltOf = (seed: number): Uint8Array => new Uint8Array(20).fill(seed)

/** An output of a transaction. */
export interface Outpoint {
  readonly transaction: Transaction
  readonly vout: number
}

export const input = (
  { transaction, vout }: Outpoint,
  overrides: Partial<TransactionInput> = {}
): TransactionInput => ({
  prevout: outpoint(transaction.txid, vout),
  scriptSig: EMPTY,
  sequence: 0xffffffff,
  witness: NO_WITNESS,
  ...overrides
})

export const currency = (
  inputs: ReadonlyArray<TransactionInput>,
  outputs: ReadonlyArray<TransactionOutput>,
  overrides: { readonly version?: number; readonly lockTime?: number } = {}
): Transaction => makeTransaction({ version: 2, lockTime: 0, inputs, outputs, ...overrides })

/** An output that holds a name. */
export const nameOutput = (operation: NameOperation, value = MIN_NAME_AMOUNT): TransactionOutput => ({
  value,
  script: nameScript(operation, ANYONE)
})

/** A name transaction: its first output is the name, a second one gets the rest of the amount. */
export const nameTransaction = (
  operation: NameOperation,
  spent: ReadonlyArray<Outpoint>,
  overrides: { readonly amount?: number; readonly version?: number } = {}
): Transaction => {
  const { amount = MIN_NAME_AMOUNT, version = NAME_TX_VERSION } = overrides
  const total = spent.reduce((sum, { transaction, vout }) => sum + (transaction.outputs[vout]?.value ?? 0), 0)
  const change = total > amount ? [{ value: total - amount, script: ANYONE }] : []
  return currency(spent.map((coin) => input(coin)), [nameOutput(operation, amount), ...change], { version })
}

export const nameNew = (name: Bytes, rand: Bytes): NameOperation => ({
  op: "name_new",
  commitment: nameCommitment(rand, name)
})

const NULL_OUTPOINT = outpoint(new Uint8Array(32), 0xffffffff)

export const coinbaseInput = (scriptSig: Bytes, witness: ReadonlyArray<Bytes> = NO_WITNESS): TransactionInput => ({
  prevout: NULL_OUTPOINT,
  scriptSig,
  sequence: 0xffffffff,
  witness
})

/**
 * The coinbase of a height. `extra` makes coinbases of the same height different. It commits to the witnesses of `rest`,
 * the other transactions of its block, if they have any.
 */
export const makeCoinbase = (
  height: number,
  outputs: ReadonlyArray<TransactionOutput>,
  { extra = Uint8Array.of(Op.OP_0), rest = [], version = 1 }: {
    readonly extra?: Bytes
    readonly rest?: ReadonlyArray<Transaction>
    readonly version?: number
  } = {}
): Transaction => {
  const scriptSig = concat(heightScript(height), extra)
  const plain = makeTransaction({ version, inputs: [coinbaseInput(scriptSig)], outputs, lockTime: 0 })
  if (rest.every(({ inputs }) => inputs.every(({ witness }) => witness.length === 0))) return plain
  return makeTransaction({
    version,
    inputs: [coinbaseInput(scriptSig, [new Uint8Array(32)])],
    outputs: [...outputs, { value: 0, script: commitmentScript([plain, ...rest]) }],
    lockTime: 0
  })
}

interface HeaderParts {
  readonly version: number
  readonly prevHash: Bytes
  readonly merkleRoot: Bytes
  readonly time: number
  readonly bits: number
}

/** Tries nonces until the header's own hash meets its target. */
export const solve = (parts: HeaderParts, params: ConsensusParams = regtestParams): Header => {
  for (let nonce = 0; nonce < 1000; nonce++) {
    const header = makeHeader({ ...parts, nonce })
    if (meetsTarget(header.hash, header.bits, params.powLimit)) return header
  }
  throw new Error("no nonce meets the target")
}

/** A parent header that commits to a coinbase, with work for `bits`. */
export const solveParent = (coinbase: Transaction, bits: number, version = 1, root = coinbase.txid): Header => {
  const parts = { version: 1, prevHash: new Uint8Array(32), merkleRoot: root, time: 0, bits }
  for (let nonce = 0; nonce < 1000; nonce++) {
    const parent = makeHeader({ ...parts, version, nonce })
    if (meetsTarget(parent.hash, bits, regtestParams.powLimit)) return parent
  }
  throw new Error("no nonce meets the target")
}

/** The smallest merged-mining proof of a header. */
export const minimalAuxpow = ({ bits, hash }: Header): Auxpow => {
  const scriptSig = concat(reversed(hash), Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0))
  const coinbase = makeTransaction({ version: 1, inputs: [coinbaseInput(scriptSig)], outputs: [], lockTime: 0 })
  const parent = solveParent(coinbase, bits)
  return makeAuxpow({ coinbase, coinbaseBranch: [], chainBranch: [], chainIndex: 0, parent })
}

/** How a block differs from an ordinary one. */
export interface BlockOverrides {
  readonly coinbase?: Transaction
  readonly version?: number
  readonly time?: number
  readonly bits?: number
}

/** The end of a chain, to build on. */
export interface ChainEnd extends Pick<MemoryChain, "height" | "params"> {
  readonly tip: Pick<MemoryChain["tip"], "hash" | "header">
}

/** A block with work on top of a chain, its coinbase paying the subsidy to anyone. Valid if its transactions are. */
export const buildBlock = (
  chain: ChainEnd,
  transactions: ReadonlyArray<Transaction> = [],
  overrides: BlockOverrides = {}
): Block => {
  const height = chain.height + 1
  const { tip } = chain
  const reward = { value: blockSubsidy(height, chain.params), script: ANYONE }
  const all = [overrides.coinbase ?? makeCoinbase(height, [reward]), ...transactions]
  const header = solve({
    version: overrides.version ?? BLOCK_VERSION,
    prevHash: tip.hash,
    merkleRoot: merkleRoot(all.map(({ txid }) => txid)).root,
    time: overrides.time ?? tip.header.time + 600,
    bits: overrides.bits ?? tip.header.bits
  }, chain.params)
  return makeBlock({ header, auxpow: undefined }, all)
}

/** A block of a coinbase alone on top of any block, valid or not. Without another coinbase it creates no coins. */
export const emptyChild = (parent: ChainEnd["tip"], height: number, overrides: BlockOverrides = {}): Block => {
  const coinbase = makeCoinbase(height, [{ value: 0, script: ANYONE }])
  return buildBlock({ height: height - 1, params: regtestParams, tip: parent }, [], { coinbase, ...overrides })
}

/** Adds a block to the chain and returns it. */
export const mine = (
  chain: MemoryChain,
  transactions: ReadonlyArray<Transaction> = [],
  overrides: BlockOverrides = {}
): Block => {
  const block = buildBlock(chain, transactions, overrides)
  chain.connect(block)
  return block
}

/** A chain of empty blocks up to a height. */
export const emptyChain = (height: number, params: ConsensusParams = regtestParams): MemoryChain => {
  const chain = new MemoryChain(params, trustScripts)
  while (chain.height < height) mine(chain)
  return chain
}

/** The first output of the coinbase of a height. */
export const rewardOf = (chain: MemoryChain, height: number): Outpoint => {
  const [transaction] = chain.blockAt(height).transactions
  if (transaction === undefined) throw new RangeError(`block ${height} has no coinbase`)
  return { transaction, vout: 0 }
}
