/** Replies of smtp-server, as RFC 2034 and RFC 5321 want them. */

/** Commands that get 502: the relay has no users (AUTH), lists no mailboxes (EXPN) and has no help. */
export const UNSUPPORTED: ReadonlyArray<string> = ["AUTH", "EXPN", "HELP"]

/** Commands of smtp-server that the relay switches off: they get 500, as an unknown command does. */
export const HIDDEN: ReadonlyArray<string> = ["WIZ", "SHELL", "KILL", "XCLIENT", "XFORWARD"]

/** Commands for which RFC 5321 4.2.4 wants 502 and not 500. STARTTLS comes here only without a certificate. */
const KNOWN: ReadonlySet<string> = new Set([...UNSUPPORTED, "STARTTLS"])

const UNRECOGNIZED = 500

/** Whether a text begins with a status of RFC 3463. */
const hasStatus = (text: unknown): boolean => typeof text === "string" && /^[245]\.\d{1,3}\.\d{1,3} /.test(text)

/** The part of a connection of smtp-server that is changed. */
interface Replying {
  send: (code: number, text?: string | Array<string> | null, context?: string | false) => void
}

/**
 * Changes what a connection sends. smtp-server 3.21 gives each reply the status of its code alone; a reply of the relay
 * has a more exact one already. And it answers 500 to each command that is switched off.
 */
export const correctReplies = (connection: Replying): void => {
  const send = connection.send.bind(connection)
  connection.send = (code, text, context) => {
    if (code === UNRECOGNIZED && typeof context === "string" && KNOWN.has(context)) {
      send(502, `5.5.1 ${context} is not implemented`, false)
    } else send(code, text, hasStatus(text) ? false : context)
  }
}
