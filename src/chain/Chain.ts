import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { BlockUndo } from "../consensus/connectBlock.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { Block, BlockHeader } from "../protocol/block.ts"
import { type Bytes, displayHash } from "../protocol/bytes.ts"
import type { UnixTime } from "../protocol/keys.ts"
import type { HeaderId, Height } from "../protocol/keys.ts"
import type { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { attempt } from "./attempt.ts"
import * as ChainCoins from "./ChainCoins.ts"
import * as ChainControl from "./ChainControl.ts"
import type { ChainEvent } from "./ChainEvent.ts"
import { type ChainParts, findHeader, settledTipOf } from "./ChainParts.ts"
import * as ChainSink from "./ChainSink.ts"
import { type BlockNotFound, BlockUnavailable, type ValidatedByOtherRules } from "./errors.ts"
import type { ImportProgress } from "./import/ImportRun.ts"
import { Status } from "./index/BlockIndex.ts"
import { type Branch, branchOf } from "./index/branches.ts"
import { type HeaderInfo, headerInfo } from "./index/headerInfo.ts"
import { type HeaderTree, headerTree, NO_HEADER } from "./index/HeaderTree.ts"
import { type ChainOptions, openChain } from "./openChain.ts"
import * as Snapshots from "./Snapshots.ts"
import type { ChainState } from "./state/ChainState.ts"
import type { Cursor } from "./write/Follower.ts"
import { cursorOf } from "./write/followers.ts"

export interface ChainProgress {
  readonly tip: Cursor
  readonly headers: number
  readonly importing: ImportProgress | undefined
  /** Whether the header tree reaches above the tip with more chainwork. */
  readonly behind: boolean
  /** The blocks between the tip and the header with the most chainwork. */
  readonly missing: BlocksAhead | undefined
}

export interface BlocksAhead {
  readonly count: number
  /** Time in the first of their headers, seconds since 1970. */
  readonly since: UnixTime
}

/**
 * Reads the best chain: headers, blocks, progress and events. `ChainCoins` reads coins and names, `ChainSink` takes
 * headers and blocks, `ChainControl` operates the chain, `Snapshots` dumps and loads its coins.
 */
export class Chain extends Context.Tag("svcd/Chain")<Chain, {
  readonly params: ConsensusParams
  readonly tip: Effect.Effect<HeaderInfo>
  /** The tip that followers have been notified of. Not for the steps of a follower. */
  readonly toldTip: Effect.Effect<HeaderInfo>
  /** The header with the most chainwork that is not known to be invalid. */
  readonly headerTip: Effect.Effect<HeaderInfo>
  /** The header with the most chainwork that is invalid or follows an invalid one. */
  readonly bestInvalid: Effect.Effect<HeaderInfo | undefined>
  readonly progress: Effect.Effect<ChainProgress>
  /** The header at a height of the best chain; `undefined` above the tip. */
  readonly headerAt: (height: Height) => Effect.Effect<HeaderInfo | undefined>
  readonly header: (hash: Bytes) => Effect.Effect<HeaderInfo, BlockNotFound>
  readonly tree: HeaderTree
  /** Headers with proofs. The list ends before the first block that is not stored. */
  readonly fullHeaders: (ids: ReadonlyArray<HeaderId>) => Effect.Effect<ReadonlyArray<BlockHeader>, StorageFailure>
  readonly branches: Effect.Effect<ReadonlyArray<Branch>>
  readonly block: (hash: Bytes) => Effect.Effect<Block, BlockNotFound | BlockUnavailable | StorageFailure>
  readonly blockBytes: (hash: Bytes) => Effect.Effect<Bytes, BlockNotFound | BlockUnavailable | StorageFailure>
  /** The undo data of a block; `undefined` if it was never connected. Fails if they are lost. */
  readonly undo: (hash: Bytes) => Effect.Effect<BlockUndo | undefined, BlockNotFound | StorageFailure>
  /** The undo data as stored. */
  readonly undoBytes: (hash: Bytes) => Effect.Effect<Bytes | undefined, BlockNotFound | StorageFailure>
  readonly events: Stream.Stream<ChainEvent>
  /** The events from now on: the subscription begins here and not with the stream, and ends with the scope. */
  readonly subscription: Effect.Effect<Stream.Stream<ChainEvent>, never, Scope.Scope>
}>() {}

const reading = (state: ChainState, hash: Bytes) =>
<A>(
  read: (id: HeaderId) => A
): Effect.Effect<A, BlockNotFound | BlockUnavailable | StorageFailure> =>
  Effect.flatMap(findHeader(state, hash), (id): Effect.Effect<A, BlockUnavailable | StorageFailure> => {
    if (state.hasBlock(id)) return attempt(() => read(id))
    const { height } = cursorOf(state, id)
    const pruned = state.index.has(id, Status.PRUNED)
    return Effect.fail(new BlockUnavailable({ hash: displayHash(hash), height, pruned }))
  })

const missingBlocks = (state: ChainState): BlocksAhead | undefined => {
  if (!state.isBehind) return undefined
  const { active: { settledTip }, forks: { best: { reachable } }, index } = state
  const from = index.height(index.forkPoint(reachable, settledTip))
  const first = index.ancestor(reachable, from + 1)
  return { count: index.height(reachable) - from, since: index.time(first) }
}

const make = (params: ConsensusParams, { imports, state, writer }: ChainParts): Context.Tag.Service<Chain> => {
  const tip = Effect.sync(() => settledTipOf(state))
  const told = Effect.sync(() => headerInfo(state, writer.told() ?? state.active.settledTip))
  const tree = headerTree(state)
  return {
    params,
    tip,
    toldTip: Effect.suspend(() => writer.telling() ? writer.undisturbed(told) : told),
    headerTip: Effect.sync(() => headerInfo(state, state.forks.best.reachable)),
    bestInvalid: Effect.sync(() => {
      const { invalid } = state.forks.best
      return invalid === NO_HEADER ? undefined : headerInfo(state, invalid)
    }),
    progress: Effect.sync(() => ({
      tip: cursorOf(state, state.active.settledTip),
      headers: cursorOf(state, state.forks.best.reachable).height,
      importing: imports.progress(),
      behind: state.isBehind,
      missing: missingBlocks(state)
    })),
    headerAt: (height) =>
      Effect.sync(() => {
        const id = tree.at(height)
        return id === NO_HEADER ? undefined : headerInfo(state, id)
      }),
    header: (hash) => Effect.map(findHeader(state, hash), (id) => headerInfo(state, id)),
    tree,
    fullHeaders: (ids) => attempt(() => state.fullHeaders(ids)),
    branches: Effect.sync(() => state.forks.tips().map(branchOf(state))),
    block: (hash) => reading(state, hash)((id) => state.stored.block(id)),
    blockBytes: (hash) => reading(state, hash)((id) => state.stored.bytes(id)),
    undo: (hash) => Effect.flatMap(findHeader(state, hash), (id) => attempt(() => state.undo(id))),
    undoBytes: (hash) => Effect.flatMap(findHeader(state, hash), (id) => attempt(() => state.undoBytes(id))),
    events: Stream.fromPubSub(writer.events),
    subscription: Stream.fromPubSub(writer.events, { scoped: true })
  }
}

export type ChainServices =
  | Chain
  | ChainCoins.ChainCoins
  | ChainSink.ChainSink
  | ChainControl.ChainControl
  | Snapshots.Snapshots

/** The five services of one chain, which stays open as long as the layer. */
export const layer = (
  options: ChainOptions
): Layer.Layer<ChainServices, StorageFailure | ValidatedByOtherRules, DataHealth> =>
  Layer.scopedContext(Effect.gen(function*() {
    const parts = yield* openChain(options)
    return Context.empty().pipe(
      Context.add(Chain, make(options.params, parts)),
      Context.add(ChainCoins.ChainCoins, ChainCoins.make(parts)),
      Context.add(ChainSink.ChainSink, ChainSink.make(parts)),
      Context.add(ChainControl.ChainControl, ChainControl.make(parts)),
      Context.add(Snapshots.Snapshots, yield* Snapshots.make(parts, options))
    )
  }))
