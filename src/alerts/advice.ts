import { escapeUnsafe } from "../base/safeText.ts"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import { type Bytes, toHex } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"

/** What texts for owners (calendars, mail) say about a name: how it is shown, and how it is renewed. */

/** Bytes that are shown of a name that is longer than the rules allow: a coinbase can write one. */
const SHOWN_BYTES = 64

/** Returns a name as text on one line: UTF-8 with escaped control and format characters; other bytes as `0x` and hex. */
export const nameLine = (name: Bytes): string => {
  if (name.length > MAX_NAME_LENGTH) return `0x${toHex(name.subarray(0, SHOWN_BYTES))}… (${name.length} bytes)`
  const text = encodeText(name, "utf8")
  return text === undefined ? `0x${toHex(name)}` : escapeUnsafe(text)
}

/** Names that every shell takes as they are between single quotes, and JSON between double quotes. */
const PLAIN = /^[a-z0-9][a-z0-9/._-]*$/i

/** Returns the command that renews a name. The owner of a name cannot make it run anything else: other names are in hex. */
export const renewalCommand = (name: Bytes): string => {
  const text = encodeText(name, "ascii")
  return text !== undefined && PLAIN.test(text)
    ? `svcd-cli name_renew '["${text}"]'`
    : `svcd-cli name_renew '["${toHex(name)}"]' '{"nameEncoding":"hex"}'`
}

/** Whose a name is, as far as a node knows. */
export interface Custody {
  /** Whether a loaded wallet has it. */
  readonly mine: boolean
  /** Whether that wallet renews it by itself. */
  readonly renewed: boolean
}

/** Returns what the reader can do so that the name does not expire. */
export const renewalAdvice = (name: Bytes, { mine, renewed }: Custody): string => {
  if (!mine) return "No wallet of this node has it: its owner has to renew it."
  const command = renewalCommand(name)
  return renewed
    ? "Its wallet renews it by itself two weeks before, if the wallet has coins and is not locked. " +
      `To renew it at once: ${command}`
    : `To renew it: ${command}`
}

/** The same for a notice, which a name that its wallet renews gets only if the renewal is late. */
export const noticeAdvice = (name: Bytes, custody: Custody & { readonly pending: boolean }): string => {
  if (custody.pending) return "An operation on it waits for a block. If it stays there, raise its fee."
  return custody.mine && custody.renewed
    ? "Its wallet should have renewed it, and has not: unlock the wallet, or send coins to it. " +
      `To renew it at once: ${renewalCommand(name)}`
    : renewalAdvice(name, custody)
}
