import * as Effect from "effect/Effect"
import { Chain } from "../../../src/chain/Chain.ts"
import { type Bytes, displayHash, equal } from "../../../src/protocol/bytes.ts"
import type { Height } from "../../../src/protocol/keys.ts"
import type { RefusedBlock } from "../actors/Decisions.ts"
import { decisionsAt } from "../actors/Told.ts"
import type { Property, WorldNode } from "../World.ts"
import { firstFault, seen } from "./chains.ts"

/** The first forbidden block of a best chain, whose hashes are known by height. */
export const refusedFault = (
  refused: ReadonlyArray<RefusedBlock>,
  hashAt: (height: Height) => Bytes | undefined
): string | undefined => {
  const found = refused.find(({ hash, height }) => {
    const active = hashAt(height)
    return active !== undefined && equal(active, hash)
  })
  return found === undefined
    ? undefined
    : `block ${displayHash(found.hash)} of height ${found.height} is in the best chain, and its operator forbade it`
}

const activeAt = (node: WorldNode) => (height: Height): Bytes | undefined =>
  seen(node, Effect.flatMap(Chain, ({ headerAt }) => headerAt(height)))?.hash

/** What an operator decided about blocks holds until the operator withdraws it, whatever happens to the chain state. */
export const decisionsHold: Property = {
  name: "decisions of operators hold",
  check: (world) => ({
    every: 1_000,
    during: () => firstFault(world.whole, (node) => refusedFault(decisionsAt(world, node.name).refused, activeAt(node)))
  })
}
