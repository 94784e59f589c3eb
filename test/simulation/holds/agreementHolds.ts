import * as Effect from "effect/Effect"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { shownTxid } from "../../../src/protocol/keys.ts"
import { nameField } from "../../../src/protocol/nameText.ts"
import { Wallets } from "../../../src/wallet/Wallets.ts"
import { mineAt } from "../actors/mining.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { serviceOf, settledTip } from "./chains.ts"

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

const sagaFault = (nodes: ReadonlyArray<WorldNode>): string | undefined => {
  for (const node of nodes) {
    for (const wallet of serviceOf(node, Wallets)?.loaded() ?? []) {
      // Its owner has to unlock it first, as the note of the registration says.
      if (wallet.vault.encryption() === "locked") continue
      for (const { name, note, step, value } of wallet.names.registrations()) {
        if (value === undefined || step === "done" || step === "failed") continue
        return `the registration of ${nameField(name)} on ${node.name} has not ended: ${step}, ${note}`
      }
    }
  }
  return undefined
}

/**
 * Mines at each node in turn: a transaction that a node lost with its mempool reaches the others with a block. Ends once
 * nothing waits for a block.
 */
const mined = (world: World): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let count = 0; count < MOST_BLOCKS; count++) {
      if (count >= world.whole.length && sagaFault(world.whole) === undefined) return
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
