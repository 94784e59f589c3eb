/** smtp-server's replies, adapted to RFC 2034 and RFC 5321. */

/** A 4xx or 5xx reply. The text begins with a status of RFC 3463. */
export class Rejection extends Error {
  readonly responseCode: number

  constructor(responseCode: number, text: string) {
    super(text)
    this.responseCode = responseCode
  }

  get forGood(): boolean {
    return this.responseCode >= 500
  }
}

export const rejections = {
  stopping: () => new Rejection(421, "4.3.2 The relay is stopping, try again later"),
  tooManyConnections: () => new Rejection(421, "4.7.0 Too many connections from your address"),
  tooManyMessages: () => new Rejection(451, "4.7.1 Too many messages from your address, try again later"),
  tooManyRefusals: () => new Rejection(421, "4.7.1 Too many recipients that there are none of, try again later"),
  spoolFull: () => new Rejection(452, "4.3.1 The relay has no room for the message, try again later"),
  spoolBroken: () => new Rejection(451, "4.3.0 The message cannot be stored, try again later"),
  badSender: () => new Rejection(553, "5.1.7 The sender's address is not one that bounces can be sent to"),
  senderTooLong: () => new Rejection(553, "5.1.7 The sender's address is too long to be forwarded"),
  noRelaying: () => new Rejection(550, "5.7.1 Mail for this domain is not taken here"),
  noSuchRecipient: () => new Rejection(550, "5.1.1 No such recipient here"),
  badBounce: () => new Rejection(550, "5.1.1 No such recipient here: the address was not made here, or has ended"),
  notABounce: () => new Rejection(550, "5.7.1 This address takes only bounces, which have no sender"),
  lookupFailed: () => new Rejection(451, "4.4.3 The name cannot be looked up, try again later"),
  tooLarge: (limit: number) => new Rejection(552, `5.3.4 The message is larger than ${limit} bytes`),
  tooManyHops: () => new Rejection(554, "5.4.6 The message has passed too many servers: it goes round in circles"),
  loop: () => new Rejection(554, "5.4.6 The message has been here before: it goes round in circles"),
  bareLineEnd: () => new Rejection(550, "5.6.0 Lines have to end in CR LF: the message has one that does not"),
  hasNul: () => new Rejection(550, "5.6.0 The message has a NUL byte, which no server may send"),
  unknownParameter: () => new Rejection(555, "5.5.4 Unknown command parameter"),
  badHeader: () => new Rejection(550, "5.6.0 The message begins in the middle of a header field")
} as const

/** These get 502: the relay has no users (AUTH), lists no mailboxes (EXPN) and has no help. */
export const UNSUPPORTED: ReadonlyArray<string> = ["AUTH", "EXPN", "HELP"]

/** Commands of smtp-server that are switched off and get 500, like unknown ones. */
export const HIDDEN: ReadonlyArray<string> = ["WIZ", "SHELL", "KILL", "XCLIENT", "XFORWARD"]

/** RFC 5321 4.2.4 wants 502 for these. STARTTLS comes here only without a certificate. */
const KNOWN: ReadonlySet<string> = new Set([...UNSUPPORTED, "STARTTLS"])

const UNRECOGNIZED = 500

const hasStatus = (text: unknown): boolean => typeof text === "string" && /^[245]\.\d{1,3}\.\d{1,3} /.test(text)

interface Replying {
  send: (code: number, text?: string | Array<string> | null, context?: string | false) => void
}

/** smtp-server 3.21 replaces exact statuses with the code's general one, and answers 500 to disabled commands. */
export const correctReplies = (connection: Replying): void => {
  const send = connection.send.bind(connection)
  connection.send = (code, text, context) => {
    if (code === UNRECOGNIZED && typeof context === "string" && KNOWN.has(context)) {
      send(502, `5.5.1 ${context} is not implemented`, false)
    } else send(code, text, hasStatus(text) ? false : context)
  }
}
