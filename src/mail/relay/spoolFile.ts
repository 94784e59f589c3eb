import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { codeOf, type ErrorWords } from "../../base/errorCode.ts"
import { storageUnavailable } from "../../storage/errors.ts"
import { io } from "../../storage/io.ts"
import { Envelope } from "./envelope.ts"

const WORDS: ErrorWords = new Map([["ENOENT", "it is gone"]])

/** Errors that pass without the operator or with more room: the message is deferred and the relay continues. */
const PASSING: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EMFILE", "ENFILE"])

export const isPassing = (error: unknown): boolean => PASSING.has(codeOf(error))

type SpoolWork = Parameters<typeof io>[0]

export const spoolUnavailable = (on: SpoolWork, error: unknown) => storageUnavailable(on, error, WORDS)

export const spoolIo = <A>(on: SpoolWork, work: () => Promise<A>) => io(on, work, WORDS)

/**
 * A message in the spool is one file: a line of fixed length, the message as received, and its envelope as JSON.
 *
 * ```
 * svcd-mail 1 <bytes of the message> <bytes of the envelope> <CRC-32 of both>\n
 * ```
 *
 * Numbers are hexadecimal and padded with zeros. The line is written last, when the message is complete.
 */
export const PROLOGUE_LENGTH = 48

const PROLOGUE = /^svcd-mail 1 ([0-9a-f]{12}) ([0-9a-f]{8}) ([0-9a-f]{8}) {5}\n$/

export interface Prologue {
  readonly bodyLength: number
  readonly envelopeLength: number
  readonly crc: number
}

const hex = (value: number, { digits }: { readonly digits: number }): string => value.toString(16).padStart(digits, "0")

export const encodePrologue = ({ bodyLength, crc, envelopeLength }: Prologue): Buffer =>
  Buffer.from(
    `svcd-mail 1 ${hex(bodyLength, { digits: 12 })} ${hex(envelopeLength, { digits: 8 })} ${
      hex(crc >>> 0, { digits: 8 })
    }     \n`,
    "latin1"
  )

export const decodePrologue = (bytes: Uint8Array): Prologue | undefined => {
  const parts = PROLOGUE.exec(Buffer.from(bytes).toString("latin1"))
  if (parts === null) return undefined
  const [, body = "", envelope = "", crc = ""] = parts
  return {
    bodyLength: Number.parseInt(body, 16),
    envelopeLength: Number.parseInt(envelope, 16),
    crc: Number.parseInt(crc, 16)
  }
}

const decode = Schema.decodeUnknownEither(Schema.parseJson(Envelope))
const encode = Schema.encodeSync(Schema.parseJson(Envelope))

export const encodeEnvelope = (envelope: Envelope): Buffer => Buffer.from(encode(envelope), "utf8")

export const decodeEnvelope = (bytes: Uint8Array): Envelope | undefined =>
  Either.getOrUndefined(decode(Buffer.from(bytes).toString("utf8")))
