import { below, type Random } from "../../base/random.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { decodedIf } from "../../protocol/Reader.ts"
import type { Question } from "../answer.ts"
import { CLASSES, FLAGS, opcodeOf, OPCODES } from "../wire/codes.ts"
import { type DnsMessage, readMessage } from "../wire/message.ts"
import { MessageWriter } from "../wire/MessageWriter.ts"
import { lowerCaseName, type WireName } from "../wire/name.ts"

// Questions to other servers, and which messages answer them. Pure but for the random numbers it is given.

/** Bytes of UDP that fit into one packet nearly everywhere (DNS flag day 2020). */
const UDP_SIZE = 1232

/** RFC 8467, section 4.1: queries over TLS have a multiple of this length. */
const PADDED_TO = 128

export interface ForeignQuery {
  readonly bytes: Bytes
  readonly question: Question
  /** The question's name with capitals at random. */
  readonly asked: WireName
}

export interface QueryFlags {
  /** RD: the server is a resolver, not one of a delegated name. */
  readonly recursion: boolean
  readonly dnssec: boolean
  readonly checkingDisabled: boolean
  /** Whether the length is hidden, as encrypted queries need it. */
  readonly isPadded: boolean
}

/** Capitals that an attacker off the path has to guess (draft-vixie-dnsext-dns0x20). */
const withRandomLetters = (name: WireName, random: Random): WireName =>
  name.replace(/[a-z]/g, (letter) => random() < 0.5 ? letter : letter.toUpperCase()) as WireName

const writer = new MessageWriter()

export const foreignQuery = (question: Question, flags: QueryFlags, random: Random): ForeignQuery => {
  const asked = withRandomLetters(question.name, random)
  const bits = (flags.recursion ? FLAGS.RD : 0) | (flags.checkingDisabled ? FLAGS.CD : 0)
  writer.start({
    id: below(random, 0x10000),
    flags: bits,
    question: { asked, type: question.type, class: CLASSES.IN }
  })
  const padding = flags.isPadded ? { padTo: PADDED_TO } : {}
  writer.opt({ size: UDP_SIZE, extendedRcode: 0, dnssec: flags.dnssec, options: [], ...padding })
  return { bytes: writer.bytes(), question, asked }
}

export interface FittingAnswer {
  readonly message: DnsMessage
  /** Whether its question has our capitals. Otherwise it may be forged, or the server changes letters. */
  readonly hasLetters: boolean
}

/** `undefined` for a message that does not answer the query by its id, its kind, or its question. */
export const answerTo = ({ asked, bytes, question }: ForeignQuery, answer: Bytes): FittingAnswer | undefined => {
  if (answer[0] !== bytes[0] || answer[1] !== bytes[1]) return undefined
  const message = decodedIf(() => readMessage(answer))
  const [repeated, ...more] = message?.questions ?? []
  if (message === undefined || repeated === undefined || more.length > 0) return undefined
  const fits = (message.flags & FLAGS.QR) !== 0 && opcodeOf(message.flags) === OPCODES.QUERY &&
    repeated.type === question.type && repeated.class === CLASSES.IN && lowerCaseName(repeated.asked) === question.name
  return fits ? { message, hasLetters: repeated.asked === asked } : undefined
}
