import { addressOf } from "./address.ts"
import { type Bytes, equal } from "./bytes.ts"
import type { NameSetting } from "./nameOperation.ts"
import type { Network } from "./networks.ts"

/** What an update keeps of the record that it replaces. */
export interface KeptByUpdate {
  readonly value: boolean
  readonly owner: boolean
}

/** A new address is not called a transfer: wallets take a fresh one for each update. */
export const updateWord = ({ owner, value }: KeptByUpdate): string =>
  `${value ? "renewed" : "updated"}${owner ? "" : ", new address"}`

export interface SetRecord {
  readonly op: NameSetting["op"]
  readonly value: Bytes
  /** The owner's script, without the name prefix. */
  readonly address: Bytes
}

const isSameOwner = (network: Network, one: Bytes, other: Bytes): boolean => {
  const address = addressOf(network, one)
  return address === undefined ? equal(one, other) : address === addressOf(network, other)
}

export const plainWord = (op: NameSetting["op"]): string => op === "name_firstupdate" ? "registered" : "updated"

/** `before` is the replaced record, if known. */
export const operationWord = (
  network: Network,
  { address, op, value }: SetRecord,
  before: Omit<SetRecord, "op"> | undefined
): string => {
  if (before === undefined) return plainWord(op)
  return op === "name_firstupdate"
    ? "registered again"
    : updateWord({ value: equal(value, before.value), owner: isSameOwner(network, address, before.address) })
}

export const waitingWord = (word: string): string => `to be ${word}`
