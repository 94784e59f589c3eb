import * as Effect from "effect/Effect"
import { Chain } from "../../../src/chain/Chain.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { NodeSettings } from "../../../src/node/layers/NodeSettings.ts"
import { type Bytes, displayHash } from "../../../src/protocol/bytes.ts"
import type { HeaderId, TxidKey } from "../../../src/protocol/keys.ts"
import { parseNameScript } from "../../../src/protocol/nameOperation.ts"
import { outpointKey, type Transaction } from "../../../src/protocol/transaction.ts"
import { MINUTE } from "../plan.ts"
import { NANOS_PER_MS } from "../virtual/Timeline.ts"
import type { Property, World, WorldNode } from "../World.ts"
import { comparedAt, serviceOf, settledTip, tipIdOf } from "./chains.ts"
import type { ModelState } from "./ReplayModel.ts"

/** Blocks of a reward that the next blocks of every branch may spend. */
const OLD = 120

/** Virtual milliseconds of a connection before peers announce anything, and in which all sides have the same blocks. */
const SETTLING = MINUTE

/** Tasks between two comparisons. */
const COMPARED_EVERY = 200

/** Virtual milliseconds until a peer that was asked is given up, and for all else. */
const ASKED = MINUTE
const REST = 1.5 * MINUTE

/** A node as it is at a look, if it takes transactions. */
interface Seen {
  readonly node: WorldNode
  readonly pool: typeof Mempool.Service
  readonly tip: { readonly hash: Bytes; readonly height: number }
}

/** What is remembered of a node. */
interface Memory {
  readonly life: number
  tipId: HeaderId
  /** The count of changes of its mempool. */
  sequence: number
  /** When it had loaded its mempool, or a block left its chain; what comes back with a block is not announced. */
  calmSince: number
  /** What it had in this life: peers that know so do not announce it again. */
  readonly had: Set<TxidKey>
  /** Its transactions at the last comparison. */
  sightings: Map<TxidKey, Sighting>
}

interface Sighting {
  /** When a comparison first saw it, in virtual milliseconds. */
  readonly at: number
  /** The nodes that had it, or need not have it. */
  readonly excused: Set<string>
}

/** Refused for no other reason than a missing coin, or another transaction that spends it. */
const isPlain = ({ outputs }: Transaction): boolean =>
  outputs.every(({ script }) => (parseNameScript(script)?.operation.op ?? "name_new") === "name_new")

/** Whether each coin is in the chain, and may be spent. */
const hasCoins = ({ inputs }: Transaction, { coins, height }: ModelState): boolean =>
  inputs.every(({ prevout }) => {
    const coin = coins.get(outpointKey(prevout))
    return coin !== undefined && (!coin.coinbase || height - coin.height >= OLD)
  })

const seenNow = (node: WorldNode): Seen | undefined => {
  const [pool, tip, settings] = [serviceOf(node, Mempool), settledTip(node), serviceOf(node, NodeSettings)]
  if (pool === undefined || tip === undefined || settings === undefined) return undefined
  return pool.info().loaded && !settings.settings.peers.blocksOnly ? { node, pool, tip } : undefined
}

/** Transactions reach all nodes that have had a connection without a fault to one that has them. */
class Announcements {
  compared = 0
  private readonly world: World
  private readonly memories = new Map<string, Memory>()
  /** Of each node's chain at the comparison before. */
  private readonly heights = new Map<string, number>()
  private tasks = 0

  constructor(world: World) {
    this.world = world
  }

  /** After each task: a block may return, and a transaction leave the mempool with it, before the next comparison. */
  check(): string | undefined {
    for (const node of this.world.whole) this.follow(node)
    this.tasks++
    return this.tasks % COMPARED_EVERY === 0 ? this.compare() : undefined
  }

  private compare(): string | undefined {
    const all = this.world.whole.flatMap((node) => seenNow(node) ?? [])
    for (const holder of all) {
      const fault = this.from(holder, all)
      if (fault !== undefined) return fault
    }
    for (const { node, tip } of all) this.heights.set(node.name, tip.height)
    return undefined
  }

