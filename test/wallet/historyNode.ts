import { Effect } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { COIN } from "../../src/protocol/amount.ts"
import type { Block } from "../../src/protocol/block.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { type OutpointKey, shownTxid, type TxidKey, txidOf } from "../../src/protocol/keys.ts"
import { NAME_TX_VERSION } from "../../src/protocol/nameOperation.ts"
import { nameField } from "../../src/protocol/nameText.ts"
import { outpointKey, type Transaction } from "../../src/protocol/transaction.ts"
import type { WalletTx } from "../../src/wallet/ledger/WalletLedger.ts"
import type { Wallet } from "../../src/wallet/Wallet.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { type LiveNode, withWallets } from "../support/liveWallets.ts"
import { madeOnce } from "../support/madeOnce.ts"

/** A node with several wallets whose history is random, and what the wallets have to say of it. */

/** The named wallets of the directory, beside the default one. */
export const NAMED = ["w1", "w2", "w3"] as const

/** Coins that each wallet has in the beginning. */
const COINS = 4

/** A directory with four wallets that have some coins each. */
export const fourWallets = Effect.tap(temporaryDirectory, (directory) =>
  madeOnce({
    name: "four-wallets",
    into: directory,
    make: (draft) =>
      withWallets(draft, ({ fund, minePool, wallet, wallets }) =>
        Effect.gen(function*() {
          yield* fund
          for (const name of NAMED) {
            yield* wallets.create({ name, privateKeys: true, blank: false, passphrase: undefined, loadOnStart: true })
          }
          const outputs: Array<{ readonly script: Uint8Array; readonly value: number }> = []
          for (const { keys } of wallets.loaded()) {
            for (let i = 0; i < COINS; i++) {
              const { script } = yield* keys.newAddress({ type: "legacy", label: "" })
              outputs.push({ script, value: 2 * COIN + i })
            }
          }
          yield* wallet.payments.pay({ outputs })
          yield* minePool
        }))
  }))

/** Removes the indexes of all wallets, so that the next start makes them from the blocks and the wallet files. */
export const removeIndexes = (directory: string): void => {
  for (const name of ["", ...NAMED]) {
    const file = join(directory, "chainstate", name === "" ? "wallet.db" : `wallet-${toHex(Buffer.from(name))}.db`)
    for (const end of ["", "-wal", "-shm", ".sums"]) rmSync(`${file}${end}`, { force: true })
  }
}

/** Waits until all wallets have done what the blocks so far call for. */
export const allSettled = ({ wallets }: LiveNode): Effect.Effect<void> =>
  Effect.forEach(wallets.loaded(), ({ settled }) => settled, { discard: true })

/** What the blocks above a height have. */
export interface Branch {
  readonly blocks: ReadonlyMap<TxidKey, number>
  /** The transaction that spends an outpoint. */
  readonly spent: ReadonlyMap<OutpointKey, TxidKey>
}

export const branchAbove = (node: LiveNode, base: number): Effect.Effect<Branch> =>
  Effect.gen(function*() {
    const blocks = new Map<TxidKey, number>()
    const spent = new Map<OutpointKey, TxidKey>()
    const { height: top } = yield* node.chain.tip
    for (let height = base + 1; height <= top; height++) {
      const header = yield* node.chain.headerAt(height)
      const block: Block = yield* node.chain.block(header?.hash ?? new Uint8Array(32))
      for (const { inputs, isCoinbase, txidKey } of block.transactions) {
        blocks.set(txidKey, height)
        if (isCoinbase) continue
        for (const { prevout } of inputs) spent.set(outpointKey(prevout), txidKey)
      }
    }
    return { blocks, spent }
  }).pipe(Effect.orDie)

/** Transactions that can follow the branch in one block, parents first, of those that `wanted` chooses. */
export const minable = (
  known: Iterable<Transaction>,
  { blocks, spent }: Branch,
  wanted: (transaction: Transaction) => boolean
): ReadonlyArray<Transaction> => {
  const [all, taken, used] = [new Map<TxidKey, Transaction>(), new Set<TxidKey>(), new Set<OutpointKey>()]
  for (const transaction of known) all.set(transaction.txidKey, transaction)
  const fits = ({ inputs, txidKey }: Transaction): boolean =>
    !blocks.has(txidKey) && !taken.has(txidKey) && inputs.every(({ prevout }) => {
      const key = outpointKey(prevout)
      const parent = txidOf(key)
      return !spent.has(key) && !used.has(key) && (!all.has(parent) || blocks.has(parent) || taken.has(parent))
    })
  for (let more = true; more;) {
    more = false
    for (const transaction of all.values()) {
      if (!fits(transaction) || !wanted(transaction)) continue
      taken.add(transaction.txidKey)
      for (const { prevout } of transaction.inputs) used.add(outpointKey(prevout))
      more = true
    }
  }
  return [...taken].flatMap((key) => all.get(key) ?? [])
}

