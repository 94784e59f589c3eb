import type { Replica as EventReplica } from "../../../examples/replica.ts"
import { displayHash, parseDisplayHash, toHex } from "../../../src/protocol/bytes.ts"
import { comparedAt } from "../holds/chains.ts"
import { isExpiredAt, type ModelState } from "../holds/ReplayModel.ts"
import type { World } from "../World.ts"

/** Copies of all names that programs make from events, and how they differ from the chain. */

/** A copy from events of a node, with names and values in hexadecimal digits. */
export interface EventCopy {
  readonly node: string
  readonly replica: EventReplica
  /** The names that are over, of those in the copy: `expired` adds one, a record or `undone` brings it back. */
  readonly expired: Set<string>
}

export const newCopy = (node: string): EventCopy => ({
  node,
  replica: { names: new Map(), cursor: "0" },
  expired: new Set()
})

interface ToldName {
  readonly name: string
  /** `null`: the name does not exist any more. */
  readonly record: { readonly expires_at: number } | null
}

/** What events say of the life of names. */
export interface LifeEvent extends Partial<ToldName> {
  readonly type?: string
  readonly height: number
  readonly names?: ReadonlyArray<ToldName>
}

/** Keeps which names have expired, as a program does that serves only those that live. */
export const takeLife = ({ expired }: Pick<EventCopy, "expired">, event: LifeEvent): void => {
  const { height, name, names = [], record, type } = event
  const keep = (which: string, isOver: boolean): void => void (isOver ? expired.add(which) : expired.delete(which))
  // Below the block that is undone, the record may have expired before.
  for (const each of names) keep(each.name, each.record !== null && each.record.expires_at < height)
  if (name !== undefined && record !== undefined) keep(name, type === "expired")
}

/** The difference between a copy and the names at a block. Expired names stay in both. */
export const copyFault = (
  { expired, replica: { names } }: Pick<EventCopy, "expired" | "replica">,
  model: Pick<ModelState, "height" | "names">
): string | undefined => {
  if (names.size !== model.names.size) return `the copy has ${names.size} names of ${model.names.size}`
  for (const said of model.names.values()) {
    const name = toHex(said.name)
    const record = names.get(name)
    if (record === undefined) return `the copy lacks ${name}`
    if (record.txid !== displayHash(said.txid) || record.value !== toHex(said.value)) {
      return `the copy has ${name} by ${record.txid.slice(0, 12)}, the chain of height ${said.height}`
    }
    const lives = !isExpiredAt(said.height, model.height)
    if (lives === expired.has(name)) {
      return `the copy has ${name} as ${lives ? "expired" : "living"}, set at height ${said.height}`
    }
  }
  return undefined
}

/** Compares a copy at the end of a block, whose events have all come. */
export const compareAtBlock = (
  world: World,
  copy: EventCopy,
  { hash, height }: { readonly hash: string; readonly height: number }
): void => {
  const block = parseDisplayHash(hash)
  const reason = block === undefined
    ? `${hash} is not a hash`
    : comparedAt(world, block, ({ state }) => copyFault(copy, state))
  if (reason !== undefined) {
    world.fail({ what: "events of a block", reason: `${copy.node} at height ${height}: ${reason}` })
  }
}
