import * as Effect from "effect/Effect"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { type Bytes, displayHash, equal, fromBinaryString } from "../../../src/protocol/bytes.ts"
import { type HeaderId, nameKey, txidKey } from "../../../src/protocol/keys.ts"
import { parseNameScript } from "../../../src/protocol/nameOperation.ts"
import { outpointKey, outpointText, prevoutTxid } from "../../../src/protocol/transaction.ts"
import type { WalletTx } from "../../../src/wallet/ledger/WalletLedger.ts"
import type { Wallet } from "../../../src/wallet/Wallet.ts"
import { toldIn } from "../actors/Told.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { comparedAt, firstFault, firstWalletFault, serviceOf, settledTip, tipIdOf } from "./chains.ts"
import { isExpiredAt, type ModelState, outpointOf, type ReplayModel } from "./ReplayModel.ts"

interface Rival {
  readonly txid: Bytes
  readonly height: number
}

const shown = ({ transaction: { txid } }: WalletTx): string => displayHash(txid).slice(0, 12)

/** Each confirmed coin of the wallet is a coin of the chain. */
const coinsFault = (wallet: Wallet, { coins }: ModelState): string | undefined => {
  for (const { expired, height, outpoint, output } of wallet.ledger.coins()) {
    if (height === undefined || expired) continue
    const coin = coins.get(outpoint)
    const what = `the coin ${outpointText(fromBinaryString(outpoint))} of height ${height}`
    if (coin === undefined) return `it has ${what}, which is spent or in no block`
    if (coin.height !== height || coin.value !== output.value) return `it has ${what}, which the chain has otherwise`
  }
  return undefined
}

/** Coins that transactions of the wallet spend, although the mempool has another one for them instead. */
const displacedBy = (all: ReadonlyArray<WalletTx>, pool: Mempool["Type"]): ReadonlySet<WalletTx> => {
  // The wallet tells of a payment to itself once it has judged what that displaces. A replacement spends all coins again.
  const rivals = new Set(
    all.filter(({ replaces, state }) => state.type === "pending" && replaces === undefined)
      .map(({ transaction }) => transaction.txidKey)
  )
  return new Set(
    all.filter(({ replaces, state, transaction }) =>
      state.type === "inactive" && transaction.inputs.some(({ prevout }) => {
        const rival = pool.spender(outpointKey(prevout))?.transaction
        // A replacement is in the wallet before the mempool gets it.
        return rival !== undefined && rivals.has(rival.txidKey) && displayHash(rival.txid) !== replaces
      })
    )
  )
}

/**
 * No unspent coin of the chain to a script of the wallet is missing, unless a transaction that waits spends it: one that
 * the mempool may still take.
 */
const missingFault = (wallet: Wallet, { coins }: ModelState, pool: Mempool["Type"]): string | undefined => {
  const known = new Set(wallet.ledger.coins().map(({ outpoint }) => outpoint))
  const all = wallet.ledger.transactions()
  const displaced = displacedBy(all, pool)
  for (const tx of all) {
    const { state, transaction } = tx
    if (state.type === "confirmed" || state.type === "conflicted" || isAbandoned(tx) || displaced.has(tx)) continue
    for (const { prevout } of transaction.inputs) known.add(outpointKey(prevout))
  }
  for (const [outpoint, { height, script }] of coins) {
    if (known.has(outpoint) || wallet.keys.own(script) === undefined) continue
    return `it lacks the coin ${outpointText(fromBinaryString(outpoint))} of height ${height}, which is its own`
  }
  return undefined
}

/** The transaction of the chain that spent one of its inputs. A name that expired lost its coin without a spender. */
const rivalOf = ({ transaction: { inputs } }: WalletTx, model: ReplayModel): Rival | undefined => {
  const { coins, height: tip, transactions } = model.state
  const gone = new Set(inputs.flatMap(({ prevout }) => {
    const key = outpointKey(prevout)
    return transactions.has(txidKey(prevoutTxid(prevout))) && !coins.has(key) ? [key] : []
  }))
  for (let height = gone.size === 0 ? 0 : tip; height > 0; height--) {
    const rival = model.at(height)?.transactions.find((each) =>
      each.inputs.some(({ prevout }) => gone.has(outpointKey(prevout)))
    )
    if (rival !== undefined) return { txid: rival.txid, height }
  }
  return undefined
}

