import { escapeUnsafe } from "../base/safeText.ts"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import { type Bytes, toHex } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"
import { readName } from "../values/readName.ts"

/** What texts for owners (calendars, mail) say about a name: its form, and how to renew it. */

/** Bytes shown of a name beyond the rules, which a coinbase can write. */
const SHOWN_BYTES = 64

/** A name as one line of text: UTF-8 with escaped control and format characters, other bytes as `0x` and hex. */
export const nameLine = (name: Bytes): string => {
  if (name.length > MAX_NAME_LENGTH) return `0x${toHex(name.subarray(0, SHOWN_BYTES))}… (${name.length} bytes)`
  const text = encodeText(name, "utf8")
  return text === undefined ? `0x${toHex(name)}` : escapeUnsafe(text)
}

/** Names that are literal in every shell between single quotes, and in JSON between double quotes. */
const PLAIN = /^[a-z0-9][a-z0-9/._-]*$/i

/** Whether the command, which takes names as people type them, reads this one as it is. */
const isTyped = (text: string): boolean => {
  const reading = readName(text)
  return reading._tag === "Read" && reading.text === text
}

/** The command that renews a name. Other names are in hex, so that no owner can inject a command. */
export const renewalCommand = (name: Bytes): string => {
  const text = encodeText(name, "ascii")
  return text !== undefined && PLAIN.test(text) && isTyped(text)
    ? `svcd-cli renew ${text}`
    : `svcd-cli name_renew '["${toHex(name)}"]' '{"nameEncoding":"hex"}'`
}

/** The owner of a name, as far as a node knows. */
export interface Custody {
  readonly mine: boolean
  readonly renewed: boolean
}

/** What the reader can do to keep the name from expiring. */
export const renewalAdvice = (name: Bytes, { mine, renewed }: Custody): string => {
  if (!mine) return "No wallet of this node has it, so its owner must renew it."
  const command = renewalCommand(name)
  return renewed
    ? "Its wallet renews it automatically two weeks before, if the wallet has coins and is unlocked. " +
      `To renew it at once: ${command}`
    : `To renew it: ${command}`
}

/** The same for a notice, which an automatically renewed name gets only if the renewal is late. */
export const noticeAdvice = (name: Bytes, custody: Custody & { readonly pending: boolean }): string => {
  if (custody.pending) return "An operation on it is unconfirmed. If it stays so, raise its fee."
  return custody.mine && custody.renewed
    ? "Its wallet should have renewed it but has not. Unlock the wallet with \"svcd-cli unlock -renewals\", or send coins to it. " +
      `To renew it at once: ${renewalCommand(name)}`
    : renewalAdvice(name, custody)
}
