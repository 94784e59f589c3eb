import * as Effect from "effect/Effect"
import { Chain } from "../../../src/chain/Chain.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { type Bytes, displayHash, equal } from "../../../src/protocol/bytes.ts"
import { type HeaderId, nameKey, type OutpointKey, type TxidKey, txidKey } from "../../../src/protocol/keys.ts"
import { parseNameScript } from "../../../src/protocol/nameOperation.ts"
import { nameField } from "../../../src/protocol/nameText.ts"
import { outpointKey, prevoutTxid, type Transaction } from "../../../src/protocol/transaction.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { comparedAt, firstFault, seen, serviceOf, settledTip, tipIdOf } from "./chains.ts"
import { isExpiredAt, type ModelState, type ReplayModel } from "./ReplayModel.ts"

const COINBASE_DEPTH = 100

const shown = ({ txid }: Transaction): string => displayHash(txid).slice(0, 12)

/** The name operation that a transaction makes, if it sets a name. */
const settingOf = ({ outputs }: Transaction) => {
  for (const { script } of outputs) {
    const operation = parseNameScript(script)?.operation
    if (operation !== undefined && operation.op !== "name_new") return operation
  }
  return undefined
}

/** What a transaction may build on besides the chain. */
interface Around {
  readonly has: (txid: TxidKey) => boolean
  /** Whether a transaction of the pool registers the name. */
  readonly registers: (name: Bytes) => boolean
}

/** Why no block on top of the model's block, nor any later one, can hold a transaction. */
const poolFault = (transaction: Transaction, model: ModelState, around: Around): string | undefined => {
  for (const { prevout } of transaction.inputs) {
    const coin = model.coins.get(outpointKey(prevout))
    if (coin === undefined && !around.has(txidKey(prevoutTxid(prevout)))) return "it spends a missing coin"
    if (coin?.coinbase === true && model.height + 1 - coin.height < COINBASE_DEPTH) {
      return "it spends a young block reward"
    }
  }
  const setting = settingOf(transaction)
  if (setting === undefined) return undefined
  const current = model.names.get(nameKey(setting.name))
  const lives = current !== undefined && !isExpiredAt(current.height, model.height + 1)
  const name = nameField(setting.name)
  if (setting.op === "name_firstupdate") return lives ? `it registers ${name}, which has an owner` : undefined
  return lives || around.registers(setting.name) ? undefined : `it updates ${name}, which has expired`
}

const aroundOf = (all: ReadonlyArray<Transaction>): Around => {
  const txids = new Set(all.map((each) => each.txidKey))
  const registered = new Set(all.flatMap((each) => {
    const setting = settingOf(each)
    return setting?.op === "name_firstupdate" ? [nameKey(setting.name)] : []
  }))
  return { has: (txid) => txids.has(txid), registers: (name) => registered.has(nameKey(name)) }
}

const contentFault = (all: ReadonlyArray<Transaction>, model: ModelState): string | undefined => {
  const around = aroundOf(all)
  const spent = new Set<OutpointKey>()
  for (const transaction of all) {
    const fault = poolFault(transaction, model, around)
    if (fault !== undefined) return `the mempool has ${shown(transaction)} at height ${model.height}: ${fault}`
    for (const { prevout } of transaction.inputs) {
      if (spent.has(outpointKey(prevout))) return `the mempool has ${shown(transaction)}, which double-spends`
      spent.add(outpointKey(prevout))
    }
  }
  return undefined
}

interface Before {
  readonly life: number
  readonly tipId: HeaderId
  readonly tip: Bytes
  readonly changes: number
}

/** Transactions of the blocks from one block down to the chain of the model. The branch is in the order of the chain. */
const takenBack = (model: ReplayModel, from: Bytes, to: Bytes): ReadonlyArray<Transaction> => {
  model.moveTo(from)
  const left: Array<{ readonly hash: Bytes; readonly transactions: ReadonlyArray<Transaction> }> = []
  for (let { height } = model.state; height > 0; height--) {
    const block = model.at(height)
    if (block !== undefined) left.unshift(block)
  }
  const { transactions } = model.moveTo(to)
  return left.flatMap((block) => block.transactions).filter((each) =>
    !each.isCoinbase && !transactions.has(each.txidKey)
  )
}

/** What a reorganization took out of the chain and is still valid must be in the mempool. */
const missingFault = (back: ReadonlyArray<Transaction>, all: ReadonlyArray<Transaction>, model: ModelState) => {
  const spent = new Set(all.flatMap((each) => each.inputs.map(({ prevout }) => outpointKey(prevout))))
  const around = aroundOf(all)
  for (const transaction of back) {
    if (around.has(transaction.txidKey) || transaction.lockTime > model.height) continue
    if (transaction.inputs.some(({ prevout }) => spent.has(outpointKey(prevout)))) continue
    const setting = settingOf(transaction)
    if (setting?.op === "name_firstupdate" && around.registers(setting.name)) continue
    if (poolFault(transaction, model, around) !== undefined) continue
    return `the reorganization to height ${model.height} lost ${shown(transaction)}, which is still valid`
  }
  return undefined
}

class Pools {
  compared = 0
  private readonly world: World
  private readonly before = new Map<string, Before>()

  constructor(world: World) {
    this.world = world
  }

  check(node: WorldNode): string | undefined {
    const pool = serviceOf(node, Mempool)
    const tipId = tipIdOf(node)
    if (pool === undefined || tipId === undefined) return undefined
    const { changes, loaded } = pool.info()
    const before = this.before.get(node.name)
    const isSame = before?.life === node.life
    if (!loaded || isSame && before.changes === changes && before.tipId === tipId) return undefined
    const tip = settledTip(node)
    if (tip === undefined) return undefined
    this.before.set(node.name, { life: node.life, tipId, tip: tip.hash, changes })
    const all = [...pool.entries()].map(({ transaction }) => transaction)
    return comparedAt(this.world, tip.hash, (model) => {
      this.compared++
      const content = contentFault(all, model.state)
      if (content !== undefined || !isSame || equal(before.tip, tip.hash) || isGivenUp(node, before.tip)) return content
      return missingFault(takenBack(model, before.tip, tip.hash), all, model.state)
    })
  }
}

/** Whether the operator invalidated a block: only ten blocks of its branch come back. */
const isGivenUp = (node: WorldNode, hash: Bytes): boolean =>
  seen(node, Effect.map(Chain, ({ tree }) => tree.isFailed(tree.find(hash)))) !== false

export const poolHolds: Property = {
  name: "mempools are valid and lose nothing",
  check: (world) => {
    const pools = new Pools(world)
    return { during: () => firstFault(world.whole, (node) => pools.check(node)), compared: () => pools.compared }
  }
}
