import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { blockWork } from "../../consensus/difficulty.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { MAX_HEADERS } from "../wire/messages/headers.ts"

/** Which headers and blocks a peer gets (reference/protocol.md 6.7, 6.8), decided from the header tree. */

/** Maximum lag of a block off the best chain, in seconds, by time and by work (upstream `STALE_RELAY_AGE_LIMIT`). */
export const STALE_AGE_LIMIT = 30 * 24 * 60 * 60

/** Seconds before the best header. */
const HISTORICAL_AGE = 7 * 24 * 60 * 60

/** Depth below the tip up to which blocks are sent as compact blocks (upstream `MAX_CMPCTBLOCK_DEPTH`). */
export const COMPACT_DEPTH = 5

/** Depth below the tip up to which single transactions are sent (upstream `MAX_BLOCKTXN_DEPTH`). */
export const BLOCKTXN_DEPTH = 10

/** Age of a recent tip in block intervals, when peers have most transactions (upstream `CanDirectFetch`). */
const RECENT_BLOCKS = 20

/** Depth below the tip up to which a node with only the last blocks serves: BIP 159, and two for races. */
export const LIMITED_DEPTH = 288 + 2

/** Seconds by which an announced block is safe from pruning (upstream `ProcessMessage`). */
const PRUNE_MARGIN = 3_600

/** Per answer to `getblocks` (upstream `net_processing.cpp`). */
export const MAX_BLOCKS = 500

/** Up to the validated tip. */
export const isInChain = (tree: HeaderTree, id: HeaderId): boolean => tree.at(tree.height(id)) === id

/**
 * Whether a peer may have a block or header: those of the best chain, and once-connected ones that are not old. Other
 * headers would identify this node. Source: upstream `net_processing.cpp`, `BlockRequestAllowed`; `chain.cpp`,
 * `GetBlockProofEquivalentTime`.
 */
export const isServable = (tree: HeaderTree, params: ConsensusParams, id: HeaderId): boolean => {
  if (isInChain(tree, id)) return true
  if (!tree.wasConnected(id) || tree.isFailed(id)) return false
  const best = tree.best()
  if (tree.time(best) - tree.time(id) >= STALE_AGE_LIMIT) return false
  const work = (tree.chainwork(best) - tree.chainwork(id)) * BigInt(params.targetSpacing)
  return work / blockWork(tree.bits(best)) < BigInt(STALE_AGE_LIMIT)
}

/** Whether a block is too old to count as relayed (upstream `HISTORICAL_BLOCK_AGE`). */
export const isHistorical = (tree: HeaderTree, id: HeaderId): boolean =>
  tree.time(tree.best()) - tree.time(id) > HISTORICAL_AGE

/**
 * The last block of the best chain in a locator, or genesis. A locator block that descends from the tip counts as the
 * tip. Source: upstream `validation.cpp`, `Chainstate::FindForkInGlobalIndex`.
 */
export const forkOf = (tree: HeaderTree, locator: ReadonlyArray<Bytes>): HeaderId => {
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

interface Question {
  readonly locator: ReadonlyArray<Bytes>
  readonly stop: Bytes
}

/**
 * The answer to `getheaders`, before the size limit: up to 2000 headers after the fork point, through the stop hash. An
 * empty locator requests only the header with the stop hash; `undefined` means no answer. Source: upstream
 * `net_processing.cpp`, `ProcessMessage`.
 */
export const headersFor = (
  tree: HeaderTree,
  params: ConsensusParams,
  { locator, stop }: Question
): ReadonlyArray<HeaderId> | undefined => {
  const last = tree.find(stop)
  if (locator.length === 0) {
    return last !== NO_HEADER && isServable(tree, params, last) ? [last] : undefined
  }
  const ids: Array<HeaderId> = []
  const end = tree.height(tree.tip())
  for (let height = tree.height(forkOf(tree, locator)) + 1; height <= end && ids.length < MAX_HEADERS; height++) {
    const id = tree.at(height)
    ids.push(id)
    if (id === last) break
  }
  return ids
}

/**
 * The answer to `getblocks`: up to 500 blocks after the fork point, before the stop hash. `more` if the limit cut the
 * list. With `prunes` it ends before a block that may be pruned soon. Source: upstream `net_processing.cpp`,
 * `ProcessMessage`.
 */
export const blocksFor = (
  tree: HeaderTree,
  { locator, stop }: Question,
  { prunes = false, targetSpacing = 600 }: { readonly prunes?: boolean; readonly targetSpacing?: number } = {}
): { readonly ids: ReadonlyArray<HeaderId>; readonly more: boolean } => {
  const last = tree.find(stop)
  const ids: Array<HeaderId> = []
  const end = tree.height(tree.tip())
  const lastSafe = end - (288 - PRUNE_MARGIN / targetSpacing)
  for (let height = tree.height(forkOf(tree, locator)) + 1; height <= end; height++) {
    const id = tree.at(height)
    if (id === last || (prunes && (!tree.hasBlock(id) || height <= lastSafe))) break
    ids.push(id)
    if (ids.length === MAX_BLOCKS) return { ids, more: true }
  }
  return { ids, more: false }
}

/** Applies to peers that request compact blocks. `now`: seconds since 1970. */
export const isCompactServed = (
  tree: HeaderTree,
  { id, now, params }: { readonly params: ConsensusParams; readonly id: HeaderId; readonly now: number }
): boolean => {
  const tip = tree.tip()
  return tree.time(tip) > now - RECENT_BLOCKS * params.targetSpacing &&
    tree.height(id) >= tree.height(tip) - COMPACT_DEPTH
}
