import { Context, Effect, Either, Layer, type Scope } from "effect"
import * as ExpiringNames from "../../src/alerts/ExpiringNames.ts"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import * as SyncStatus from "../../src/chain/SyncStatus.ts"
import { NameClient } from "../../src/client/NameClient.ts"
import { blockWork, meetsTarget, nextBits } from "../../src/consensus/difficulty.ts"
import { expirationDepth, isExpired } from "../../src/consensus/expiry.ts"
import { nameEffects } from "../../src/consensus/names.ts"
import type { ConsensusParams } from "../../src/consensus/params.ts"
import { Light } from "../../src/light/Light.ts"
import { NameAnswers } from "../../src/light/NameAnswers.ts"
import { SyncReporter } from "../../src/light/SyncReporter.ts"
import * as LiveEvents from "../../src/mempool/live/LiveEvents.ts"
import * as NameEvents from "../../src/names/events/NameEvents.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import type { NameEntry } from "../../src/names/NameEntry.ts"
import * as EmbeddedNames from "../../src/node/embeddedNames.ts"
import * as LightClient from "../../src/node/lightClient.ts"
import { type Block, makeBlock } from "../../src/protocol/block.ts"
import { type Bytes, toHex } from "../../src/protocol/bytes.ts"
import { makeHeader } from "../../src/protocol/header.ts"
import { merkleRoot } from "../../src/protocol/merkle.ts"
import { encodeText } from "../../src/protocol/nameText.ts"
import { chainLayer, temporaryDirectory, temporaryNames } from "./chainLayer.ts"
import { lightLayer, type LightService } from "./lightNode.ts"
import { noPeers } from "./peers.ts"
import { ANYONE, BLOCK_VERSION, makeCoinbase } from "./regtest.ts"
import { wholeAnswers } from "./wholeAnswers.ts"

/**
 * Compares the answers of a light client and of a client over the whole chain, for every name of a chain at regular heights,
 * before, during and after a reorganization. One light client follows the chain, others begin at the height.
 */

type Resolve = (typeof NameClient.Service)["resolveName"]

/** What a node says: its client, and the record of a name that is not text. */
interface Answering {
  readonly height: Effect.Effect<number, unknown>
  readonly resolveName: Resolve
  readonly record: (name: Bytes) => Effect.Effect<NameEntry | undefined, unknown>
}

interface Fed extends Answering {
  /** Takes blocks whose headers follow known ones, and moves to the chain with the most work. */
  readonly feed: (blocks: ReadonlyArray<Block>) => Effect.Effect<void, unknown>
}

const BATCH = 64

const batches = (blocks: ReadonlyArray<Block>): ReadonlyArray<ReadonlyArray<Block>> =>
  Array.from({ length: Math.ceil(blocks.length / BATCH) }, (_, i) => blocks.slice(BATCH * i, BATCH * (i + 1)))

const wholeNode = (directory: string, params: ConsensusParams): Effect.Effect<Fed, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const context = yield* Layer.build(
      Layer.provideMerge(Layer.merge(NameEvents.layer, LiveEvents.layerNoMempool), wholeAnswers).pipe(
        (layers) => Layer.provideMerge(ExpiringNames.layerNothing, layers),
        Layer.provideMerge(SyncStatus.layer({ offline: true })),
        Layer.provideMerge(temporaryNames),
        Layer.provideMerge(chainLayer(directory, params))
      )
    )
    const answers = Context.get(context, NameAnswers)
    const { report } = Context.get(context, SyncReporter)
    const names = Context.get(context, NameDb.NameDb)
    const sink = Context.get(context, ChainSink)
    yield* Context.get(context, ChainControl).register(names.follower)
    yield* Context.get(context, SyncStatus.SyncStatus).loaded
    const client = yield* EmbeddedNames.make({ answers, report, requireProof: undefined }).pipe(
      Effect.provide(context)
    )
    return {
      height: answers.height,
      resolveName: client.resolveName,
      record: (name) => Effect.map(answers.resolve(name), (found) => found?.record),
      feed: (blocks) =>
        Effect.gen(function*() {
          yield* sink.acceptHeaders(blocks)
          for (const batch of batches(blocks)) {
            const { refused } = yield* sink.deliver(batch, false)
            const reject = refused.find((one) => one !== undefined)
            if (reject !== undefined) return yield* Effect.dieMessage(`the whole chain refused: ${reject.reason}`)
          }
        })
    }
  })

/** A light node, and its answers. */
const lightNode = (
  params: ConsensusParams
): Effect.Effect<Fed & { readonly light: LightService }, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    const context = yield* Layer.build(
      Layer.provideMerge(
        Layer.provide(LightClient.namesLayer(undefined), noPeers),
        lightLayer(directory, { params, maxTipAge: Infinity })
      )
    )
    const light = Context.get(context, Light)
    return {
      light,
      height: Effect.sync(light.height),
      resolveName: Context.get(context, NameClient).resolveName,
      record: (name) => Effect.map(light.resolve(name), (found) => found?.record),
      feed: (blocks) =>
        Effect.gen(function*() {
          yield* light.sink.acceptHeaders(blocks)
          yield* light.status.answered
          const isNew = light.span.filled().high === -1
          const wanted = blocks.filter(({ hash }) => {
            const { tree } = light.chain
            const id = tree.find(hash)
            return tree.height(id) >= light.span.first() && !tree.hasBlock(id)
          })
          for (const batch of batches(isNew ? wanted.toReversed() : wanted)) yield* light.sink.deliver(batch, false)
        })
    }
  })

