import { type BlockConnection, connectBlock } from "../../src/consensus/connectBlock.ts"
import { blockFlags } from "../../src/consensus/flags.ts"
import type { BlockDelta } from "../../src/consensus/view.ts"
import type { Block } from "../../src/protocol/block.ts"
import type { Bytes } from "../../src/protocol/bytes.ts"
import { outpoint, outpointKey, type Transaction } from "../../src/protocol/transaction.ts"
import type { MemoryChain } from "./MemoryChain.ts"
import {
  ANYONE,
  buildBlock,
  currency,
  input,
  mine,
  nameNew,
  nameTransaction,
  type Outpoint,
  saltOf,
  text
} from "./regtest.ts"

/** Transactions over coins that anyone can spend, and blocks connected without the checks that come before. */

/** The key of an output. */
export const keyOf = ({ transaction, vout }: Outpoint): string => outpointKey(outpoint(transaction.txid, vout))

/** All outputs of a transaction. */
export const outputs = (transaction: Transaction): ReadonlyArray<Outpoint> =>
  transaction.outputs.map((_, vout) => ({ transaction, vout }))

/** Connects a block to a chain's tip without the checks that come before. */
export const connect = (chain: MemoryChain, block: Block, overrides: Partial<BlockConnection> = {}) => {
  const { medianTimePastAt, params } = chain
  const height = chain.height + 1
  return connectBlock({
    block,
    height,
    params,
    flags: blockFlags(height, params),
    view: chain,
    medianTimePast: medianTimePastAt(chain.height),
    medianTimePastAt,
    checkScripts: true,
    ...overrides
  })
}

/** The effect of a connected block. */
export const deltaOf = (result: ReturnType<typeof connectBlock>): BlockDelta => {
  if ("reject" in result) throw new Error(`refused: ${result.reject.reason}`)
  return result.delta
}

/** Why a block was refused; `undefined` where it was not. */
export const reasonOf = (result: ReturnType<typeof connectBlock>): string | undefined =>
  "reject" in result ? result.reject.reason : undefined

/** Spends an output to others of these values. */
export const pay = (from: Outpoint, ...values: ReadonlyArray<number>): Transaction =>
  currency([input(from)], values.map((value) => ({ value, script: ANYONE })))

/** The name in transactions whose test does not depend on one. */
export const NAME = text("d/example")

/** The first output of a transaction. */
export const first = (transaction: Transaction): Outpoint => ({ transaction, vout: 0 })

/** Registers a name, opening the commitment made with a salt. */
export const register = (salt: number, spent: Outpoint, name: Bytes = NAME): Transaction =>
  nameTransaction({ op: "name_firstupdate", name, rand: saltOf(salt), value: text("{}") }, [spent])

/** Updates a name to another value. */
export const update = (spent: Outpoint, value: string, name: Bytes = NAME): Transaction =>
  nameTransaction({ op: "name_update", name, value: text(value) }, [spent])

/** Commits to a name with a salt. */
export const commit = (salt: number, funds: Outpoint, name: Bytes = NAME): Transaction =>
  nameTransaction(nameNew(name, saltOf(salt)), [funds])

/** Mines empty blocks up to a height. */
export const mineEmpty = (chain: MemoryChain, upTo: number): void => {
  while (chain.height < upTo) mine(chain)
}

/** The state of a chain, to compare with later. */
export const copy = (chain: MemoryChain) => ({ coins: new Map(chain.coins), claims: new Map(chain.claims) })

/** Why a block of these transactions is refused; `undefined` where it is not. */
export const reasonFor = (chain: MemoryChain, ...transactions: ReadonlyArray<Transaction>): string | undefined =>
  reasonOf(connect(chain, buildBlock(chain, transactions)))
