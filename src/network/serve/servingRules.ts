import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { blockWork } from "../../consensus/difficulty.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { MAX_HEADERS } from "../wire/messages/headers.ts"

/** Which headers and blocks a peer gets (reference/protocol.md 6.7, 6.8): decisions over the header tree. */

/** Seconds that a block off the best chain may be behind the best header, by time and by work (upstream `STALE_RELAY_AGE_LIMIT`). */
export const STALE_AGE_LIMIT = 30 * 24 * 60 * 60

/** Blocks behind the tip that are still sent as compact blocks (upstream `MAX_CMPCTBLOCK_DEPTH`). */
export const COMPACT_DEPTH = 5

/** Blocks behind the tip of which single transactions are still sent (upstream `MAX_BLOCKTXN_DEPTH`). */
export const BLOCKTXN_DEPTH = 10

/** Blocks whose age still counts as recent: then peers have transactions that fit a compact block (upstream `CanDirectFetch`). */
const RECENT_BLOCKS = 20

/** Most blocks in the answer to `getblocks` (upstream `net_processing.cpp`). */
export const MAX_BLOCKS = 500

/** Whether a header is in the best chain as far as that is judged. */
export const isInChain = (tree: HeaderTree, id: number): boolean => tree.at(tree.height(id)) === id

/**
 * Whether a peer may have a block or header: those of the best chain, and those that once were in it while they are not
 * old. What else we know would tell who we are.
 * Source: upstream `net_processing.cpp`, `BlockRequestAllowed`; `chain.cpp`, `GetBlockProofEquivalentTime`.
 */
export const isServable = (tree: HeaderTree, params: ConsensusParams, id: number): boolean => {
  if (isInChain(tree, id)) return true
  if (!tree.wasConnected(id) || tree.isFailed(id)) return false
  const best = tree.best()
  if (tree.time(best) - tree.time(id) >= STALE_AGE_LIMIT) return false
  const work = (tree.chainwork(best) - tree.chainwork(id)) * BigInt(params.targetSpacing)
  return work / blockWork(tree.bits(best)) < BigInt(STALE_AGE_LIMIT)
}

/**
 * The last block of the best chain that a locator names; genesis where it names none. A block that builds on the tip
 * names the tip.
 * Source: upstream `validation.cpp`, `Chainstate::FindForkInGlobalIndex`.
 */
export const forkOf = (tree: HeaderTree, locator: ReadonlyArray<Bytes>): number => {
  const tip = tree.tip()
  const height = tree.height(tip)
  for (const hash of locator) {
    const id = tree.find(hash)
    if (id === NO_HEADER) continue
    if (isInChain(tree, id)) return id
    if (tree.height(id) > height && tree.ancestor(id, height) === tip) return tip
  }
  return tree.at(0)
}

/** What a peer asks for with `getheaders` or `getblocks`. */
interface Question {
  readonly locator: ReadonlyArray<Bytes>
  readonly stop: Bytes
}

/**
 * The headers that answer `getheaders`, before their size is known: up to 2000 behind the fork point, up to the stop
 * hash. An empty locator asks for the one header with the stop hash: `undefined` where a peer gets no answer to that.
 * Source: upstream `net_processing.cpp`, `ProcessMessage`.
 */
export const headersFor = (
  tree: HeaderTree,
  params: ConsensusParams,
  { locator, stop }: Question
): ReadonlyArray<number> | undefined => {
  const last = tree.find(stop)
  if (locator.length === 0) {
    return last !== NO_HEADER && isServable(tree, params, last) ? [last] : undefined
  }
  const ids: Array<number> = []
  const end = tree.height(tree.tip())
  for (let height = tree.height(forkOf(tree, locator)) + 1; height <= end && ids.length < MAX_HEADERS; height++) {
    const id = tree.at(height)
    ids.push(id)
    if (id === last) break
  }
  return ids
}

/**
 * The blocks that answer `getblocks`: up to 500 behind the fork point, up to the one before the stop hash. `more` where
 * the limit ended them.
 * Source: upstream `net_processing.cpp`, `ProcessMessage`.
 */
export const blocksFor = (
  tree: HeaderTree,
  { locator, stop }: Question
): { readonly ids: ReadonlyArray<number>; readonly more: boolean } => {
  const last = tree.find(stop)
  const ids: Array<number> = []
  const end = tree.height(tree.tip())
  for (let height = tree.height(forkOf(tree, locator)) + 1; height <= end; height++) {
    const id = tree.at(height)
    if (id === last) break
    ids.push(id)
    if (ids.length === MAX_BLOCKS) return { ids, more: true }
  }
  return { ids, more: false }
}

/** Whether a block is sent as a compact block to those who ask for that. `now`: seconds since 1970. */
export const isCompactServed = (tree: HeaderTree, params: ConsensusParams, id: number, now: number): boolean => {
  const tip = tree.tip()
  return tree.time(tip) > now - RECENT_BLOCKS * params.targetSpacing &&
    tree.height(id) >= tree.height(tip) - COMPACT_DEPTH
}
