import * as Effect from "effect/Effect"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { shownTxid, type TxidKey, txidKey, txidOf } from "../../../src/protocol/keys.ts"
import { nameField } from "../../../src/protocol/nameText.ts"
import { outpointKey } from "../../../src/protocol/transaction.ts"
import type { WalletLedger } from "../../../src/wallet/ledger/WalletLedger.ts"
import { Wallets } from "../../../src/wallet/Wallets.ts"
import { mineAt } from "../actors/mining.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { sendsOwn, serviceOf, settledTip } from "./chains.ts"

/** Minutes until all nodes agree. */
const PATIENCE = 10

/** Blocks in which each registration can end: its two transactions, twice if another owner was faster, and the depth. */
const MOST_BLOCKS = 45

const tipFault = (nodes: ReadonlyArray<WorldNode>): string | undefined => {
  const tips = nodes.map((node) => {
    const tip = settledTip(node)
    return tip === undefined ? undefined : `${tip.height} ${displayHash(tip.hash).slice(0, 12)}`
  })
  // Nodes that are all down, or all without a tip, do not agree.
  if (!tips.includes(undefined) && new Set(tips).size === 1) return undefined
  return `tips: ${nodes.map(({ name, state }, i) => `${name} ${tips[i] ?? `none (${state})`}`).join(", ")}`
}

const poolsFault = (nodes: ReadonlyArray<WorldNode>): string | undefined => {
  const pools = nodes.map((node) => {
    const pool = serviceOf(node, Mempool)
    return new Set([...pool?.entries() ?? []].map(({ transaction }) => transaction.txidKey))
  })
  const all = new Set(pools.flatMap((pool) => [...pool]))
  for (const [i, pool] of pools.entries()) {
    for (const txid of all) {
      if (!pool.has(txid)) return `the mempool of ${nodes[i]?.name} lacks ${shownTxid(txid).slice(0, 12)}`
    }
  }
  return undefined
}

/**
 * Payments that the wallet of their payer knows as impossible. The wallet that was paid sees none of the coins they
 * spent: for it they wait, with all that spends them, until its owner abandons them.
 */
const impossiblePayments = (nodes: ReadonlyArray<WorldNode>): ReadonlySet<TxidKey> => {
  const wallets = nodes.flatMap((node) => serviceOf(node, Wallets)?.loaded() ?? [])
  const known = wallets.flatMap(({ ledger }) => ledger.transactions())
  return new Set(
    known.filter(({ state }) => state.type === "conflicted").map(({ transaction }) => transaction.txidKey)
  )
}

/** Whether a transaction waits in a wallet for one of these. */
const waitsFor = (ledger: WalletLedger, txid: TxidKey, impossible: ReadonlySet<TxidKey>): boolean => {
  const waiting = new Set([txid])
  for (const each of waiting) {
    const found = ledger.transaction(each)
    if (found?.state.type !== "inactive") continue
    if (impossible.has(each)) return true
    for (const { prevout } of found.transaction.inputs) waiting.add(txidOf(outpointKey(prevout)))
  }
  return false
}

const sagaFault = (nodes: ReadonlyArray<WorldNode>): string | undefined => {
  const impossible = impossiblePayments(nodes)
  for (const node of nodes) {
    if (!sendsOwn(node)) continue
    for (const wallet of serviceOf(node, Wallets)?.loaded() ?? []) {
      // Its owner has to unlock it first, as the note of the registration says.
      if (wallet.vault.encryption() === "locked") continue
      for (const { name, newTxid, note, step, value } of wallet.names.registrations()) {
        if (value === undefined || step === "done" || step === "failed") continue
        if (waitsFor(wallet.ledger, txidKey(newTxid), impossible)) continue
        return `the registration of ${nameField(name)} on ${node.name} has not ended: ${step}, ${note}`
      }
    }
  }
  return undefined
}

/**
 * Mines at each node in turn: a transaction that a node lost with its mempool reaches the others with a block. Ends once
 * no registration waits for a block and each node has mined since: a node may keep what spends a NAME_FIRSTUPDATE, and
 * another node, without it, mine that.
 */
const mined = (world: World): Effect.Effect<void> =>
  Effect.gen(function*() {
    let left = world.whole.length
    for (let count = 0; count < MOST_BLOCKS + world.whole.length; count++) {
      if (sagaFault(world.whole) !== undefined) left = world.whole.length
      if (left-- === 0) return
      const { name } = world.whole[count % world.whole.length] ?? { name: "" }
      yield* Effect.ignore(mineAt(world, name, { way: "generate", delay: 0 }))
      yield* Effect.sleep("1 minute")
    }
  })

const agreement = (world: World): Effect.Effect<string | undefined> =>
  Effect.gen(function*() {
    const patient = (fault: () => string | undefined) =>
      Effect.gen(function*() {
        for (let minute = 0; minute < PATIENCE && fault() !== undefined; minute++) yield* Effect.sleep("1 minute")
        return fault()
      })
    const apart = yield* patient(() => tipFault(world.whole))
    if (apart !== undefined) return apart
    yield* mined(world)
    return yield* patient(() => tipFault(world.whole) ?? poolsFault(world.whole) ?? sagaFault(world.whole))
  })

export const agreementHolds: Property = {
  name: "healed nodes agree",
  check: (world) => ({ atEnd: () => agreement(world) })
}
