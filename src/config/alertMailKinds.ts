import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type Address, formatHostPort, parseHostPort } from "../base/addresses.ts"
import { formatMailbox, needsUtf8, parseMailbox } from "../base/mailbox.ts"
import { percentDecoded, quoted } from "../base/safeText.ts"
import { fromText, type OptionKind, textKind } from "./kinds.ts"

/** Messages never contain the text of a server, which may include a password. */

export interface AlertMailServer {
  readonly address: Address
  /** Whether TLS begins with the first byte (`smtps:`); otherwise with STARTTLS. */
  readonly isImplicit: boolean
  readonly credentials: { readonly user: string; readonly password: Redacted.Redacted<string> } | undefined
}

/** Submission (RFC 6409, RFC 8314). */
const PORTS = { "smtp:": 587, "smtps:": 465 } as const

const isScheme = (text: string): text is keyof typeof PORTS => text in PORTS

const EXAMPLE = "write for example smtps://user:password@mail.example.org"

const LONGEST_SERVER = 2_048

/** A line end in a user or password would add a command. */
const isOneLine = (text: string): boolean => !/[\p{Cc}]/u.test(text)

const readServer = (text: string): Either.Either<AlertMailServer, string> => {
  const url = text.length <= LONGEST_SERVER && URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) return Either.left(`is not a URL; ${EXAMPLE}, with %40 for an @ in the user or the password`)
  const { hostname, password, port, protocol, username } = url
  if (!isScheme(protocol)) return Either.left(`does not begin with smtp: or smtps:; ${EXAMPLE}`)
  if (!["", "/"].includes(url.pathname) || url.search !== "" || url.hash !== "") {
    return Either.left(`has more than a host and a port; ${EXAMPLE}`)
  }
  const address = parseHostPort(`${hostname}:${port === "" ? PORTS[protocol] : port}`, "required")
  if (Either.isLeft(address)) return Either.left(`has no host; ${EXAMPLE}`)
  if ((username === "") !== (password === "")) {
    return Either.left("has a user without a password, or a password without a user; give both or neither")
  }
  const [user, pass] = [percentDecoded(username), percentDecoded(password)]
  if (user === undefined || pass === undefined || !isOneLine(user) || !isOneLine(pass)) {
    return Either.left("has a user or a password that is not percent-encoded text; write %25 for a per cent sign")
  }
  return Either.right({
    address: address.right,
    isImplicit: protocol === "smtps:",
    credentials: username === "" ? undefined : { user, password: Redacted.make(pass) }
  })
}

const writeServer = ({ address, credentials, isImplicit }: AlertMailServer): string => {
  const login = credentials === undefined
    ? ""
    : `${encodeURIComponent(credentials.user)}:${encodeURIComponent(Redacted.value(credentials.password))}@`
  return `${isImplicit ? "smtps" : "smtp"}://${login}${formatHostPort(address)}`
}

const serverSchema = (): Schema.Schema<AlertMailServer> =>
  Schema.Struct({
    address: Schema.Struct({ host: Schema.String, port: Schema.Int }),
    isImplicit: Schema.Boolean,
    credentials: Schema.UndefinedOr(
      Schema.Struct({ user: Schema.String, password: Schema.RedactedFromSelf(Schema.String) })
    )
  })

export const mailServerKind: OptionKind<AlertMailServer> = {
  placeholder: "URL",
  toml: "string",
  schema: fromText(serverSchema, readServer, writeServer)
}

/** In ASCII: not every server takes other addresses, and an undelivered mail is useless. */
export const mailAddressKind: OptionKind<string> = {
  ...textKind("ADDRESS"),
  schema: fromText(
    () => Schema.String,
    (text) => {
      const mailbox = parseMailbox(text)
      return mailbox === undefined || needsUtf8(text)
        ? Either.left(`${quoted(text)} is not an e-mail address in ASCII`)
        : Either.right(formatMailbox(mailbox))
    },
    (value) => value
  )
}
