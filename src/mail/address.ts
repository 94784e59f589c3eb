import * as Either from "effect/Either"
import { formatMailbox, parseMailbox } from "../base/mailbox.ts"

/**
 * E-mail addresses that names may forward to: SMTP's (RFC 5321, section 4.1.2; RFC 6531 beyond ASCII) without two
 * kinds. Excluded are forms that no mail server needs (quoted local parts, address literals, domains of one label), and
 * forms that some server may treat as more than an address (`user%host`, `host!user`, `|`, a leading hyphen).
 */

/** Octets (RFC 5321, section 4.5.3.1.1). */
const MAX_LOCAL = 64

/** What makes a local part more than the name of a mailbox. */
const MORE_THAN_A_MAILBOX = /[%!|]|^-/

/** Conversion to ASCII would give some of these a meaning, such as `%61`. */
const NOT_FOR_DOMAINS = /[^A-Za-z0-9.\x80-\u{10ffff}-]/u

/** Several labels, the last one not a number as in an IPv4 address. */
const DOMAIN = /\.(?!\d+$)[^.]+$/

/**
 * As an SMTP envelope carries it: the domain in ASCII and lower case. Left: the problem, worded to follow the address.
 */
export const parseMailAddress = (text: string): Either.Either<string, string> => {
  const at = text.lastIndexOf("@")
  if (at < 0) return Either.left("is not an e-mail address: it has no @")
  if (Buffer.byteLength(text.slice(0, at)) > MAX_LOCAL) {
    return Either.left(`has more than ${MAX_LOCAL} bytes before its @`)
  }
  if (MORE_THAN_A_MAILBOX.test(text.slice(0, at))) {
    return Either.left("cannot be forwarded to: it has %, ! or | before its @, or begins with a hyphen")
  }
  const mailbox = NOT_FOR_DOMAINS.test(text.slice(at + 1)) ? undefined : parseMailbox(text.normalize("NFC"))
  if (mailbox === undefined) return Either.left("is not an e-mail address")
  return DOMAIN.test(mailbox.domain)
    ? Either.right(formatMailbox(mailbox))
    : Either.left("is not an e-mail address: the part after @ is not the domain of a mail server")
}
