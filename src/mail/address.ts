import * as Either from "effect/Either"
import { formatMailbox, parseMailbox } from "../base/mailbox.ts"

/**
 * The e-mail addresses that names may forward to: those of SMTP (RFC 5321, section 4.1.2; RFC 6531 beyond ASCII), with
 * two exceptions. Forms that no mail server needs are left out: quoted local parts, address literals, domains of one
 * label. Forms that some server behind the upstream server treats as more than an address are left out too: routes
 * (`user%host`, `host!user`), a pipe to a program (`|`), and what a program reads as an option (a leading hyphen).
 */

/** Octets of a local part (RFC 5321, section 4.5.3.1.1). */
const MAX_LOCAL = 64

/** What makes a local part more than the name of a mailbox. */
const MORE_THAN_A_MAILBOX = /[%!|]|^-/

/** Characters that a domain cannot have. The conversion to ASCII would give some of them a meaning, as `%61`. */
const NOT_FOR_DOMAINS = /[^A-Za-z0-9.\x80-\u{10ffff}-]/u

/** Several labels. The last one is not a number, unlike that of an IPv4 address. */
const DOMAIN = /\.(?!\d+$)[^.]+$/

/**
 * Returns an address as an SMTP envelope carries it: the domain in ASCII and lower case. Left: what is wrong with the
 * address, worded to follow it.
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
