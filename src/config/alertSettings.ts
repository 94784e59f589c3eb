import { quoted } from "../base/safeText.ts"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import { type Bytes, compare } from "../protocol/bytes.ts"
import { decodeText } from "../protocol/nameText.ts"
import type { AlertMailServer } from "./alertMailKinds.ts"
import type { GivenSettings } from "./settings.ts"

export interface AlertMailSettings {
  /** Addresses, each once; at least one. */
  readonly to: ReadonlyArray<string>
  readonly from: string
  readonly server: AlertMailServer
  /** Whether the mail may go unencrypted, even to other machines. A password never does. */
  readonly allowPlain: boolean
}

/** Each address has its own queue on disk. */
const MAX_ALERT_ADDRESSES = 10

/** As many as the whole list of watched names holds. */
export const MAX_WATCHED = 10_000

type AlertOptions = GivenSettings["alerts"]

const mailProblem = ({ mail, mailFrom, mailPlain, mailServer }: AlertOptions): string | undefined => {
  if (mail.length === 0) {
    return mailServer === undefined && mailFrom === undefined && !mailPlain
      ? undefined
      : "-alertmailserver, -alertmailfrom, -alertmailplain: need -alertmail, the address that gets the mail"
  }
  if (mailServer === undefined) return "-alertmail: needs -alertmailserver, the server that takes the mail"
  return new Set(mail).size > MAX_ALERT_ADDRESSES
    ? `-alertmail: at most ${MAX_ALERT_ADDRESSES} addresses are allowed`
    : undefined
}

type WatchOptions = {
  readonly answers: Pick<GivenSettings["answers"], "nameEncoding">
  readonly names: Pick<GivenSettings["names"], "watch">
}

/** Names are texts in the encoding of names. */
export const alertProblems = (
  { alerts, answers: { nameEncoding }, names: { watch } }: WatchOptions & Pick<GivenSettings, "alerts">
): ReadonlyArray<string> => {
  const mail = mailProblem(alerts)
  const problems = mail === undefined ? [] : [mail]
  if (watch.length > MAX_WATCHED) problems.push(`-watch: at most ${MAX_WATCHED} names are allowed`)
  for (const text of watch) {
    const name = decodeText(text, nameEncoding)
    if (name === undefined) problems.push(`-watch: ${quoted(text)} is not ${nameEncoding}, the nameencoding`)
    else if (name.length > MAX_NAME_LENGTH) problems.push(`-watch: ${quoted(text)} is longer than a name can be`)
  }
  return problems
}

/** Names of `-watch`, each once, in byte order. */
export const watchedNames = ({ answers: { nameEncoding }, names: { watch } }: WatchOptions): ReadonlyArray<Bytes> => {
  const sorted = watch.flatMap((text) => decodeText(text, nameEncoding) ?? []).sort(compare)
  return sorted.filter((name, at) => at === 0 || compare(name, sorted[at - 1] ?? name) !== 0)
}

export const alertMailOf = ({ mail, mailFrom, mailPlain, mailServer }: AlertOptions): AlertMailSettings | undefined => {
  const to = [...new Set(mail)]
  const [first] = to
  return first === undefined || mailServer === undefined
    ? undefined
    : { to, from: mailFrom ?? first, server: mailServer, allowPlain: mailPlain }
}
