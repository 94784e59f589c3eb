import { destinationOf, scriptOf } from "./address.ts"
import { type Bytes, equal } from "./bytes.ts"
import type { NameSetting } from "./nameOperation.ts"

/**
 * What an operation did to a name: the only classification, and the only words for it, of commands, pages, events and
 * library (decision 0028). An address shows no owner. So without a wallet, a new address is a transfer. A wallet knows
 * its own addresses: there, an update to a fresh address is none.
 */

/** What an update keeps of the record that it replaces. */
export interface KeptByUpdate {
  readonly value: boolean
  readonly address: boolean
}

/** Whether the addresses before and after an operation are the reader's; both false without a wallet. */
export interface MineSides {
  readonly before: boolean
  readonly after: boolean
}

export const NOT_MINE: MineSides = { before: false, after: false }

export const DEEDS = ["registered", "updated", "renewed", "transferred", "received", "cleared"] as const

export type Deed = (typeof DEEDS)[number]

/** `kept` is `undefined` if the replaced record is unknown. A transfer may change the value, too. */
export const deedOf = (
  { op, value }: { readonly op: NameSetting["op"]; readonly value: Bytes },
  kept: KeptByUpdate | undefined,
  { after, before }: MineSides
): Deed => {
  if (op === "name_firstupdate") return "registered"
  if (kept === undefined) return "updated"
  if (!kept.address && !(before && after)) return after ? "received" : "transferred"
  if (kept.value) return "renewed"
  return value.length === 0 ? "cleared" : "updated"
}

/** Beyond the deed itself, which some readers see beside it. */
export interface DeedDetails {
  /** The new address, where no column of its own shows it. */
  readonly to?: string | undefined
  /** Whether a transfer changes the value, too. */
  readonly changes?: boolean | undefined
}

const PAST: Readonly<Record<Deed, string>> = {
  registered: "registered",
  updated: "value changed",
  renewed: "renewed",
  transferred: "transferred",
  received: "given to you",
  cleared: "value removed"
}

const WAITING: Readonly<Record<Deed, string>> = {
  registered: "registration",
  updated: "value change",
  renewed: "renewal",
  transferred: "transfer",
  received: "transfer to you",
  cleared: "removal of the value"
}

const inWords = (words: typeof PAST, deed: Deed, { changes = false, to }: DeedDetails): string => {
  const isMoved = deed === "transferred" || deed === "received"
  const place = to === undefined || deed !== "transferred" ? "" : ` to ${to}`
  return `${words[deed]}${place}${isMoved && changes ? ", value changed" : ""}`
}

export const deedText = (deed: Deed, details: DeedDetails = {}): string => inWords(PAST, deed, details)

/** The same for an unconfirmed operation. */
export const waitingText = (deed: Deed, details: DeedDetails = {}): string => inWords(WAITING, deed, details)

export interface SetRecord {
  readonly op: NameSetting["op"]
  readonly value: Bytes
  /** The owner's script, without the name prefix. */
  readonly address: Bytes
}

/** Scripts of the same key hash have one address. */
const isSameAddress = (one: Bytes, other: Bytes): boolean => {
  if (equal(one, other)) return true
  const [a, b] = [destinationOf(one), destinationOf(other)]
  return a !== undefined && b !== undefined && equal(scriptOf(a), scriptOf(b))
}

/** An operation and the record that it replaces, if known. */
export interface RecordChange {
  readonly record: SetRecord
  readonly before: Omit<SetRecord, "op"> | undefined
  /** Whether a script is the reader's; `undefined` without a wallet. */
  readonly isMine?: ((script: Bytes) => boolean) | undefined
}

export interface WordedDeed {
  readonly deed: Deed
  readonly changes: boolean
  /** A registration of a name that existed before. */
  readonly again: boolean
}

export const deedOfChange = ({ before, isMine = () => false, record }: RecordChange): WordedDeed => {
  const kept = before && {
    value: equal(record.value, before.value),
    address: isSameAddress(record.address, before.address)
  }
  const mine = before === undefined
    ? NOT_MINE
    : { before: isMine(before.address), after: isMine(record.address) }
  return {
    deed: deedOf(record, kept, mine),
    again: before !== undefined && record.op === "name_firstupdate",
    changes: kept?.value === false
  }
}

const again = ({ again: is, deed }: WordedDeed): string => is && deed === "registered" ? " again" : ""

/** Without the new address, which a column of its own shows. */
export const changeText = (worded: WordedDeed): string =>
  `${deedText(worded.deed, { changes: worded.changes })}${again(worded)}`

export const waitingChangeText = (worded: WordedDeed): string => waitingText(worded.deed, { changes: worded.changes })
