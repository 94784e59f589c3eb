import type { Reply } from "./envelope.ts"

export type DeliveryOutcome =
  | { readonly _tag: "Delivered"; readonly reply: Reply }
  /** The address, or the message for it, is refused permanently. */
  | { readonly _tag: "Refused"; readonly reply: Reply }
  /** The relay tries again. `uncertain`: the server had the whole message and may have taken it. */
  | { readonly _tag: "Deferred"; readonly reply: Reply; readonly uncertain: boolean }
  | { readonly _tag: "Unreachable"; readonly reply: Reply }

/** Characters of a reply before it is cut. */
const LONGEST_TEXT = 400

/** One line of printable ASCII: foreign servers' replies go into logs and reports. */
export const plainText = (text: string): string => text.replace(/[^\x20-\x7e]+/g, " ").trim().slice(0, LONGEST_TEXT)

const ENHANCED = /^\d{3}[ -](?<status>[245]\.\d{1,3}\.\d{1,3})\b/

/** Without a status of RFC 3463, the reply gets the general one of its class. */
export const replyOf = (code: number, response: string, general = `${Math.floor(code / 100)}.0.0`): Reply => ({
  code,
  status: ENHANCED.exec(response)?.groups?.["status"] ?? general,
  text: plainText(response)
})

export interface SmtpClientFailure {
  readonly message: string
  readonly code?: string | undefined
  /** `CONN` for the connection itself, `API` if nothing was sent. */
  readonly command?: string | undefined
  readonly response?: string | undefined
  readonly responseCode?: number | undefined
}

/** Refusals of this relay, not of the message: the operator must act. */
const NOT_LOGGED_IN: ReadonlySet<number> = new Set([530, 534, 535, 538])

/** A bad command sequence or a closing server concerns the connection. */
const NOT_THE_MESSAGE: ReadonlySet<number> = new Set([421, 503])

/** For a failure between MAIL and the end of the message. `uncertain`: all of it had been sent. */
export const outcomeOfFailure = (failure: SmtpClientFailure, uncertain: boolean): DeliveryOutcome => {
  const { command, response, responseCode } = failure
  if (responseCode === undefined) {
    // The SMTP client itself refuses what the server would refuse.
    if (failure.code === "EMESSAGE") {
      return { _tag: "Refused", reply: { code: 0, status: "5.3.4", text: plainText(failure.message) } }
    }
    if (failure.code === "EENVELOPE") {
      return { _tag: "Refused", reply: { code: 0, status: "5.1.3", text: plainText(failure.message) } }
    }
    if (failure.code === "ESTREAM") {
      const text = "the message could not be read from the spool"
      return { _tag: "Deferred", reply: { code: 0, status: "4.3.0", text }, uncertain: false }
    }
    return {
      _tag: "Deferred",
      reply: { code: 0, status: "4.4.2", text: plainText(failure.message) },
      uncertain: uncertain && command === "CONN"
    }
  }
  const reply = replyOf(responseCode, response ?? "")
  if (NOT_LOGGED_IN.has(responseCode) && command === "MAIL FROM") return { _tag: "Unreachable", reply }
  if (responseCode >= 500 && !NOT_THE_MESSAGE.has(responseCode)) return { _tag: "Refused", reply }
  return { _tag: "Deferred", reply, uncertain: false }
}

/** A failure before MAIL concerns every message. */
export const unreachable = ({ message, response, responseCode }: SmtpClientFailure): DeliveryOutcome => ({
  _tag: "Unreachable",
  reply: responseCode === undefined
    ? { code: 0, status: "4.4.1", text: plainText(message) }
    : { ...replyOf(responseCode, response ?? ""), status: "4.4.1" }
})
