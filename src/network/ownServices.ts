import type { BlockLosses } from "../chain/repair/BlockLosses.ts"
import { Services } from "./wire/messages/version.ts"

/**
 * What this node offers (reference/protocol.md 6.3): blocks with witnesses; no encrypted transport. All blocks, unless
 * one of the best chain is missing; then the last ones, unless it is one of these.
 */
export const ownServices = (losses: Pick<BlockLosses, "any" | "recent">): bigint => {
  if (!losses.any) return Services.network | Services.witness | Services.networkLimited
  return losses.recent ? Services.witness : Services.witness | Services.networkLimited
}
