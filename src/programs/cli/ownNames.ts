import { quoted } from "../../base/safeText.ts"
import { unicodeDomain } from "../../base/unicodeDomain.ts"
import { fromHex, toHex } from "../../protocol/bytes.ts"
import { encodeText } from "../../protocol/nameText.ts"
import { type Deed, deedOf, deedText, waitingText } from "../../protocol/operationWord.ts"
import type { Json, JsonObject } from "../../rpc/json/json.ts"
import { at, numberAt, objectsOf, textAt } from "./jsonText.ts"

/** The wallet's names, requested in hex, in which every daemon can encode every name and value. */

export const IN_HEX = { options: { nameEncoding: "hex", valueEncoding: "hex" } } as const

/** UTF-8 if valid, else hex. */
export interface Shown {
  readonly text: string | undefined
  readonly hex: string
}

export const shownBytes = ({ hex, text }: Shown): string => text ?? `0x${hex}`

/** An encoded domain is followed by its own script, if safe to show: `d/xn--zrich-kva (zürich.bit)`. */
export const nameWithDomain = (name: Shown): string => {
  const domain = name.text === undefined ? undefined : unicodeDomain(name.text)
  return domain === undefined ? shownBytes(name) : `${shownBytes(name)} (${domain})`
}

const readHex = (hex: string | undefined): Shown | undefined => {
  const bytes = hex === undefined ? undefined : fromHex(hex)
  return bytes === undefined ? undefined : { text: encodeText(bytes, "utf8"), hex: toHex(bytes) }
}

export interface OwnNameEntry {
  readonly name: Shown
  readonly value: Shown | undefined
  readonly mine: boolean
  readonly said: JsonObject
}

export interface OwnedName extends OwnNameEntry {
  /** Blocks; 0 or less if expired. */
  readonly expiresIn: number
}

const entryOf = (said: JsonObject): OwnNameEntry | undefined => {
  const name = readHex(textAt(said, "name"))
  return name && { name, value: readHex(textAt(said, "value")), mine: at(said, "ismine") !== false, said }
}

/** For programs: texts for UTF-8 bytes, always hex, then the daemon's fields. */
export const entryJson = (
  { name, said, value }: OwnNameEntry,
  ...members: ReadonlyArray<string>
): Record<string, Json | undefined> => ({
  name: name.text ?? null,
  name_hex: name.hex,
  value: value === undefined ? undefined : value.text ?? null,
  value_hex: value?.hex,
  ...Object.fromEntries(members.map((member) => [member, at(said, member)]))
})

/** Reads a result of `name_list` or `name_pending`; entries without a name are skipped. */
export const ownNamesOf = (list: Json | undefined): ReadonlyArray<OwnNameEntry> =>
  objectsOf(list).flatMap((said) => entryOf(said) ?? [])

/** A record as a daemon tells it. */
export interface ToldRecord {
  readonly said: Json
  readonly value: Pick<Shown, "hex"> | undefined
}

type SetName = Pick<OwnNameEntry, "name"> & ToldRecord

/** Without a wallet, the daemon does not tell whose an address is. */
const isMine = ({ said }: ToldRecord): boolean => at(said, "ismine") === true

/** `op` is missing in a history, whose first record is a registration. */
const deedOfTold = (record: ToldRecord, before: ToldRecord | undefined): Deed => {
  const op = textAt(record.said, "op") === "name_firstupdate" ? "name_firstupdate" : "name_update"
  return deedOf(
    { op, value: fromHex(record.value?.hex ?? "") ?? new Uint8Array() },
    before && {
      value: before.value?.hex === record.value?.hex,
      address: textAt(before.said, "address") === textAt(record.said, "address")
    },
    { before: before !== undefined && isMine(before), after: isMine(record) }
  )
}

const detailsOf = (record: ToldRecord, before: ToldRecord | undefined) => ({
  to: textAt(record.said, "address"),
  changes: before !== undefined && before.value?.hex !== record.value?.hex
})

/** What the operations of a history did, the oldest first. The first is a registration, as far as the daemon knows. */
export const historyWords = (history: ReadonlyArray<ToldRecord>): ReadonlyArray<string> =>
  history.map((record, index) => {
    const before = history[index - 1]
    // The new owner has a column.
    return before === undefined
      ? deedText("registered")
      : deedText(deedOfTold(record, before), { changes: detailsOf(record, before).changes })
  })

/** What pending operations will have done. `now`: the current names. Operations on one name are in order. */
export const waitingWords = (
  pending: ReadonlyArray<OwnNameEntry>,
  now: ReadonlyArray<SetName>
): ReadonlyArray<string> => {
  const last = new Map<string, ToldRecord>(now.map((entry) => [entry.name.hex, entry]))
  return pending.map((entry) => {
    const op = textAt(entry.said, "op")
    if (op !== "name_firstupdate" && op !== "name_update") return op ?? ""
    const before = last.get(entry.name.hex)
    last.set(entry.name.hex, entry)
    // Every update of the wallet's own names has the one before.
    const deed = before === undefined && op === "name_update" && isMine(entry) ? "received" : deedOfTold(entry, before)
    return waitingText(deed, detailsOf(entry, before))
  })
}

export const ownedNames = (list: Json | undefined): ReadonlyArray<OwnedName> =>
  ownNamesOf(list).flatMap((entry) => {
    const expiresIn = numberAt(entry.said, "expires_in")
    return expiresIn === undefined ? [] : [{ ...entry, expiresIn }]
  }).sort((a, b) => a.expiresIn - b.expiresIn || (a.name.hex < b.name.hex ? -1 : 1))

const hexOf = (answer: Json | undefined, list: "names" | "except"): ReadonlySet<string> =>
  new Set(answer === undefined ? [] : ownNamesOf(at(answer, list)).map(({ name }) => name.hex))

/** `undefined` without an answer of `name_autorenew`. */
export const renewalOf = (answer: Json | undefined): ((name: Shown) => boolean) | undefined => {
  if (answer === undefined) return undefined
  const names = hexOf(answer, "names")
  if (!renewsAll(answer)) return ({ hex }) => names.has(hex)
  const isOff = switchedOff(answer)
  return (name) => names.has(name.hex) || !isOff(name)
}

/** Names excluded from renewal, from the answer of `name_autorenew`: `renew -within` skips them. */
export const switchedOff = (answer: Json | undefined): (name: Shown) => boolean => {
  const except = hexOf(answer, "except")
  return ({ hex }) => except.has(hex)
}

/** Ignores the names that the owner excluded. */
export const renewsAll = (answer: Json | undefined): boolean => answer !== undefined && at(answer, "all") === true

/** As `-rpcwallet` names them: the default one is the empty text. */
export const walletList = (names: ReadonlyArray<string>): string =>
  names.map((name) => `${quoted(name)}${name === "" ? " (wallet.json)" : ""}`).join(", ")

export const RENEWALS_IN_HEX = { options: { nameEncoding: "hex" } } as const

export const isAlive = ({ expiresIn, mine }: OwnedName): boolean => mine && expiresIn > 0
