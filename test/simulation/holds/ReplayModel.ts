import type { Block } from "../../../src/protocol/block.ts"
import { binaryString, type Bytes, displayHash, equal } from "../../../src/protocol/bytes.ts"
import { type Height, type NameKey, nameKey, type OutpointKey, type TxidKey } from "../../../src/protocol/keys.ts"
import {
  NAME_TX_VERSION,
  nameCommitment,
  type NameOperation,
  type NameScript,
  type NameSetting,
  parseNameScript
} from "../../../src/protocol/nameOperation.ts"
import { nameField } from "../../../src/protocol/nameText.ts"
import { isUnspendable } from "../../../src/protocol/script.ts"
import { outpoint, outpointKey, outpointText, type Transaction } from "../../../src/protocol/transaction.ts"

/**
 * What names and coins must be after a block of a regtest chain, by a replay of its blocks from genesis. Reads neither
 * names.db nor chainstate.db and runs no code of `src/consensus`, so that a fault there does not hide itself: the few
 * rules below are written down again, from reference/protocol.md 4.5 to 4.7.
 */

const COIN = 100_000_000
const HALVING = 150
const COINBASE_DEPTH = 100
const LIFE = 30
const NEW_DEPTH = 12

export interface ModelCoin {
  readonly value: number
  readonly script: Bytes
  readonly height: Height
  readonly coinbase: boolean
}

/** One operation that set a name, as names.db keeps it. */
export interface ModelOperation {
  readonly name: Bytes
  readonly height: Height
  /** The number among the operations of its block. */
  readonly position: number
  readonly txid: Bytes
  readonly vout: number
  readonly amount: number
  readonly value: Bytes
  readonly address: Bytes
  /** `undefined` for a NAME_UPDATE. */
  readonly rand: Bytes | undefined
}

/** The chain from genesis to the model's block, and what it leads to. */
export interface ModelState {
  readonly height: Height
  readonly hash: Bytes
  /** All operations in chain order. */
  readonly operations: ReadonlyArray<ModelOperation>
  /** The last operation on each name, expired or not. */
  readonly names: ReadonlyMap<NameKey, ModelOperation>
  readonly coins: ReadonlyMap<OutpointKey, ModelCoin>
  /** The height of each transaction of the chain. */
  readonly transactions: ReadonlyMap<TxidKey, Height>
  readonly money: Money
}

/** Sums over the chain after genesis, in smallest units. What was issued and not destroyed is in coins. */
export interface Money {
  readonly issued: number
  /** Left by miners, in outputs that nobody can spend, or in names that expired. */
  readonly destroyed: number
}

/** A block in the best chain of a node breaks a rule. */
export class RuleBroken extends Error {
  override readonly name = "RuleBroken"
}

interface AppliedBlock {
  readonly block: Block
  readonly height: Height
  /** The state before the block, of what it changed. */
  readonly coins: Map<OutpointKey, ModelCoin | undefined>
  readonly names: Map<NameKey, ModelOperation | undefined>
  readonly operations: number
  readonly money: Money
}

const shown = (name: Bytes): string => nameField(name)

export const outpointOf = ({ txid, vout }: Pick<ModelOperation, "txid" | "vout">): OutpointKey =>
  outpointKey(outpoint(txid, vout))

/** Whether a block at `height` finds a name expired that was last set at `updated`. */
export const isExpiredAt = (updated: Height, height: Height): boolean => updated + LIFE <= height

export class ReplayModel {
  private readonly blockOf: (hash: Bytes) => Block
  private readonly genesis: Bytes
  private readonly steps: Array<AppliedBlock> = []
  /** The blocks of `steps`. */
  private readonly below = new Set<string>()
  private readonly coins = new Map<OutpointKey, ModelCoin>()
  private readonly names = new Map<NameKey, ModelOperation>()
  private readonly operations: Array<ModelOperation> = []
  private readonly transactions = new Map<TxidKey, Height>()
  private money: Money = { issued: 0, destroyed: 0 }

  /** `blockOf` returns a block that some node has; it may throw. */
  constructor(genesis: Bytes, blockOf: (hash: Bytes) => Block) {
    this.genesis = genesis
    this.blockOf = blockOf
  }

