import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { decodeBase64, encodeBase64 } from "../../protocol/base64.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { wireNameText } from "../wire/name.ts"
import type { WireName } from "../wire/name.ts"
import { ALGORITHM, dnskeyOf, keyTag, type ZoneKey, zoneKeyOf } from "./zoneKey.ts"

/** Files of keys, one for each (docs/data-directory.md): `Kbit.+013+12345.json`. */

const KeyFile = Schema.parseJson(Schema.Struct({
  version: Schema.Literal(1),
  zone: Schema.String,
  algorithm: Schema.Literal(ALGORITHM),
  /** Seconds since 1970. */
  created: Schema.Int.pipe(Schema.nonNegative()),
  public: Schema.String,
  private: Schema.String
}))

/** A file of a key has about 300 bytes. */
export const LONGEST_KEY_FILE = 4_096

/** The name that BIND gives the files of such a key. */
export const keyFileName = (zone: WireName, key: ZoneKey): string =>
  `K${wireNameText(zone)}+0${ALGORITHM}+${String(keyTag(dnskeyOf(key))).padStart(5, "0")}.json`

export const isKeyFileName = (filename: string): boolean => filename.startsWith("K") && filename.endsWith(".json")

export const printKeyFile = (zone: WireName, secret: Bytes, key: ZoneKey): string =>
  `${
    JSON.stringify({
      version: 1,
      zone: wireNameText(zone),
      algorithm: ALGORITHM,
      created: key.created,
      public: encodeBase64(key.public),
      private: encodeBase64(secret)
    })
  }\n`

/** The key of a file, or what is wrong with it. */
export const readKeyFile = (text: string, zone: WireName): ZoneKey | string => {
  const file = Option.getOrUndefined(Schema.decodeUnknownOption(KeyFile)(text))
  if (file === undefined) return "it is not complete"
  if (file.zone !== wireNameText(zone)) return `it is of the zone ${file.zone}`
  const secret = decodeBase64(file.private)
  const key = secret && zoneKeyOf(secret, file.created)
  if (key === undefined) return "it has no private key of P-256"
  const expected = decodeBase64(file.public)
  return expected !== undefined && equal(expected, key.public) ? key : "its private key belongs to another public key"
}