/** What a client says of a name: its record, or that there is none that lives. */
const said = (node: Answering, name: string): Effect.Effect<string> =>
  Effect.map(Effect.either(node.resolveName(name)), (found) => {
    if (Either.isLeft(found)) {
      const { _tag } = found.left
      // A name that is missing and means another one, such as d/UPPER, is an InvalidRequest.
      return ["NameNotFound", "NameExpired", "InvalidRequest"].includes(_tag) ? "none" : _tag
    }
    const { address, asOf, expiresIn, height, txid, value, valueHex } = found.right
    return JSON.stringify([value, valueHex, address, txid, height, expiresIn, asOf.height, asOf.synced])
  })

const stored = (node: Answering, name: Bytes, lives: (record: NameEntry) => boolean): Effect.Effect<string, unknown> =>
  Effect.map(node.record(name), (record) =>
    record === undefined || !lives(record)
      ? "none"
      : JSON.stringify([toHex(record.value), toHex(record.txid), record.vout, record.height]))

export interface EqualityOptions {
  readonly blocks: ReadonlyArray<Block>
  readonly params: ConsensusParams
  /** Answers are compared at each height that is a multiple of this. */
  readonly every: number
  /** Blocks that a reorganization removes, in turn. */
  readonly depths: ReadonlyArray<number>
  /** Every so many compared heights, a new light client begins there. */
  readonly freshEvery: number
  /**
   * At each height, each so many of the names is compared, besides those with an operation or an expiry between the heights
   * beside it; where a new client begins, all are. 1 for all everywhere, which is the default.
   */
  readonly sample?: number
  readonly tell?: (figures: EqualityFigures, height: number) => void
}

export interface EqualityFigures {
  heights: number
  reorganizations: number
  /** Light clients that began at a height. */
  fresh: number
  names: number
  answers: number
  /** Answers with a record. */
  living: number
  readonly different: Array<string>
}

/** The work of the chain up to each of its blocks. */
const workUpTo = (blocks: ReadonlyArray<Block>): ReadonlyArray<bigint> => {
  let sum = 0n
  return blocks.map(({ header }) => sum += blockWork(header.bits))
}

/** A chain, with its work up to each block. */
interface Measured {
  readonly blocks: ReadonlyArray<Block>
  readonly work: ReadonlyArray<bigint>
}

/** A reorganization: another end of the chain, and the height from which on the first chain has more work again. */
interface Reorganization {
  readonly branch: ReadonlyArray<Block>
  readonly back: number
}

/** A branch of blocks without names that leaves the chain below `height`, and has more work than the chain there. */
const reorganization = (
  chain: Measured,
  { depth, height, params }: { readonly depth: number; readonly height: number; readonly params: ConsensusParams }
): Reorganization | undefined => {
  if (depth >= height) return undefined
  const fork = height - depth
  const start = { blocks: chain.blocks.slice(0, fork + 1), work: chain.work.slice(0, fork + 1) }
  const { blocks, most } = emptyBranch(start, chain.work[height] ?? 0n, params)
  const back = chain.work.findIndex((work, at) => at > fork && work > most)
  return back < 0 ? undefined : { branch: blocks, back }
}

/** A chain that ends with blocks without names, and has more work than `least`; `most` is its work. */
const emptyBranch = (
  start: Measured,
  least: bigint,
  params: ConsensusParams
): { readonly blocks: ReadonlyArray<Block>; readonly most: bigint } => {
  const blocks = [...start.blocks]
  const pointAt = (height: number) => {
    const header = blocks[height]?.header
    if (header === undefined) throw new RangeError(`there is no block ${height}`)
    return { height, time: header.time, bits: header.bits }
  }
  let most = start.work.at(-1) ?? 0n
  while (most <= least) {
    const prev = pointAt(blocks.length - 1)
    const time = prev.time + 1
    const coinbase = makeCoinbase(blocks.length, [{ value: 0, script: ANYONE }], { extra: Uint8Array.of(2, 7, 7) })
    const parts = {
      version: BLOCK_VERSION,
      prevHash: blocks.at(-1)?.hash ?? new Uint8Array(32),
      merkleRoot: merkleRoot([coinbase.txid]).root,
      time,
      bits: nextBits(params, { prev, newTime: time, ancestor: pointAt })
    }
    for (let nonce = 0;; nonce++) {
      const header = makeHeader({ ...parts, nonce })
      if (!meetsTarget(header.hash, header.bits, params.powLimit)) continue
      blocks.push(makeBlock({ header, auxpow: undefined }, [coinbase]))
      most += blockWork(header.bits)
      break
    }
  }
  return { blocks, most }
}

