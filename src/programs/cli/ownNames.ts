import { quoted } from "../../base/safeText.ts"
import { unicodeDomain } from "../../base/unicodeDomain.ts"
import { fromHex, toHex } from "../../protocol/bytes.ts"
import { encodeText } from "../../protocol/nameText.ts"
import { plainWord, updateWord, waitingWord } from "../../protocol/operationWord.ts"
import type { Json, JsonObject } from "../../rpc/json/json.ts"
import { at, numberAt, objectsOf, textAt } from "./jsonText.ts"

/** The names of a wallet, requested in hex: every daemon can encode every name and value so. */

export const IN_HEX = { options: { nameEncoding: "hex", valueEncoding: "hex" } } as const

/** Bytes to show: as UTF-8 if valid, else as hex. */
export interface Shown {
  /** `undefined` for bytes that are not UTF-8. */
  readonly text: string | undefined
  readonly hex: string
}

export const shownBytes = ({ hex, text }: Shown): string => text ?? `0x${hex}`

/** A name, and beside an encoded domain the same in its own script, where that is safe to show: `d/xn--zrich-kva (zürich.bit)`. */
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
  /** Missing for a registration that has none yet. */
  readonly value: Shown | undefined
  /** Whether the wallet has the key of the owner. */
  readonly mine: boolean
  /** The daemon's entry. */
  readonly said: JsonObject
}

export interface OwnedName extends OwnNameEntry {
  /** Blocks; 0 or less: it has expired. */
  readonly expiresIn: number
}

const entryOf = (said: JsonObject): OwnNameEntry | undefined => {
  const name = readHex(textAt(said, "name"))
  return name && { name, value: readHex(textAt(said, "value")), mine: at(said, "ismine") !== false, said }
}

/** An entry for programs: texts for UTF-8 bytes, hex in any case; then the daemon's fields. */
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

/** The entries of `name_list` or `name_pending`; entries without a name are left out. */
export const ownNamesOf = (list: Json | undefined): ReadonlyArray<OwnNameEntry> =>
  objectsOf(list).flatMap((said) => entryOf(said) ?? [])

/** A name with what an operation set. */
type SetName = Pick<OwnNameEntry, "name" | "value"> & { readonly said: Json }

/** The owner's address and the value, as the daemon says them. */
const settingOf = ({ said, value }: SetName) => ({ address: textAt(said, "address"), value: value?.hex })

/**
 * What operations that wait for a block will have done, one for each, in the words of the pages. `now`: the names as they are.
 * Operations on one name come in their order.
 */
export const waitingWords = (
  pending: ReadonlyArray<OwnNameEntry>,
  now: ReadonlyArray<SetName>
): ReadonlyArray<string> => {
  const last = new Map(now.map((entry) => [entry.name.hex, settingOf(entry)]))
  return pending.map((entry) => {
    const [before, after] = [last.get(entry.name.hex), settingOf(entry)]
    last.set(entry.name.hex, after)
    switch (textAt(entry.said, "op")) {
      case "name_firstupdate":
        return waitingWord(plainWord("name_firstupdate"))
      case "name_update":
        return waitingWord(
          before === undefined
            ? plainWord("name_update")
            : updateWord({
              value: before.value === after.value,
              owner: after.address === undefined || before.address === after.address
            })
        )
      default:
        return textAt(entry.said, "op") ?? ""
    }
  })
}

/** The names of `name_list`, the earliest expiry first. */
export const ownedNames = (list: Json | undefined): ReadonlyArray<OwnedName> =>
  ownNamesOf(list).flatMap((entry) => {
    const expiresIn = numberAt(entry.said, "expires_in")
    return expiresIn === undefined ? [] : [{ ...entry, expiresIn }]
  }).sort((a, b) => a.expiresIn - b.expiresIn || (a.name.hex < b.name.hex ? -1 : 1))

const hexOf = (answer: Json | undefined, list: "names" | "except"): ReadonlySet<string> =>
  new Set(answer === undefined ? [] : ownNamesOf(at(answer, list)).map(({ name }) => name.hex))

/** Which names the wallet renews by itself, from the answer of `name_autorenew`; `undefined` without one. */
export const renewalOf = (answer: Json | undefined): ((name: Shown) => boolean) | undefined => {
  if (answer === undefined) return undefined
  const names = hexOf(answer, "names")
  if (!renewsAll(answer)) return ({ hex }) => names.has(hex)
  const isOff = switchedOff(answer)
  return (name) => names.has(name.hex) || !isOff(name)
}

/** Which names the owner switched off, from the answer of `name_autorenew`: `renew -within` leaves them out. */
export const switchedOff = (answer: Json | undefined): (name: Shown) => boolean => {
  const except = hexOf(answer, "except")
  return ({ hex }) => except.has(hex)
}

/** Whether the wallet renews all names but those that the owner switched off, from the answer of `name_autorenew`. */
export const renewsAll = (answer: Json | undefined): boolean => answer !== undefined && at(answer, "all") === true

/** Wallets as `-rpcwallet` names them: the default one is the empty text. */
export const walletList = (names: ReadonlyArray<string>): string =>
  names.map((name) => `${quoted(name)}${name === "" ? " (wallet.json)" : ""}`).join(", ")

/** The parameters of `name_autorenew` that change nothing, with names in hex. */
export const RENEWALS_IN_HEX = { options: { nameEncoding: "hex" } } as const

export const isAlive = ({ expiresIn, mine }: OwnedName): boolean => mine && expiresIn > 0
