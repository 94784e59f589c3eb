import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Chain } from "../../../src/chain/Chain.ts"
import type { HeaderInfo } from "../../../src/chain/index/headerInfo.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { NodeServices } from "../../../src/node/layers/node.ts"
import { NodeSettings } from "../../../src/node/layers/NodeSettings.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { binaryString, type Bytes, displayHash } from "../../../src/protocol/bytes.ts"
import type { HeaderId } from "../../../src/protocol/keys.ts"
import type { Wallet } from "../../../src/wallet/Wallet.ts"
import { Wallets } from "../../../src/wallet/Wallets.ts"
import type { World, WorldNode } from "../World.ts"
import { ReplayModel, RuleBroken } from "./ReplayModel.ts"

// The model of a world, over the blocks of its nodes. All properties of a run share it.

/** No running node has a block now: the check is for later. */
export class BlockMissing extends Error {
  override readonly name = "BlockMissing"
}

interface Known {
  readonly model: ReplayModel
  readonly blocks: Map<string, Block>
}

const known = new WeakMap<World, Known>()

/** What an effect of a running node gives at once; `undefined` if it fails, would wait, or the node is down. */
export const seen = <A, E>(node: WorldNode, effect: Effect.Effect<A, E, NodeServices>): A | undefined => {
  const exit = node.look(effect)
  return exit !== undefined && Exit.isSuccess(exit) ? exit.value : undefined
}

/** A service of a running node, without a fiber: properties ask for it between any two tasks. */
export const serviceOf = <I extends NodeServices, A>(node: WorldNode, tag: Context.Tag<I, A>): A | undefined =>
  node.state === "running" && node.services !== undefined ? Context.get(node.services, tag) : undefined

/** The tip of a running node as a number that is its own in each life. */
export const tipIdOf = (node: WorldNode): HeaderId | undefined => serviceOf(node, Chain)?.tree.tip()

const fetched = (world: World, hash: Bytes): Block => {
  for (const node of world.whole) {
    const block = seen(node, Effect.flatMap(Chain, (chain) => chain.block(hash)))
    if (block !== undefined) return block
  }
  throw new BlockMissing(`no node has block ${displayHash(hash)}`)
}

const knownOf = (world: World): Known => {
  const found = known.get(world)
  if (found !== undefined) return found
  const blocks = new Map<string, Block>()
  const blockOf = (hash: Bytes): Block => {
    const key = binaryString(hash)
    const block = blocks.get(key) ?? fetched(world, hash)
    blocks.set(key, block)
    return block
  }
  const made = { model: new ReplayModel(regtestParams.network.genesisHash, blockOf), blocks }
  known.set(world, made)
  return made
}

/**
 * Compares something with the model at a block. `undefined` if all is well or no running node has the block. A block
 * that breaks a rule is a fault of itself.
 */
export const comparedAt = (
  world: World,
  hash: Bytes,
  fault: (model: ReplayModel) => string | undefined
): string | undefined => {
  const { model } = knownOf(world)
  try {
    model.moveTo(hash)
  } catch (cause) {
    if (cause instanceof BlockMissing) return undefined
    if (cause instanceof RuleBroken) return cause.message
    throw cause
  }
  return fault(model)
}

/** The tip that the followers of a node know; `undefined` while they learn of another one. */
export const settledTip = (node: WorldNode): HeaderInfo | undefined =>
  seen(node, Effect.flatMap(Chain, (chain) => chain.toldTip))

/** Whether the wallets of a running node send their transactions: off by default with -blocksonly. */
export const sendsOwn = (node: WorldNode): boolean =>
  serviceOf(node, NodeSettings)?.settings.wallet.walletBroadcast === true

/** The first fault of any loaded wallet of a node, with its name. */
export const firstWalletFault = (
  node: WorldNode,
  fault: (wallet: Wallet) => string | undefined
): string | undefined => {
  for (const wallet of serviceOf(node, Wallets)?.loaded() ?? []) {
    const found = fault(wallet)
    if (found !== undefined) return `wallet "${wallet.name}": ${found}`
  }
  return undefined
}

/** The first fault of any node, with its name. */
export const firstFault = (
  nodes: ReadonlyArray<WorldNode>,
  fault: (node: WorldNode) => string | undefined
): string | undefined => {
  for (const node of nodes) {
    const found = fault(node)
    if (found !== undefined) return `${node.name}: ${found}`
  }
  return undefined
}