  /**
   * Moves to a block. The state is a view, valid until the next move. Throws `RuleBroken`, and what `blockOf` throws;
   * the model then stays at the last block that is in order.
   */
  moveTo(hash: Bytes): ModelState {
    const ahead: Array<Block> = []
    let at = hash
    while (!equal(at, this.genesis) && !this.below.has(binaryString(at))) {
      const block = this.blockOf(at)
      ahead.push(block)
      at = block.header.prevHash
    }
    while (!equal(this.hash, at)) this.undo()
    for (const block of ahead.reverse()) this.apply(block)
    return this.state
  }

  get state(): ModelState {
    const { coins, hash, money, names, operations, steps, transactions } = this
    return { height: steps.length, hash, operations, names, coins, transactions, money }
  }

  /** The block at a height of the chain; `undefined` for genesis and above the model's block. */
  at(height: Height): Block | undefined {
    return this.steps[height - 1]?.block
  }

  private get hash(): Bytes {
    return this.steps.at(-1)?.block.hash ?? this.genesis
  }

  private undo(): void {
    const step = this.steps.pop()
    if (step === undefined) throw new Error("the model is at genesis: the block asked for is on no chain from there")
    this.below.delete(binaryString(step.block.hash))
    for (const [key, coin] of step.coins) setOrDelete(this.coins, key, coin)
    for (const [key, operation] of step.names) setOrDelete(this.names, key, operation)
    for (const { txidKey } of step.block.transactions) this.transactions.delete(txidKey)
    this.operations.length = step.operations
    this.money = step.money
  }

  private apply(block: Block): void {
    const height = this.steps.length + 1
    this.below.add(binaryString(block.hash))
    const { money, operations: { length: operations } } = this
    this.steps.push({ block, height, coins: new Map(), names: new Map(), operations, money })
    for (const { txidKey } of block.transactions) this.transactions.set(txidKey, height)
    try {
      const [coinbase, ...others] = block.transactions
      if (coinbase === undefined) throw new RuleBroken("it has no coinbase")
      let fees = 0
      this.make(coinbase, height, true)
      for (const transaction of others) fees += this.spend(transaction, height)
      const reward = sum(coinbase.outputs)
      const subsidy = Math.floor(50 * COIN / 2 ** Math.floor(height / HALVING))
      const most = subsidy + fees
      if (reward > most) throw new RuleBroken(`its coinbase pays ${reward} and may pay ${most}`)
      this.money = { ...this.money, issued: this.money.issued + subsidy }
      this.destroy(most - reward)
      this.expire(height)
    } catch (cause) {
      this.undo()
      if (!(cause instanceof RuleBroken)) throw cause
      throw new RuleBroken(`block ${displayHash(block.hash)} at height ${height}: ${cause.message}`)
    }
  }

  /** Returns the fee. */
  private spend(transaction: Transaction, height: Height): number {
    const coins = transaction.inputs.map(({ prevout }) => {
      const key = outpointKey(prevout)
      const coin = this.coins.get(key)
      if (coin === undefined) throw new RuleBroken(`${outpointText(prevout)} is not a coin`)
      if (coin.coinbase && height - coin.height < COINBASE_DEPTH) {
        throw new RuleBroken(`${outpointText(prevout)} is a coinbase of height ${coin.height}`)
      }
      return { key, coin }
    })
    this.checkNames(transaction, height, coins.map(({ coin }) => coin))
    const fee = sum(coins.map(({ coin }) => coin)) - sum(transaction.outputs)
    if (fee < 0) throw new RuleBroken(`${displayHash(transaction.txid)} pays more than it has`)
    for (const { key } of coins) this.setCoin(key, undefined)
    this.make(transaction, height, false)
    return fee
  }