/** Whether it spends the coin of a name, perhaps of another owner. */
const spendsName = ({ spent, transaction }: WalletTx, { operations }: ModelState): boolean => {
  if (spent.some((output) => output !== undefined && parseNameScript(output.script) !== undefined)) return true
  const inputs = new Set(transaction.inputs.map(({ prevout }) => outpointKey(prevout)))
  return operations.some((operation) => inputs.has(outpointOf(operation)))
}

const stateFault = (tx: WalletTx, model: ReplayModel): string | undefined => {
  const { state, transaction } = tx
  const height = model.state.transactions.get(transaction.txidKey)
  if (state.type === "confirmed") {
    const block = model.at(state.height)
    return height === state.height && block !== undefined && equal(block.hash, state.hash)
      ? undefined
      : `${shown(tx)} is confirmed at height ${state.height}, the chain has it ${
        height === undefined ? "nowhere" : `at ${height}`
      }`
  }
  if (height !== undefined) return `${shown(tx)} is ${state.type}, the chain has it at height ${height}`
  if (transaction.isCoinbase || spendsName(tx, model.state)) return undefined
  const rival = rivalOf(tx, model)
  if (rival !== undefined && state.type !== "conflicted") {
    return `${shown(tx)} is ${state.type}, but ${displayHash(rival.txid)} spends its coin at height ${rival.height}`
  }
  const known = transaction.inputs.every(({ prevout }) => model.state.coins.has(outpointKey(prevout)))
  return known && state.type === "conflicted" ? `${shown(tx)} is conflicted, its coins are unspent` : undefined
}

/** An update of a name keeps no other coins once the chain has ended the name's coin. */
const lateFault = (wallet: Wallet, { coins, height: tip, names }: ModelState): string | undefined => {
  for (const tx of wallet.ledger.transactions()) {
    const { spent, state, transaction } = tx
    if (state.type !== "inactive" || state.abandoned) continue
    for (const [i, { prevout }] of transaction.inputs.entries()) {
      const operation = spent[i] === undefined ? undefined : parseNameScript(spent[i].script)?.operation
      if (operation === undefined || operation.op === "name_new" || coins.has(outpointKey(prevout))) continue
      const said = names.get(nameKey(operation.name))
      if (said !== undefined && outpointOf(said) === outpointKey(prevout) && isExpiredAt(said.height, tip)) {
        return `${shown(tx)} keeps its coins, and updates a name that expired`
      }
    }
  }
  return undefined
}

/** A payment that depends on a block reward of no block keeps no other coins. */
const keptFault = (wallet: Wallet, { transactions }: ModelState): string | undefined => {
  const orphans = new Set(
    wallet.ledger.transactions().filter(({ transaction }) =>
      transaction.isCoinbase && !transactions.has(transaction.txidKey)
    )
      .map(({ transaction }) => transaction.txidKey)
  )
  if (orphans.size === 0) return undefined
  for (const tx of wallet.ledger.transactions()) {
    const { state, transaction } = tx
    if (state.type !== "inactive" || state.abandoned || transaction.isCoinbase) continue
    if (transaction.inputs.some(({ prevout }) => orphans.has(txidKey(prevoutTxid(prevout))))) {
      return `${shown(tx)} keeps its coins, and depends on a block reward of no block`
    }
  }
  return undefined
}

const isAbandoned = ({ state }: WalletTx): boolean => state.type === "inactive" && state.abandoned

/** Whether a transaction of the wallet waits: its balance is then not that of the chain. */
const waits = (wallet: Wallet): boolean =>
  wallet.ledger.transactions().some((tx) =>
    tx.state.type === "pending" || tx.state.type === "inactive" && !isAbandoned(tx)
  )

/** The wallet's balance is that of its coins in the chain, while no transaction waits. */
const balanceFault = (wallet: Wallet, { coins }: ModelState): string | undefined => {
  const { immature, trusted, untrustedPending } = Effect.runSync(wallet.ledger.balances)
  const told = immature + trusted + untrustedPending
  let own = 0
  for (const { script, value } of coins.values()) {
    if (wallet.keys.own(script) !== undefined && parseNameScript(script) === undefined) own += value
  }
  return told === own ? undefined : `its balance is ${told}, and its coins are worth ${own}`
}

