import { fromHex, toHex } from "../../protocol/bytes.ts"
import { encodeText } from "../../protocol/nameText.ts"
import type { Json, JsonObject } from "../../rpc/json/json.ts"
import { at, numberAt, objectsOf, textAt } from "./jsonText.ts"

/** Names as a wallet tells them, asked for in hex: then every daemon can write every name and value. */

export const IN_HEX = { options: { nameEncoding: "hex", valueEncoding: "hex" } } as const

/** Bytes that are shown: as UTF-8 where they are, else as hex. */
export interface Shown {
  /** `undefined` where the bytes are no UTF-8. */
  readonly text: string | undefined
  readonly hex: string
}

export const shownBytes = ({ hex, text }: Shown): string => text ?? `0x${hex}`

const readHex = (hex: string | undefined): Shown | undefined => {
  const bytes = hex === undefined ? undefined : fromHex(hex)
  return bytes === undefined ? undefined : { text: encodeText(bytes, "utf8"), hex: toHex(bytes) }
}

export interface NameEntry {
  readonly name: Shown
  /** Missing for a registration that has none yet. */
  readonly value: Shown | undefined
  /** Whether the wallet has the key of the owner. */
  readonly mine: boolean
  /** What the daemon said. */
  readonly said: JsonObject
}

export interface OwnedName extends NameEntry {
  /** Blocks; 0 or less: it has expired. */
  readonly expiresIn: number
}

const entryOf = (said: JsonObject): NameEntry | undefined => {
  const name = readHex(textAt(said, "name"))
  return name && { name, value: readHex(textAt(said, "value")), mine: at(said, "ismine") !== false, said }
}

/** The entries of `name_list` or `name_pending`; what has no name is left out. */
export const entriesOf = (list: Json | undefined): ReadonlyArray<NameEntry> =>
  objectsOf(list).flatMap((said) => entryOf(said) ?? [])

/** The names of `name_list`, those first that expire first. */
export const ownedNames = (list: Json | undefined): ReadonlyArray<OwnedName> =>
  entriesOf(list).flatMap((entry) => {
    const expiresIn = numberAt(entry.said, "expires_in")
    return expiresIn === undefined ? [] : [{ ...entry, expiresIn }]
  }).sort((a, b) => a.expiresIn - b.expiresIn || (a.name.hex < b.name.hex ? -1 : 1))

export const isAlive = ({ expiresIn, mine }: OwnedName): boolean => mine && expiresIn > 0
