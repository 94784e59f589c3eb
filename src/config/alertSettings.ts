import * as Either from "effect/Either"
import { quoted } from "../base/safeText.ts"
import { type Bytes, compare } from "../protocol/bytes.ts"
import { decodeText } from "../protocol/nameText.ts"
import type { AlertMailServer } from "./alertMailKinds.ts"
import { UsageError } from "./UsageError.ts"
import type { Values } from "./values.ts"

/** The settings of notices before names expire. */
export interface AlertSettings {
  /** Names of `-watch`, each once, in the order of their bytes. */
  readonly watch: ReadonlyArray<Bytes>
  /** The mail before names expire; `undefined` for none. */
  readonly mail: AlertMailSettings | undefined
}

export interface AlertMailSettings {
  /** Addresses, each once; at least one. */
  readonly to: ReadonlyArray<string>
  readonly from: string
  readonly server: AlertMailServer
  /** Whether the mail may go without encryption, to other machines too. A password never does. */
  readonly allowPlain: boolean
}

/** Maximum number of addresses that get mail: each has its own queue on disk. */
const MAX_ALERT_ADDRESSES = 10

/** Maximum number of names of the settings: as many as the whole list of watched names has room for. */
export const MAX_WATCHED = 10_000

/** Maximum length of a name in bytes. Consensus. */
export const LONGEST_WATCHED = 255

const distinct = (names: ReadonlyArray<Bytes>): ReadonlyArray<Bytes> => {
  const sorted = names.toSorted(compare)
  return sorted.filter((name, at) => at === 0 || compare(name, sorted[at - 1] ?? name) !== 0)
}

type MailValues = Pick<Values, "alertmail" | "alertmailfrom" | "alertmailplain" | "alertmailserver">

/** The settings of the mail; on the left what is missing. */
const mailOf = (
  { alertmail, alertmailfrom, alertmailplain, alertmailserver: server }: MailValues
): Either.Either<AlertMailSettings | undefined, string> => {
  const to = [...new Set(alertmail)]
  const [first] = to
  if (first === undefined) {
    return server === undefined && alertmailfrom === undefined && !alertmailplain
      ? Either.right(undefined)
      : Either.left(
        "-alertmailserver, -alertmailfrom, -alertmailplain: need -alertmail, the address that gets the mail"
      )
  }
  if (server === undefined) return Either.left("-alertmail: needs -alertmailserver, the server that takes the mail")
  return to.length > MAX_ALERT_ADDRESSES
    ? Either.left(`-alertmail: there can be ${MAX_ALERT_ADDRESSES} addresses at most`)
    : Either.right({ to, from: alertmailfrom ?? first, server, allowPlain: alertmailplain })
}

/** The names are texts in the encoding of names. */
export const alertSettingsOf = (
  { nameencoding, watch, ...values }: MailValues & Pick<Values, "nameencoding" | "watch">
): Either.Either<AlertSettings, UsageError> => {
  const problems: Array<string> = []
  const mail = mailOf(values)
  if (Either.isLeft(mail)) problems.push(mail.left)
  if (watch.length > MAX_WATCHED) problems.push(`-watch: there can be ${MAX_WATCHED} names at most`)
  const names = watch.flatMap((text) => {
    const name = decodeText(text, nameencoding)
    if (name === undefined) problems.push(`-watch: ${quoted(text)} is not ${nameencoding}, the nameencoding`)
    else if (name.length > LONGEST_WATCHED) problems.push(`-watch: ${quoted(text)} is longer than a name can be`)
    return name === undefined ? [] : [name]
  })
  return Either.isLeft(mail) || problems.length > 0
    ? Either.left(new UsageError({ problems }))
    : Either.right({ watch: distinct(names), mail: mail.right })
}
