import * as Effect from "effect/Effect"
import type { BlocksAhead } from "../chain/Chain.ts"
import { statusOver, type SyncStatusOptions } from "../chain/SyncStatus.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { LightChain } from "./LightChain.ts"
import { countMissing } from "./windowAge.ts"

/** Progress of the headers, for callers that ask whether a chain is in sync. */
export const lightStatus = (
  chain: LightChain,
  params: ConsensusParams,
  options: SyncStatusOptions
): ReturnType<typeof statusOver> => {
  const { headers, index, tree } = chain

  const missing = (): BlocksAhead | undefined => {
    const best = headers.best.reachable
    const count = countMissing(chain)
    if (count === 0) return undefined
    return { count, since: index.time(index.ancestor(best, index.height(best) - count + 1)) }
  }

  return statusOver({
    params,
    tip: Effect.sync(() => {
      const id = tree.tip()
      return {
        hash: tree.hash(id).slice(),
        height: tree.height(id),
        header: index.header(id),
        chainwork: index.chainwork(id),
        medianTimePast: index.medianTimePast(id),
        transactions: 0,
        size: 0,
        confirmations: 1,
        next: undefined
      }
    }),
    progress: Effect.sync(() => ({ importing: undefined, missing: missing() }))
  }, options)
}
