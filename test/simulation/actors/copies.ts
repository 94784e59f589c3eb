import type { Replica as EventReplica } from "../../../examples/replica.ts"
import { displayHash, parseDisplayHash, toHex } from "../../../src/protocol/bytes.ts"
import { comparedAt } from "../holds/chains.ts"
import type { ModelState } from "../holds/ReplayModel.ts"
import type { World } from "../World.ts"

/** Copies of all names that programs make from events, and how they differ from the chain. */

/** A copy from events of a node, with names and values in hexadecimal digits. */
export interface EventCopy {
  readonly node: string
  readonly replica: EventReplica
}

/** The difference between a copy and the names at a block. Expired names stay in both. */
export const copyFault = ({ names }: EventReplica, model: ModelState): string | undefined => {
  if (names.size !== model.names.size) return `the copy has ${names.size} names of ${model.names.size}`
  for (const said of model.names.values()) {
    const record = names.get(toHex(said.name))
    if (record === undefined) return `the copy lacks ${toHex(said.name)}`
    if (record.txid !== displayHash(said.txid) || record.value !== toHex(said.value)) {
      return `the copy has ${toHex(said.name)} by ${record.txid.slice(0, 12)}, the chain of height ${said.height}`
    }
  }
  return undefined
}

/** Compares a copy at the end of a block, whose events have all come. */
export const compareAtBlock = (
  world: World,
  { node, replica }: EventCopy,
  { hash, height }: { readonly hash: string; readonly height: number }
): void => {
  const block = parseDisplayHash(hash)
  const reason = block === undefined
    ? `${hash} is not a hash`
    : comparedAt(world, block, ({ state }) => copyFault(replica, state))
  if (reason !== undefined) world.fail({ what: "events of a block", reason: `${node} at height ${height}: ${reason}` })
}
