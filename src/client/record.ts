import type { ConsensusParams } from "../consensus/params.ts"
import { blocksToExpiry } from "../names/NameEntry.ts"
import { addressOf } from "../protocol/address.ts"
import { type Bytes, displayHash } from "../protocol/bytes.ts"
import { addressScript } from "../protocol/nameOperation.ts"
import { encodeText, textOrHex } from "../protocol/nameText.ts"
import { type FixedPart, type Freshness, type NameRecord, recordOf } from "./records.ts"

export interface ChainRecord {
  readonly name: Bytes
  readonly value: Bytes
  /** The script after the name prefix. */
  readonly address: Bytes
  /** In wire order. */
  readonly txid: Bytes
  readonly height: number
}

export const valueText = (value: Bytes): Pick<NameRecord, "value" | "valueHex"> => {
  const { hex, text } = textOrHex(value)
  return hex === undefined ? { value: text } : { value: text, valueHex: hex }
}

/** `undefined` if the name is not UTF-8. */
export const fixedPart = (record: ChainRecord, { network }: ConsensusParams): FixedPart | undefined => {
  const name = encodeText(record.name, "utf8")
  if (name === undefined) return undefined
  return {
    name,
    ...valueText(record.value),
    address: addressOf(network, addressScript(record.address)) ?? "",
    txid: displayHash(record.txid),
    height: record.height
  }
}

export const recordAt = (fixed: FixedPart, asOf: Freshness, params: ConsensusParams): NameRecord => {
  const expiresIn = blocksToExpiry(fixed, { tipHeight: asOf.height, params })
  return recordOf(fixed, { expiresIn, expired: expiresIn <= 0, asOf })
}