/**
 * What the wallet gave up because a name expired or a reward was orphaned waits again once a reorganization has brought
 * the coin back: a block may have it now. What the owner abandoned stays so.
 */
const givenUpFault = (wallet: Wallet, model: ReplayModel, isOwners: (tx: WalletTx) => boolean): string | undefined => {
  const { coins, height: tip, names } = model.state
  const all = wallet.ledger.transactions()
  const taken = new Set(
    all.filter((tx) => !isAbandoned(tx)).flatMap(({ transaction }) =>
      transaction.inputs.map(({ prevout }) => outpointKey(prevout))
    )
  )
  for (const tx of all) {
    if (!isAbandoned(tx) || tx.transaction.isCoinbase || isOwners(tx)) continue
    const isPossible = tx.transaction.inputs.every(({ prevout }, i) => {
      const key = outpointKey(prevout)
      const operation = tx.spent[i] === undefined ? undefined : parseNameScript(tx.spent[i].script)?.operation
      const said = operation === undefined || operation.op === "name_new"
        ? undefined
        : names.get(nameKey(operation.name))
      return coins.has(key) && !taken.has(key) && (said === undefined || !isExpiredAt(said.height, tip + 1))
    })
    if (isPossible) return `${shown(tx)} is given up, though all of its coins are there`
  }
  return undefined
}

interface Looked {
  readonly life: number
  readonly tipId: HeaderId
  readonly list: unknown
}

class WalletLedgers {
  compared = 0
  /** Comparisons of a balance. */
  balances = 0
  private readonly world: World
  private readonly looked = new Map<string, Looked>()

  constructor(world: World) {
    this.world = world
  }

  check(node: WorldNode): string | undefined {
    const tipId = tipIdOf(node)
    return tipId === undefined ? undefined : firstWalletFault(node, (wallet) => this.wallet(node, wallet, tipId))
  }

  private wallet(node: WorldNode, wallet: Wallet, tipId: HeaderId): string | undefined {
    const key = `${node.name} ${wallet.name}`
    const before = this.looked.get(key)
    const list = wallet.ledger.transactions()
    if (before?.life === node.life && before.list === list && before.tipId === tipId) return undefined
    const tip = settledTip(node)
    if (tip === undefined || !equal(wallet.ledger.lastBlock().hash, tip.hash)) return undefined
    if (wallet.ledger.scanning() !== undefined) return undefined
    this.looked.set(key, { life: node.life, tipId, list })
    const fault = comparedAt(this.world, tip.hash, (model) => {
      this.compared++
      for (const tx of list) {
        const wrong = stateFault(tx, model)
        if (wrong !== undefined) return wrong
      }
      const wrong = coinsFault(wallet, model.state) ?? keptFault(wallet, model.state) ?? lateFault(wallet, model.state)
      // An older copy may learn of addresses after the blocks that pay them, even after later ones.
      const isRestored = toldIn(this.world).restored.has(node.name)
      const pool = serviceOf(node, Mempool)
      if (wrong !== undefined || isRestored || pool === undefined) return wrong
      const { abandoned } = toldIn(this.world)
      const isOwners = ({ transaction: { txid } }: WalletTx) => abandoned.has(displayHash(txid))
      const missing = missingFault(wallet, model.state, pool)
      if (missing !== undefined) return missing
      if (!waits(wallet)) {
        this.balances++
        const wrongBalance = balanceFault(wallet, model.state)
        if (wrongBalance !== undefined) return wrongBalance
      }
      return givenUpFault(wallet, model, isOwners)
    })
    return fault === undefined ? undefined : `at height ${tip.height}, ${fault}`
  }
}

export const walletsHold: Property = {
  name: "wallets see the chain as it is",
  check: (world) => {
    const ledgers = new WalletLedgers(world)
    return {
      during: () => firstFault(world.whole, (node) => ledgers.check(node)),
      compared: () => ledgers.compared,
      atEnd: () =>
        Effect.sync(() => {
          world.note("balances", { compared: ledgers.balances })
          return ledgers.balances === 0 ? "no balance was compared" : undefined
        })
    }
  }
}
