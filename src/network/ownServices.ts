import type { BlockLosses } from "../chain/repair/BlockLosses.ts"
import { Services } from "./wire/messages/version.ts"

/**
 * The services of this node (reference/protocol.md 6.3): blocks with witnesses, no encrypted transport. It offers all
 * blocks; only the latest if it prunes or a block of the best chain is missing; none if one of the latest is missing.
 * With `-peerblockfilters` it offers block filters, with `-peerbloomfilters` bloom filters.
 */
export const ownServices = (
  losses: Pick<BlockLosses, "any" | "recent">,
  { bloom = false, filters = false, prunes = false }: {
    readonly filters?: boolean
    readonly bloom?: boolean
    readonly prunes?: boolean
  } = {}
): bigint => blockServices(losses, prunes) | (filters ? Services.compactFilters : 0n) | (bloom ? Services.bloom : 0n)

const blockServices = (losses: Pick<BlockLosses, "any" | "recent">, prunes: boolean): bigint => {
  if (!losses.any && !prunes) return Services.network | Services.witness | Services.networkLimited
  return losses.recent ? Services.witness : Services.witness | Services.networkLimited
}