  private checkNames(transaction: Transaction, height: Height, coins: ReadonlyArray<ModelCoin>): void {
    const spent = coins.flatMap((coin) => operationOf(coin) ?? [])
    const made = transaction.outputs.flatMap((output) => operationOf(output) ?? [])
    const txid = displayHash(transaction.txid)
    if (transaction.version !== NAME_TX_VERSION) {
      if (spent.length + made.length > 0) throw new RuleBroken(`${txid} moves a name and is not a name transaction`)
      return
    }
    const [operation, another] = made
    if (operation === undefined || another !== undefined) throw new RuleBroken(`${txid} sets ${made.length} names`)
    if (operation.operation.op === "name_new") {
      if (spent.length > 0) throw new RuleBroken(`${txid} spends a name for a commitment`)
      return
    }
    const [before, second] = spent
    if (before === undefined || second !== undefined) throw new RuleBroken(`${txid} spends ${spent.length} names`)
    const input = coins.find((coin) => operationOf(coin) !== undefined)
    this.checkSetting(operation.operation, before.operation, { height, made: input?.height ?? height })
  }

  private checkSetting(
    setting: NameSetting,
    before: NameOperation,
    { height, made }: { readonly height: Height; readonly made: Height }
  ): void {
    const current = this.names.get(nameKey(setting.name))
    const lives = current !== undefined && !isExpiredAt(current.height, height)
    const name = shown(setting.name)
    if (setting.op === "name_update") {
      if (before.op === "name_new" || !equal(before.name, setting.name)) {
        throw new RuleBroken(`${name} is updated by another name's coin`)
      }
      if (!lives) throw new RuleBroken(`${name} is updated after its end`)
      return
    }
    if (before.op !== "name_new" || !equal(before.commitment, nameCommitment(setting.rand, setting.name))) {
      throw new RuleBroken(`${name} is registered without its commitment`)
    }
    if (made + NEW_DEPTH > height) {
      throw new RuleBroken(`${name} is registered ${height - made} blocks after its name_new`)
    }
    if (lives) throw new RuleBroken(`${name} is registered while it has an owner`)
  }

  private make(transaction: Transaction, height: Height, coinbase: boolean): void {
    for (const [vout, { script, value }] of transaction.outputs.entries()) {
      if (isUnspendable(script)) {
        this.destroy(value)
        continue
      }
      this.setCoin(outpointKey(outpoint(transaction.txid, vout)), { value, script, height, coinbase })
      const operation = transaction.version === NAME_TX_VERSION ? parseNameScript(script) : undefined
      if (operation !== undefined) this.set(operation, { transaction, vout, height, amount: value })
    }
  }

  private set(
    { address, operation }: NameScript,
    { amount, height, transaction: { txid }, vout }: {
      readonly transaction: Transaction
      readonly vout: number
      readonly height: Height
      readonly amount: number
    }
  ): void {
    if (operation.op === "name_new") return
    const { name, value } = operation
    const position = this.operations.length - (this.steps.at(-1)?.operations ?? 0)
    const rand = operation.op === "name_firstupdate" ? operation.rand : undefined
    const set = { name, height, position, txid, vout, amount, value, address, rand }
    this.operations.push(set)
    const key = nameKey(name)
    remember(this.steps.at(-1)?.names, key, this.names.get(key))
    this.names.set(key, set)
  }

  /** A name that the next block would find expired loses its coin, after all transactions of a block. */
  private expire(height: Height): void {
    for (const operation of this.names.values()) {
      if (operation.height !== height + 1 - LIFE) continue
      const key = outpointOf(operation)
      const coin = this.coins.get(key)
      if (coin === undefined) throw new RuleBroken(`the name ${shown(operation.name)} expires without its coin`)
      this.destroy(coin.value)
      this.setCoin(key, undefined)
    }
  }

  private destroy(amount: number): void {
    this.money = { ...this.money, destroyed: this.money.destroyed + amount }
  }

  private setCoin(key: OutpointKey, coin: ModelCoin | undefined): void {
    remember(this.steps.at(-1)?.coins, key, this.coins.get(key))
    setOrDelete(this.coins, key, coin)
  }
}

const operationOf = ({ script }: Pick<ModelCoin, "script">): NameScript | undefined => parseNameScript(script)

const sum = (outputs: ReadonlyArray<{ readonly value: number }>): number =>
  outputs.reduce((all, { value }) => all + value, 0)

const remember = <Key, Value>(into: Map<Key, Value> | undefined, key: Key, value: Value): void => {
  if (into !== undefined && !into.has(key)) into.set(key, value)
}

const setOrDelete = <Key, Value>(map: Map<Key, Value>, key: Key, value: Value | undefined): void => {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}
