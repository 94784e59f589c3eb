import { domainToASCII } from "node:url"
import { decodeAddress } from "../protocol/address.ts"
import { type Bytes, fromHex, parseDisplayHash } from "../protocol/bytes.ts"
import { type NameKey, nameKey } from "../protocol/keys.ts"
import { decodeText } from "../protocol/nameText.ts"
import type { Network } from "../protocol/networks.ts"

export type FoundPlace =
  | { readonly _tag: "Block"; readonly height: number; readonly hash: Bytes }
  | { readonly _tag: "Transaction"; readonly txid: Bytes }
  | { readonly _tag: "Address"; readonly address: string }

/** By form only, whether or not there is such a block or transaction. */
export type PlaceMeant =
  | { readonly _tag: "Height"; readonly height: number }
  /** Of a block or a transaction, in wire order. */
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

const HEX = /^0x((?:[0-9a-f]{2})+)$/i

/** Without port and path. */
const HOST = /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^/?#:\s]+\.bit)\.?(?::\d+)?(?:[/?#].*)?$/i

/** The last label before `.bit`. */
const domainLabel = (host: string): string => host.slice(0, -".bit".length).split(".").pop() ?? ""

const ASCII = /^[\0-\x7f]*$/

/** In lower case, with letters beyond ASCII in the encoding of DNS. */
const asciiLabel = (label: string): string => {
  const lower = label.toLowerCase()
  if (ASCII.test(lower)) return lower
  // The conversion would make an IP address of a label that looks like a number.
  const host = domainToASCII(`${lower}.bit`)
  return host.endsWith(".bit") ? host.slice(0, -".bit".length) : lower
}

/** `undefined` for a text that is not below a domain. */
export const hostBelow = (text: string): { readonly host: string; readonly domain: string } | undefined => {
  const host = HOST.exec(text.trim())?.[1]
  return host === undefined || host.split(".").length < 3 ? undefined : { host, domain: `${domainLabel(host)}.bit` }
}

const guesses = (typed: string): ReadonlyArray<string> => {
  const host = HOST.exec(typed)?.[1]
  if (host !== undefined) return [`d/${asciiLabel(domainLabel(host))}`]
  if (typed.includes("/")) return [typed.toLowerCase()]
  return [`d/${asciiLabel(typed)}`, `id/${typed.toLowerCase()}`]
}

/**
 * Likeliest first: the text itself; hex after `0x`; the domain of `example.bit`, of a host below it or of an address
 * there; without a namespace, the domain and the identity.
 */
export const namesMeant = (text: string): ReadonlyArray<Bytes> => {
  const typed = text.trim()
  const hex = HEX.exec(typed)?.[1]
  const candidates = [text, typed, ...guesses(typed)].map((each) => decodeText(each, "utf8"))
  const found = new Map<NameKey, Bytes>()
  for (const name of [...candidates, hex === undefined ? undefined : fromHex(hex)]) {
    if (name !== undefined && name.length > 0 && !found.has(nameKey(name))) found.set(nameKey(name), name)
  }
  return [...found.values()]
}
