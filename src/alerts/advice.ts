import { actOf } from "../base/outlookWords.ts"
import { cliOf, ownerCommand, type OwnerWord } from "../base/ownerCommands.ts"
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

/** A command for the owner. Other names are in hex, so that no owner can inject a command. */
const commandOf = (word: OwnerWord, name: Bytes, cli: string): string => {
  const text = encodeText(name, "ascii")
  const isPlain = text !== undefined && PLAIN.test(text) && isTyped(text)
  return ownerCommand(cli, word, { hex: toHex(name), text: isPlain ? text : undefined })
}

export const renewalCommand = (name: Bytes, wallet?: string): string => commandOf("renew", name, cliOf(wallet))

/** The owner of a name, as far as a node knows. */
export interface Custody {
  readonly mine: boolean
  readonly renewed: boolean
  /** Its wallet, if several are loaded. */
  readonly wallet?: string | undefined
}

/** What the reader can do to keep the name from expiring. */
export const renewalAdvice = (name: Bytes, { mine, renewed, wallet }: Custody): string => {
  if (!mine) return "No wallet on this node owns the name. Its owner must renew it."
  const command = renewalCommand(name, wallet)
  return renewed
    ? "Its wallet renews it automatically about two weeks before it expires, if the wallet has coins and is unlocked. " +
      `To renew it now: ${command}`
    : `To renew it: ${command}`
}

/** What becomes of a wallet's name, as `outlookText` says it. */
export interface WordedOutlook {
  readonly state: string
  readonly text: string
  /** The transaction of an unconfirmed renewal. */
  readonly txid?: string | undefined
  /** Its wallet, if several are loaded. */
  readonly wallet?: string | undefined
}

const actAdvice = (name: Bytes, { state, txid, wallet }: WordedOutlook): string => {
  const cli = cliOf(wallet)
  switch (actOf(state)) {
    case "unlock":
      return `To unlock the wallet for renewals: ${cli} unlock -renewals`
    case "sign":
      return `${cli} name_renewals shows its PSBT. Sign it on the other machine, and send it with ${cli} sendpsbt PSBT`
    case "fund":
      return `For an address to send coins to: ${cli} receive`
    case "renew":
      return `${state === "failing" ? "To try again" : "To renew it now"}: ${renewalCommand(name, wallet)}`
    case "raise-fee":
      return txid === undefined
        ? "If the transaction stays unconfirmed, raise its fee."
        : `If the transaction stays unconfirmed, raise its fee: ${cli} bumpfee ${txid}`
    case "register":
      return `To register it again: ${commandOf("register", name, cli)}`
    case undefined:
      return ""
  }
}

/** For a notice. Names of the wallets have an outlook. */
export const noticeAdvice = (
  name: Bytes,
  { outlook, pending, ...custody }: Custody & {
    readonly pending: boolean
    readonly outlook?: WordedOutlook | undefined
  }
): string => {
  if (outlook !== undefined) return `It ${escapeUnsafe(outlook.text)}. ${actAdvice(name, outlook)}`.trimEnd()
  return pending
    ? "An operation on it is unconfirmed. If the transaction stays unconfirmed, raise its fee."
    : renewalAdvice(name, custody)
}
