import { domainToASCII } from "node:url"
import { binaryString, type Bytes, fromHex } from "../protocol/bytes.ts"
import { decodeText } from "../protocol/nameText.ts"

/** What a person may mean by what was typed into the search field. */

const HEX = /^0x((?:[0-9a-f]{2})+)$/i

/** The host of an address, without port and path. */
const HOST = /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^/?#:\s]+\.bit)\.?(?::\d+)?(?:[/?#].*)?$/i

/** The label that stands for a domain: the last one before `.bit`. */
const domainLabel = (host: string): string => host.slice(0, -".bit".length).split(".").pop() ?? ""

const ASCII = /^[\0-\x7f]*$/

/** A label as names have it: in lower case, with other letters than those of ASCII in the way that DNS writes them. */
const asciiLabel = (label: string): string => {
  const lower = label.toLowerCase()
  if (ASCII.test(lower)) return lower
  // Of a label alone that looks like a number, an address would be made.
  const host = domainToASCII(`${lower}.bit`)
  return host.endsWith(".bit") ? host.slice(0, -".bit".length) : lower
}

const guesses = (typed: string): ReadonlyArray<string> => {
  const host = HOST.exec(typed)?.[1]
  if (host !== undefined) return [`d/${asciiLabel(domainLabel(host))}`]
  if (typed.includes("/")) return [typed.toLowerCase()]
  return [`d/${asciiLabel(typed)}`, `id/${typed.toLowerCase()}`]
}

/**
 * The names that a text may stand for, the likeliest first: the text itself; hex bytes behind `0x`; the domain of
 * `example.bit`, of a host below it or of an address there; without a namespace, the domain and the identity.
 */
export const namesMeant = (text: string): ReadonlyArray<Bytes> => {
  const typed = text.trim()
  const hex = HEX.exec(typed)?.[1]
  const candidates = [text, typed, ...guesses(typed)].map((each) => decodeText(each, "utf8"))
  const found = new Map<string, Bytes>()
  for (const name of [...candidates, hex === undefined ? undefined : fromHex(hex)]) {
    if (name !== undefined && name.length > 0 && !found.has(binaryString(name))) found.set(binaryString(name), name)
  }
  return [...found.values()]
}
