import { expirationDepth } from "../consensus/expiry.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { addressOf } from "../protocol/address.ts"
import { type Bytes, displayHash, toHex } from "../protocol/bytes.ts"
import { addressScript } from "../protocol/nameOperation.ts"
import { encodeText } from "../protocol/nameText.ts"
import { NotSynced } from "./errors.ts"
import type { Freshness, NameRecord, ResolveOptions } from "./NameClient.ts"

/** Records as applications see them. */

/** A record of the chain, in bytes. */
export interface ChainRecord {
  readonly name: Bytes
  readonly value: Bytes
  /** The script behind the name prefix. */
  readonly address: Bytes
  /** Wire order. */
  readonly txid: Bytes
  readonly height: number
}

/** The parts of a record that stay as they are while blocks come. */
export type FixedPart = Pick<NameRecord, "name" | "value" | "valueHex" | "address" | "txid" | "height">

const lossyUtf8 = new TextDecoder("utf-8", { ignoreBOM: true })

/** A value as text; with its digits where it is none. */
export const valueText = (value: Bytes): Pick<NameRecord, "value" | "valueHex"> => {
  const text = encodeText(value, "utf8")
  return text === undefined ? { value: lossyUtf8.decode(value), valueHex: toHex(value) } : { value: text }
}

/** `undefined` for a name that is no UTF-8. */
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

/** The record as it is at a tip. */
export const recordAt = (fixed: FixedPart, asOf: Freshness, params: ConsensusParams): NameRecord => {
  const expiresIn = fixed.height + expirationDepth(asOf.height, params) - asOf.height
  return { ...fixed, expiresIn, expired: expiresIn <= 0, asOf }
}

/** Why an answer is not good enough for the caller; `undefined` where it is. */
export const tooOld = (asOf: Freshness, { minHeight, requireSynced }: ResolveOptions): NotSynced | undefined =>
  requireSynced === true && !asOf.synced || minHeight !== undefined && asOf.height < minHeight
    ? new NotSynced({ height: asOf.height })
    : undefined