/** Whether a transaction belongs to a name: a block has it only if the names allow it. */
export const isNamed = ({ version }: Transaction): boolean => version === NAME_TX_VERSION

/** The state that blocks and the mempool give a transaction of a wallet, which knows only ancestors of its own. */
const expectedState = (node: LiveNode, wallet: Wallet, { blocks, spent }: Branch) => {
  const forbidden = ({ inputs, txidKey }: Transaction): number => {
    if (blocks.has(txidKey)) return Infinity
    let lowest = Infinity
    for (const { prevout } of inputs) {
      const key = outpointKey(prevout)
      const by = spent.get(key)
      if (by !== undefined) lowest = Math.min(lowest, blocks.get(by) ?? Infinity)
      const parent = wallet.ledger.transaction(txidOf(key))
      if (parent !== undefined) lowest = Math.min(lowest, forbidden(parent.transaction))
    }
    return lowest
  }
  return (transaction: Transaction): string => {
    const height = blocks.get(transaction.txidKey)
    if (height !== undefined) return `confirmed ${height}`
    const lost = forbidden(transaction)
    if (lost !== Infinity) return `conflicted ${lost}`
    return node.pool.get(transaction.txidKey) === undefined ? "inactive" : "pending"
  }
}

const stateText = ({ state }: WalletTx): string => {
  if (state.type === "inactive") return state.abandoned ? "inactive, abandoned" : "inactive"
  return state.type === "pending" ? state.type : `${state.type} ${state.height}`
}

/** The transactions of wallets whose state is not that of the blocks above a height and of the mempool. */
export const wrongStates = (node: LiveNode, base: number): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(branchAbove(node, base), (branch) =>
    node.wallets.loaded().flatMap((wallet) => {
      const expected = expectedState(node, wallet, branch)
      return wallet.ledger.transactions().flatMap((tx) => {
        if (tx.state.type === "confirmed" && tx.state.height <= base) return []
        const right = expected(tx.transaction)
        const shown = stateText(tx)
        const txid = shownTxid(tx.transaction.txidKey)
        return shown.startsWith(right) ? [] : [`${wallet.name || "default"} ${txid}: ${shown} and not ${right}`]
      })
    }))

/** What a wallet shows, without the times and the order in which it learned of its transactions. */
export const shownBy = (wallet: Wallet) =>
  Effect.gen(function*() {
    const { ledger, names } = wallet
    const transactions = Object.fromEntries(
      ledger.transactions().map((tx) => [shownTxid(tx.transaction.txidKey), {
        state: stateText(tx),
        conflicts: [...ledger.conflictsOf(tx.transaction.txidKey)].sort(),
        notes: [tx.comment, tx.replaces, tx.replacedBy].map((note) => note ?? ""),
        spent: tx.spent.map((output) => output?.value ?? 0)
      }])
    )
    return {
      transactions,
      balances: yield* ledger.balances,
      coins: ledger.coins().map(({ height, outpoint, trusted }) =>
        `${toHex(Buffer.from(outpoint, "latin1"))} ${height} ${trusted}`
      ).sort(),
      names: names.list().map(({ height, mine, name, txid }) => [nameField(name), toHex(txid), height, mine].join(" ")),
      registrations: names.registrations().map(({ blocksLeft, firstUpdateTxid, name, newTxid, step }) =>
        [nameField(name), step, toHex(newTxid), toHex(firstUpdateTxid ?? new Uint8Array(0)), blocksLeft].join(" ")
      )
    }
  })

export type Shown = Effect.Effect.Success<ReturnType<typeof shownBy>>

export const shownByAll = ({ wallets }: LiveNode): Effect.Effect<ReadonlyMap<string, Shown>> =>
  Effect.map(
    Effect.forEach(wallets.loaded(), (wallet) => Effect.map(shownBy(wallet), (shown) => [wallet.name, shown] as const)),
    (all) => new Map(all)
  )

/**
 * What a start may change, as upstream: the wallet offers what the mempool does not have. Returns what was shown before with these
 * transactions as they are now; sums and coins follow from them, and are then those of now.
 */
export const asOffered = (before: Shown, now: Shown): Shown => {
  let offered = false
  const transactions = Object.fromEntries(
    Object.entries(before.transactions).map(([txid, was]) => {
      const isOffered = was.state === "inactive" && now.transactions[txid]?.state === "pending"
      offered ||= isOffered
      return [txid, isOffered ? { ...was, state: "pending" } : was]
    })
  )
  return offered ? { ...before, transactions, balances: now.balances, coins: now.coins } : before
}
