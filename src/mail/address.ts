import * as Either from "effect/Either"
import { formatMailbox, parseMailbox } from "./relay/mailbox.ts"

/**
 * The e-mail addresses that names may forward to: those of SMTP (RFC 5321, section 4.1.2; RFC 6531 beyond ASCII),
 * without what nobody forwards to: quoted local parts, address literals, domains of one label; and without what some
 * servers behind the upstream one take for more than an address: routes (`user%host`, `host!user`), a pipe to a program
 * (`|`), and what a program would read as an option (a hyphen in front).
 */

/** Octets of a local part (RFC 5321, section 4.5.3.1.1). */
const MAX_LOCAL = 64

/** What makes more of a local part than the name of a mailbox. */
const MORE_THAN_A_MAILBOX = /[%!|]|^-/

/** What a domain cannot have. Its conversion to ASCII would give a meaning to some of it, as to `%61`. */
const NOT_FOR_DOMAINS = /[^A-Za-z0-9.\x80-\u{10ffff}-]/u

/** Several labels; the last one is no number, as that of an IPv4 address is. */
const DOMAIN = /\.(?!\d+$)[^.]+$/

/**
 * Returns an address as it goes into an SMTP envelope, the domain in ASCII and lower case; or on the left what is wrong
 * with it, to be put behind the address.
 */
export const parseAddress = (text: string): Either.Either<string, string> => {
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
    : Either.left("is not an e-mail address: what stands behind its @ is not the domain of a mail server")
}
