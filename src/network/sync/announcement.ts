import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { HeaderId } from "../../protocol/keys.ts"

/** Maximum headers in a block announcement (reference/protocol.md 6.7). */
export const MOST_ANNOUNCED = 8

export type AnnouncementTree = Pick<HeaderTree, "ancestor" | "height" | "parent" | "forkPoint" | "isActive">

/** What a peer knows, and its preferred announcement form. */
export interface BlockListener {
  /** The last headers announced by and to the peer; `NO_HEADER` for none. */
  readonly best: HeaderId
  readonly sent: HeaderId
  readonly wantsHeaders: boolean
  /** The peer wants compact blocks unsolicited. */
  readonly wantsCompact: boolean
}

export type Announcement =
  | { readonly type: "none" }
  | { readonly type: "inv"; readonly id: HeaderId }
  | { readonly type: "headers"; readonly ids: ReadonlyArray<HeaderId> }
  | { readonly type: "compact"; readonly id: HeaderId }

const NONE: Announcement = { type: "none" }

/** The blocks from the last announced one to the tip, at most the last eight. */
export const freshBlocks = (tree: AnnouncementTree, announced: HeaderId, tip: HeaderId): ReadonlyArray<HeaderId> => {
  const fork = tree.height(tree.forkPoint(announced, tip))
  const first = Math.max(fork + 1, tree.height(tip) - MOST_ANNOUNCED + 1)
  const ids: Array<HeaderId> = []
  for (let height = first; height <= tree.height(tip); height++) ids.push(tree.ancestor(tip, height))
  return ids
}

/**
 * The form of a block announcement: headers that connect to the peer's chain, or only the tip's hash. Source: upstream
 * `net_processing.cpp`, `SendMessages`.
 */
export const announcementFor = (
  tree: AnnouncementTree,
  fresh: ReadonlyArray<HeaderId>,
  { best, sent, wantsCompact, wantsHeaders }: BlockListener
): Announcement => {
  const reaches = (end: HeaderId, id: HeaderId): boolean =>
    end !== NO_HEADER && tree.height(end) >= tree.height(id) && tree.ancestor(end, tree.height(id)) === id
  const knows = (id: HeaderId): boolean => reaches(best, id) || reaches(sent, id)
  const tip = fresh.at(-1)
  if (tip === undefined || knows(tip)) return NONE
  const first = fresh.findIndex((id) => !knows(id))
  const ids = fresh.slice(first)
  const parent = tree.parent(ids[0] ?? tip)
  const connects = parent !== NO_HEADER && knows(parent)
  if (connects && wantsCompact && ids.length === 1) return { type: "compact", id: tip }
  return connects && wantsHeaders ? { type: "headers", ids } : { type: "inv", id: tip }
}
