import { mailAddressKind, mailServerKind } from "./alertMailKinds.ts"
import * as Kind from "./kinds.ts"
import { listOption, type OptionTable, singleOption } from "./optionRow.ts"

/** The options of notices before names expire. */

export const ALERT_OPTIONS = {
  watch: listOption(
    Kind.textKind("NAME"),
    "watch",
    "Names and wallet",
    "name whose expiry the node reports beforehand, owned or not, registered or not; may be repeated",
    { defaultNote: "the names of name_watch alone" }
  ),
  alertmail: listOption(
    mailAddressKind,
    "alertmail",
    "Names and wallet",
    "address that gets mail before names of the wallets and watched names expire; may be repeated",
    { defaultNote: "no mail" }
  ),
  alertmailserver: singleOption(
    Kind.optionalKind(mailServerKind),
    "alertmailserver",
    "Names and wallet",
    "server that takes this mail: smtp(s)://user:password@host:port; set it by environment or file, because other users " +
      "can see flags",
    { env: "SVCD_ALERTMAIL_SERVER", secret: true, defaultNote: "no mail" }
  ),
  alertmailfrom: singleOption(
    Kind.optionalKind(mailAddressKind),
    "alertmailfrom",
    "Names and wallet",
    "sender of this mail",
    { defaultNote: "the first -alertmail" }
  ),
  alertmailplain: singleOption(
    Kind.onOffKind,
    "alertmailplain",
    "Names and wallet",
    "send this mail without encryption, or with a certificate that is not valid, where the server has nothing better",
    { default: "0" }
  )
} satisfies OptionTable
