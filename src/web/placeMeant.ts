import { decodeAddress } from "../protocol/address.ts"
import { type Bytes, parseDisplayHash } from "../protocol/bytes.ts"
import type { Network } from "../protocol/networks.ts"

export type FoundPlace =
  | { readonly _tag: "Block"; readonly height: number; readonly hash: Bytes }
  | { readonly _tag: "Transaction"; readonly txid: Bytes }
  | { readonly _tag: "Address"; readonly address: string }

/** By form only, whether or not there is such a block or transaction. */
export type PlaceMeant =
  | { readonly _tag: "Height"; readonly height: number }
  /** The hash of a block or a transaction, in wire order. */
  | { readonly _tag: "Hash"; readonly hash: Bytes }
  | { readonly _tag: "Address"; readonly address: string }

/** With or without separators: `1234`, `1,234`, `#1234`. */
const HEIGHT = /^#?(\d{1,9}|\d{1,3}(?:[,.' ]\d{3}){1,2})$/

export const placeMeant = (text: string, network: Network): PlaceMeant | undefined => {
  const typed = text.trim()
  const height = HEIGHT.exec(typed)?.[1]
  if (height !== undefined) return { _tag: "Height", height: Number(height.replaceAll(/\D/g, "")) }
  const hash = parseDisplayHash(typed.toLowerCase().replace(/^0x/, ""))
  if (hash !== undefined) return { _tag: "Hash", hash }
  return "error" in decodeAddress(network, typed) ? undefined : { _tag: "Address", address: typed }
}
