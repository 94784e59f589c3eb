import { quoted } from "../base/safeText.ts"
import { decodeBase64 } from "../protocol/base64.ts"
import type { Findings, ProgramView } from "./findings.ts"
import { isMailAddress } from "./hosts.ts"
import { type Located, type LocatedObject, memberOf } from "./locatedJson.ts"
import { nostrKeys } from "./nostr.ts"

/** Checks the value of an `id/` name, and describes how svcd-mail reads it (docs/mail.md). */

/** Fields that identity programs read as one text. */
const TEXT_FIELDS = [
  "name",
  "country",
  "locality",
  "description",
  "photo_url",
  "website",
  "weblog",
  "xmpp",
  "otr",
  "fpr",
  "bitmessage",
  "twitter",
  "github"
] as const

/** Maximum addresses that svcd-mail uses besides the first. */
const MOST_BACKUPS = 8

const addressIn = (part: Located, findings: Findings): string | undefined => {
  const text = findings.text(part, "an e-mail address as text")?.text
  if (text === undefined || isMailAddress(text)) return text
  findings.error(part, "invalid", `${quoted(text)} is not an address that mail can be forwarded to`)
  return undefined
}

/** The published forms of `email`: an address, a list of addresses, or an object whose `default` is one of these. */
const emailParts = (email: Located): ReadonlyArray<Located> => {
  const own = email.kind === "object" ? memberOf(email, "default") : email
  if (own === undefined) return []
  return own.kind === "array" ? own.items : [own]
}

/** Reports invalid parts. A field of another type makes svcd-mail ignore the value. */
const mailView = (object: LocatedObject, { findings, label }: IdentityPlace): ProgramView => {
  const none = (why: string): ProgramView => ({ program: "svcd-mail", sees: [`refuses mail for ${label}: ${why}`] })
  const [email, backup, pubkey] = [memberOf(object, "email"), memberOf(object, "backup"), memberOf(object, "pubkey")]
  if (pubkey !== undefined) {
    const text = findings.text(pubkey, "a key in base64")
    if (text === undefined) return none("pubkey is not text")
    if (decodeBase64(text.text) === undefined) findings.error(pubkey, "invalid", "is not base64, with its padding")
  }
  const wrongBackup = backup !== undefined &&
    (backup.kind !== "array" || backup.items.some(({ kind }) => kind !== "text"))
  if (wrongBackup) {
    findings.wrongType(backup, "a list of texts")
    return none("backup is not a list of texts")
  }
  const others = backup?.kind === "array" ? backup.items.flatMap((item) => addressIn(item, findings) ?? []) : []
  if (email === undefined) {
    if (backup !== undefined) findings.error(backup, "invalid", "has no effect without email")
    return none("the value has no email")
  }
  const parts = emailParts(email)
  if (parts.length === 0 || (email.kind !== "text" && parts.some(({ kind }) => kind !== "text"))) {
    findings.wrongType(email, "an address, a list of addresses, or an object with \"default\"")
    return none("email is not an address")
  }
  const [first, ...more] = parts.flatMap((part) => addressIn(part, findings) ?? [])
  if (first === undefined) return none("email is not an address")
  const different = [...new Set([...more, ...others])].filter((address) => address !== first)
  if (different.length > MOST_BACKUPS) {
    const place = backup !== undefined && others.length > 0 ? backup : email
    findings.warn(
      place,
      "unusual",
      `has unused addresses; svcd-mail uses at most ${MOST_BACKUPS} besides the first`
    )
  }
  const used = different.slice(0, MOST_BACKUPS)
  return {
    program: "svcd-mail",
    sees: [`forwards mail for ${label} to ${first}${used.length === 0 ? "" : `, else to ${used.join(", ")}`}`]
  }
}

export interface IdentityPlace {
  readonly findings: Findings
  readonly label: string
}

export const viewMail = (object: LocatedObject, place: IdentityPlace): ReadonlyArray<ProgramView> =>
  memberOf(object, "email") === undefined && memberOf(object, "backup") === undefined ? [] : [mailView(object, place)]

const checkFingerprint = (part: Located, findings: Findings): void => {
  const print = part.kind === "object" ? memberOf(part, "fpr") : part
  if (print === undefined) return
  const text = findings.text(print, "a fingerprint as text")?.text
  if (text !== undefined && !/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/i.test(text)) {
    findings.warn(print, "invalid", "is not a fingerprint of 40 or 64 hexadecimal digits")
  }
}

export const viewIdentity = (object: LocatedObject, place: IdentityPlace): ReadonlyArray<ProgramView> => {
  const { findings, label } = place
  const texts: Array<string> = []
  for (const key of TEXT_FIELDS) {
    const part = memberOf(object, key)
    const text = part === undefined ? undefined : findings.text(part, "a text")
    if (text !== undefined) texts.push(`${key}: ${quoted(text.text)}`)
  }
  const gpg = memberOf(object, "gpg")
  if (gpg !== undefined) checkFingerprint(gpg, findings)
  const members = memberOf(object, "members")
  for (const member of members === undefined ? [] : findings.texts(members, "a text such as id/alice")) {
    if (!/^id\/[a-z0-9]+(?:-[a-z0-9]+)*$/.test(member.text)) {
      findings.error(member, "invalid", `${quoted(member.text)} is not an identity such as id/alice`)
    }
  }
  const nostr = memberOf(object, "nostr")
  const keys = nostr === undefined ? [] : nostrKeys(nostr, findings)
  return [
    { program: "profiles", sees: texts },
    mailView(object, place),
    ...(keys.length === 0
      ? []
      : [{ program: "nostr", sees: keys.map(({ key, local }) => `${local === "_" ? label : local} is ${key}`) }])
  ].filter(({ sees }) => sees.length > 0)
}
