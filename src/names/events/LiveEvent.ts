import type { Bytes } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import { type EventFilter, fitsOwners } from "./EventFilter.ts"
import type { DropReason, LiveKind, OperationKind } from "./kinds.ts"
import { kindKeeping } from "./NameEvent.ts"

// Events of the mempool and the node. They are in no block and have no cursor: a reader gets only those that happen
// while it is connected.

export interface WaitingOperation {
  /** The kind of the event it will have in a block. */
  readonly kind: OperationKind
  readonly name: Bytes
  readonly value: Bytes
  /** In wire order. */
  readonly txid: Bytes
  readonly vout: number
  /** The owner's script, without the name prefix. */
  readonly address: Bytes
  /** The previous owner's script; `undefined` for a registration, or if unknown. */
  readonly ownerBefore: Bytes | undefined
  /** Whether it keeps the value of a known previous record. */
  readonly keepsValue: boolean
}

export type LiveEvent =
  | { readonly type: "pending"; readonly operation: WaitingOperation }
  /** It left the mempool, and no block contains it. */
  | { readonly type: "pending_dropped"; readonly operation: WaitingOperation; readonly reason: DropReason }
  /** Forget all pending operations; the current ones follow. Always sent to readers of pending operations. */
  | { readonly type: "pending_reset" }
  /** Names are known up to the network's tip, as far as the node knows. The height is that of the last block. */
  | { readonly type: "synced"; readonly height: Height }

/** What a reader of live events wants. The filter selects pending operations by name and owner. */
export interface LiveWanted {
  readonly kinds: ReadonlySet<LiveKind>
  readonly filter: EventFilter
}

export const wantsPending = ({ kinds }: LiveWanted): boolean => kinds.has("pending") || kinds.has("pending_dropped")

/** For a reader with wallets, an update between two of their addresses is not a transfer. */
const seenLive = ({ isMine }: EventFilter, event: LiveEvent): LiveEvent => {
  if (isMine === undefined || (event.type !== "pending" && event.type !== "pending_dropped")) return event
  const { operation } = event
  const { address, keepsValue, kind, ownerBefore, value } = operation
  if (kind !== "transferred" || ownerBefore === undefined || !isMine(ownerBefore) || !isMine(address)) return event
  const kept = { address: false, value: keepsValue }
  return {
    ...event,
    operation: { ...operation, kind: kindKeeping({ op: "name_update", value }, kept, { before: true, after: true }) }
  }
}

/** The events as the reader wants them. */
export const liveFiltered = (wanted: LiveWanted, events: ReadonlyArray<LiveEvent>): ReadonlyArray<LiveEvent> =>
  events.flatMap((event) => wantsLive(wanted, event) ? [seenLive(wanted.filter, event)] : [])

export const wantsLive = ({ filter, kinds }: LiveWanted, event: LiveEvent): boolean => {
  if (event.type === "pending_reset") return true
  if (!kinds.has(event.type)) return false
  if (event.type === "synced") return true
  const { address, name, ownerBefore } = event.operation
  return fitsOwners(filter, { name, owners: ownerBefore === undefined ? [address] : [address, ownerBefore] })
}
