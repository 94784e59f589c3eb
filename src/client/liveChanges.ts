import type * as Stream from "effect/Stream"
import { DROP_REASONS, OPERATION_KINDS, type OperationKind } from "../names/events/kinds.ts"
import type { LiveEvent } from "../names/events/LiveEvent.ts"
import { addressOf } from "../protocol/address.ts"
import { type Bytes, displayHash, fromHex, isHex } from "../protocol/bytes.ts"
import { addressScript } from "../protocol/nameOperation.ts"
import { encodeText } from "../protocol/nameText.ts"
import type { Network } from "../protocol/networks.ts"
import type { ChangesFailure } from "./errors.ts"
import type { NameChanges } from "./NameClient.ts"
import type { ChangeFilter, LiveChange, LiveFilter } from "./options.ts"
import { valueText } from "./record.ts"
import type { NameChange } from "./records.ts"
import { shownAddress } from "./replies.ts"

/** The two forms of `changes`. The stream has live changes only if the filter asks for live types. */
export const changesBy = (
  all: (filter: ChangeFilter | LiveFilter | undefined) => Stream.Stream<NameChange | LiveChange, ChangesFailure>
): NameChanges => {
  function changes(filter?: ChangeFilter): Stream.Stream<NameChange, ChangesFailure>
  function changes(filter: LiveFilter): Stream.Stream<NameChange | LiveChange, ChangesFailure>
  function changes(filter?: ChangeFilter | LiveFilter): Stream.Stream<NameChange | LiveChange, ChangesFailure> {
    return all(filter)
  }
  return changes
}

export const liveChangesOf = (network: Network, event: LiveEvent): ReadonlyArray<LiveChange> => {
  if (event.type === "pending_reset" || event.type === "synced") return [event]
  const { address, kind, name: bytes, txid, value } = event.operation
  const name = encodeText(bytes, "utf8")
  if (name === undefined) return []
  const pending = {
    operation: kind,
    name,
    ...valueText(value),
    address: addressOf(network, addressScript(address)) ?? "",
    txid: displayHash(txid)
  }
  return event.type === "pending"
    ? [{ type: "pending", ...pending }]
    : [{ type: "pending_dropped", ...pending, reason: event.reason }]
}

const isKind = (word: unknown): word is OperationKind => OPERATION_KINDS.some((kind) => kind === word)

const bytesIn = (hex: unknown): Bytes | undefined =>
  typeof hex === "string" && (hex === "" || isHex(hex)) ? fromHex(hex) : undefined

/** The live changes in a line of a daemon, whose names and values are in hex; `undefined` for any other line. */
export const liveChangesIn = (event: Readonly<Record<string, unknown>>): ReadonlyArray<LiveChange> | undefined => {
  const { address, height, name: hexName, operation, reason, txid, type, value: hexValue } = event
  if (type === "pending_reset") return [{ type }]
  if (type === "synced") {
    return typeof height === "number" && Number.isSafeInteger(height)
      ? [{ type, height }]
      : undefined
  }
  const [name, value] = [bytesIn(hexName), bytesIn(hexValue)]
  if (name === undefined || value === undefined || !isKind(operation)) return undefined
  if (typeof address !== "string" || typeof txid !== "string") return undefined
  const text = encodeText(name, "utf8")
  if (text === undefined) return []
  const pending = { operation, name: text, ...valueText(value), address: shownAddress(address), txid }
  if (type === "pending") return [{ type, ...pending }]
  const known = DROP_REASONS.find((each) => each === reason)
  return type === "pending_dropped" && known !== undefined ? [{ type, ...pending, reason: known }] : undefined
}
