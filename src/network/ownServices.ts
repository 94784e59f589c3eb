import type { BlockLosses } from "../chain/repair/BlockLosses.ts"
import { Services } from "./wire/messages/version.ts"

/**
 * The services that this node offers (reference/protocol.md 6.3): blocks with witnesses, no encrypted transport. It
 * offers all blocks, unless a block of the best chain is missing. Then it offers only the latest blocks, unless one of
 * these is missing. With `-peerblockfilters` it offers block filters.
 */
export const ownServices = (
  losses: Pick<BlockLosses, "any" | "recent">,
  { filters = false }: { readonly filters?: boolean } = {}
): bigint => filters ? blockServices(losses) | Services.compactFilters : blockServices(losses)

const blockServices = (losses: Pick<BlockLosses, "any" | "recent">): bigint => {
  if (!losses.any) return Services.network | Services.witness | Services.networkLimited
  return losses.recent ? Services.witness : Services.witness | Services.networkLimited
}
