import { Context, Effect, Layer, type Scope } from "effect"
import { NameClient } from "../../src/client/NameClient.ts"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import { Light } from "../../src/light/Light.ts"
import * as LightClient from "../../src/node/lightClient.ts"
import { type Block, decodeBlock } from "../../src/protocol/block.ts"
import { concat } from "../../src/protocol/bytes.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import { type FakePeer, type FakePeerOptions, ServedBlocks } from "../network/sync/fakePeers.ts"
import { temporaryDirectory } from "../support/chain.ts"
import {
  following,
  type LightNodeOptions,
  type LightService,
  nextBlock,
  onLight,
  registered,
  updated
} from "../support/lightNode.ts"
import { noPeers } from "../support/peers.ts"
import { saltOf } from "../support/regtest.ts"
import { simulated } from "../support/simulated.ts"

/** A chain with names, and a light node that gets it from peers which follow a script. */

export const GENESIS = decodeBlock(regtestParams.network.genesisBlock)

/** The first and the last anchor. */
export const [FIRST, LAST] = [60, 80]

/** An address whose owner gives no signature. */
export const LOCKED = concat(Uint8Array.of(0x76, 0xa9, 20), saltOf(7), Uint8Array.of(0x88, 0xac))

export const OPEN = registered("d/open", "first")
export const STOLEN = registered("d/stolen", "of its owner", LOCKED)
export const RENEWED = updated("d/open", "second", OPEN)

/** Extends a chain to a height, with transactions at some heights. */
export const extended = (
  start: ReadonlyArray<Block>,
  end: number,
  { at = {}, branch = 0 }: {
    readonly at?: Readonly<Record<number, ReadonlyArray<Transaction>>>
    readonly branch?: number
  } = {}
): ReadonlyArray<Block> => {
  const blocks = [...start]
  while (blocks.length <= end) {
    blocks.push(nextBlock(blocks, { branch, transactions: at[blocks.length] ?? [] }))
  }
  return blocks
}

export const MAIN = extended([GENESIS], 230, {
  at: {
    205: [OPEN],
    208: [STOLEN, registered("d/other", "stays")],
    222: [RENEWED],
    226: [registered("d/late", "new")]
  }
})

export const anchorAt = (height: number) => ({
  height,
  hash: MAIN[height]?.hash ?? GENESIS.hash,
  chainwork: 2n * BigInt(height + 1)
})

export const ANCHORED: ConsensusParams = { ...regtestParams, anchors: [anchorAt(FIRST), anchorAt(LAST)] }

/** The answers of a client over the light node. */
export const clientOf = (light: LightService) => {
  const answers = Layer.build(
    Layer.provide(LightClient.namesLayer(undefined), Layer.merge(Layer.succeed(Light, light), noPeers))
  )
  return Effect.map(answers, (context) => Context.get(context, NameClient))
}

export interface Stage {
  readonly light: LightService
  readonly connect: (blocks: ReadonlyArray<Block>, options?: FakePeerOptions) => Effect.Effect<FakePeer>
  readonly announce: (peer: FakePeer, headers: ReadonlyArray<Block>) => Effect.Effect<void>
  readonly client: typeof NameClient.Service
}

export const staged = (use: (stage: Stage) => Effect.Effect<void, unknown, Scope.Scope>, options: LightNodeOptions) =>
  Effect.flatMap(temporaryDirectory, (directory) =>
    onLight(directory, (light) =>
      Effect.gen(function*() {
        const { announce, connect } = yield* following(light)
        yield* use({
          light,
          announce,
          client: yield* clientOf(light),
          connect: (blocks, options) => connect(new ServedBlocks(blocks), options)
        })
      }), options))

export const attack = (
  name: string,
  use: (stage: Stage) => Effect.Effect<void, unknown, Scope.Scope>,
  params: ConsensusParams = ANCHORED
) => simulated(name, () => staged(use, { params }))