/** The names of a chain. */
interface ChainNames {
  /** With the heights of their first operations, in their order. */
  readonly all: ReadonlyArray<readonly [name: Bytes, since: number]>
  /** Those of the operations in each block. */
  readonly inBlocks: ReadonlyArray<ReadonlyArray<Bytes>>
}

const namesIn = (blocks: ReadonlyArray<Block>, params: ConsensusParams): ChainNames => {
  const names = new Map<string, readonly [Bytes, number]>()
  const inBlocks = blocks.map((block, height) => nameEffects(block, height, params).map(({ name }) => name))
  for (const [height, inBlock] of inBlocks.entries()) {
    for (const name of inBlock) if (!names.has(toHex(name))) names.set(toHex(name), [name, height])
  }
  return { all: [...names.values()], inBlocks }
}

/** The names of the operations up to a height whose answers may have changed in the blocks before it, and each so many. */
const namesAt = (
  { all, inBlocks }: ChainNames,
  height: number,
  { every, params, sample = 1 }: EqualityOptions
): ReadonlyArray<Bytes> => {
  const names = new Map<string, Bytes>()
  const take = (from: number, to: number): void => {
    for (const name of inBlocks.slice(Math.max(0, from), Math.max(0, to + 1)).flat()) names.set(toHex(name), name)
  }
  const lifetime = expirationDepth(height, params)
  take(height - every, height + every)
  take(height - every - lifetime, height - lifetime)
  for (let i = 0; i < all.length; i += sample) {
    const [name, since] = all[i] ?? []
    if (name !== undefined && since !== undefined && since <= height) names.set(toHex(name), name)
  }
  return [...names.values()]
}

/** Differences that are kept for the report. */
const SHOWN = 20

export const compareClients = (
  options: EqualityOptions
): Effect.Effect<EqualityFigures, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const { blocks, depths, every, freshEvery, params, tell } = options
    const ofChain = namesIn(blocks, params)
    const work = workUpTo(blocks)
    let names: ReadonlyArray<Bytes> = []
    const figures: EqualityFigures = {
      heights: 0,
      reorganizations: 0,
      fresh: 0,
      names: ofChain.all.length,
      answers: 0,
      living: 0,
      different: []
    }
    const whole = yield* wholeNode(yield* temporaryDirectory, params)
    const follower = yield* lightNode(params)

    const compare = (light: Answering, chain: ReadonlyArray<Block>, what: string) =>
      Effect.gen(function*() {
        const tip = chain.length - 1
        const heights = [yield* whole.height, yield* light.height]
        if (heights.some((height) => height !== tip)) figures.different.push(`${what} at ${tip}: heights ${heights}`)
        const lives = (record: NameEntry): boolean => !isExpired(record, tip, params)
        for (const name of names) {
          const text = encodeText(name, "utf8")
          const ask = (node: Answering) => text === undefined ? stored(node, name, lives) : said(node, text)
          const [expected, found] = [yield* ask(whole), yield* ask(light)]
          figures.answers++
          if (expected !== "none") figures.living++
          if (expected === found || figures.different.length >= SHOWN) continue
          figures.different.push(`${what} at ${tip}: ${toHex(name)}: whole ${expected}, light ${found}`)
        }
      })

    const compareFresh = (chain: ReadonlyArray<Block>) =>
      Effect.scoped(Effect.gen(function*() {
        const light = yield* lightNode(params)
        yield* light.feed(chain.slice(1))
        figures.fresh++
        yield* compare(light, chain, "a new light client")
      }))

    let tip = 0
    /** Moves both nodes along the chain. A light node keeps no blocks, so it needs those again that it undid. */
    const advance = (height: number, undone = 0) =>
      Effect.gen(function*() {
        yield* whole.feed(blocks.slice(tip + 1, height + 1))
        yield* follower.feed(blocks.slice(tip + 1 - undone, height + 1))
        tip = height
      })

    for (let height = every; height < blocks.length; height += every) {
      yield* advance(height)
      figures.heights++
      const isFresh = figures.heights % freshEvery === 0
      names = namesAt(ofChain, height, isFresh ? { ...options, sample: 1 } : options)
      yield* compare(follower, blocks.slice(0, height + 1), "a light client")
      if (isFresh) yield* compareFresh(blocks.slice(0, height + 1))
      const depth = depths[figures.heights % depths.length] ?? 1
      const other = reorganization({ blocks, work }, { depth, height, params })
      if (other !== undefined) {
        const { back, branch } = other
        for (const node of [whole, follower]) yield* node.feed(branch.slice(height - depth + 1))
        figures.reorganizations++
        yield* compare(follower, branch, "a light client on a branch")
        if (isFresh) yield* compareFresh(branch)
        yield* advance(back, depth)
        figures.reorganizations++
        yield* compare(follower, blocks.slice(0, back + 1), "a light client back on the chain")
      }
      tell?.(figures, height)
    }
    return figures
  })