  /** Notes a new life, blocks that left the chain, and what came into the mempool. */
  private follow(node: WorldNode): void {
    const [tree, pool, tipId] = [serviceOf(node, Chain)?.tree, serviceOf(node, Mempool), tipIdOf(node)]
    if (tree === undefined || pool === undefined || tipId === undefined) return
    const before = this.memories.get(node.name)
    const now = this.world.now()
    const known = before?.life === node.life
      ? before
      : { life: node.life, tipId, sequence: -1, calmSince: now, had: new Set<TxidKey>(), sightings: new Map() }
    if (known !== before) {
      this.memories.set(node.name, known)
      this.heights.delete(node.name)
    }
    if (known.tipId !== tipId) {
      if (!tree.isActive(known.tipId)) known.calmSince = now
      known.tipId = tipId
    }
    const { loaded, sequence } = pool.info()
    if (!loaded) known.calmSince = now
    if (known.sequence === sequence) return
    known.sequence = sequence
    for (const { transaction } of pool.entries()) known.had.add(transaction.txidKey)
  }

  /** Whether a node has had its chain for a while at a time. */
  private isCalm({ name }: WorldNode, at: number): boolean {
    const calmSince = this.memories.get(name)?.calmSince
    return calmSince !== undefined && calmSince + SETTLING <= at
  }

  private from(holder: Seen, all: ReadonlyArray<Seen>): string | undefined {
    const memory = this.memories.get(holder.node.name)
    if (memory === undefined) return undefined
    const sightings = new Map<TxidKey, Sighting>()
    const now = this.world.now()
    for (const { transaction } of holder.pool.entries()) {
      const sighting = memory.sightings.get(transaction.txidKey) ?? { at: now, excused: new Set<string>() }
      sightings.set(transaction.txidKey, sighting)
      if (sighting.at === now) this.excuseEarly(transaction, sighting)
      if (!isPlain(transaction) || !this.isCalm(holder.node, sighting.at)) continue
      for (const other of all) {
        const { name } = other.node
        if (other === holder || sighting.excused.has(name)) continue
        if (this.isExcused(transaction, sighting, other)) sighting.excused.add(name)
        else if (this.isLate(transaction, { at: sighting.at, holder, other })) {
          return `${name} lacks ${displayHash(transaction.txid).slice(0, 12)}, which ${holder.node.name} has had for ${
            Math.round((now - sighting.at) / 1_000)
          } s`
        }
      }
    }
    memory.sightings = sightings
    return undefined
  }

  /** Until its lock time a node refuses it, and is not told of it again: even one that cannot be looked at now. */
  private excuseEarly({ lockTime }: Transaction, { excused }: Sighting): void {
    for (const { name } of this.world.whole) if ((this.heights.get(name) ?? 0) < lockTime) excused.add(name)
  }

  /** Whether a node has or had it, has another one for its coins, or had other blocks meanwhile. */
  private isExcused({ inputs, txidKey }: Transaction, { at }: Sighting, { node, pool }: Seen): boolean {
    return this.memories.get(node.name)?.had.has(txidKey) === true || !this.isCalm(node, at) ||
      inputs.some(({ prevout }) => pool.spender(outpointKey(prevout)) !== undefined)
  }

  private isLate(
    transaction: Transaction,
    { at, holder, other }: { readonly at: number; readonly holder: Seen; readonly other: Seen }
  ): boolean {
    const { network } = this.world
    const [from, to] = [holder.node.plan.host, other.node.plan.host]
    // Each of them may be asked before, and not answer.
    const asked = network.openAt(to) - network.between(to, from)
    if (this.world.now() - at < asked * ASKED + REST) return false
    const since = network.steadySince(from, to)
    if (since === undefined || since / NANOS_PER_MS + SETTLING > at) return false
    this.compared++
    return comparedAt(this.world, other.tip.hash, ({ state }) => hasCoins(transaction, state) ? "late" : undefined) !==
      undefined
  }
}

export const relayHolds: Property = {
  name: "transactions reach connected nodes",
  check: (world) => {
    const announcements = new Announcements(world)
    return {
      every: 1,
      during: () => announcements.check(),
      atEnd: () =>
        Effect.sync(() => {
          world.note("relay", { compared: announcements.compared })
          return undefined
        })
    }
  }
}
