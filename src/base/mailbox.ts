import { domainToASCII } from "node:url"

export interface Mailbox {
  readonly local: string
  /** In lower case and ASCII form; an address literal unchanged. */
  readonly domain: string
}

/** The longest path of RFC 5321 4.5.3.1.3, without its angle brackets. */
const LONGEST_ADDRESS = 254

/** RFC 5321 allows 64. Addresses in use that carry another address (SRS, BATV) are longer. */
const LONGEST_LOCAL = 200

const LONGEST_DOMAIN = 253

/** `dot-atom` of RFC 5322 3.2.3, with the characters beyond ASCII of RFC 6531. */
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u00a0-\\u{10ffff}-]+"
const DOT_ATOM = new RegExp(`^${ATOM}(?:\\.${ATOM})*$`, "u")

/** Characters that hide in an address or end a line: invisible and never intended. */
const UNSAFE = /[\p{C}\p{Z}]/u

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
const HOST_NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)
const LITERAL = /^\[(?:\d{1,3}(?:\.\d{1,3}){3}|IPv6:[0-9A-Fa-f:.]+)\]$/

export const hostName = (text: string): string | undefined => {
  // The conversion drops some invisible characters.
  if (text.length > LONGEST_DOMAIN || UNSAFE.test(text)) return undefined
  const ascii = domainToASCII(text)
  return ascii.length <= LONGEST_DOMAIN && HOST_NAME.test(ascii) ? ascii : undefined
}

/**
 * Parses `local@domain` with an unquoted local part. The result is safe in an SMTP command: without spaces, control
 * characters and brackets, except those of an address literal.
 */
export const parseMailbox = (text: string): Mailbox | undefined => {
  const at = text.lastIndexOf("@")
  if (at < 1 || Buffer.byteLength(text) > LONGEST_ADDRESS) return undefined
  const local = text.slice(0, at)
  if (Buffer.byteLength(local) > LONGEST_LOCAL || !DOT_ATOM.test(local) || UNSAFE.test(local)) return undefined
  const host = text.slice(at + 1)
  const domain = LITERAL.test(host) ? host : hostName(host)
  return domain === undefined ? undefined : { local, domain }
}

export const formatMailbox = ({ domain, local }: Mailbox): string => `${local}@${domain}`

/** RFC 6531. */
export const needsUtf8 = (address: string): boolean => /[^\x00-\x7f]/.test(address)
