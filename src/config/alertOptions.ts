import { mailAddressKind, mailServerKind } from "./alertMailKinds.ts"
import * as Kind from "./kinds.ts"
import { inGroup, listOption, oneOption } from "./optionRow.ts"

export const ALERT_OPTIONS = inGroup("Names and wallet", {
  watch: listOption(Kind.textKind("NAME"), "names.watch", {
    description: "name whose expiry the node announces, even if it is unregistered or not yours; may be repeated",
    defaultNote: "only the names of name_watch"
  }),
  alertmail: listOption(mailAddressKind, "alerts.mail", {
    description: "address that gets mail before names of the wallets and watched names expire; may be repeated",
    defaultNote: "no mail"
  }),
  alertmailserver: oneOption(Kind.optionalKind(mailServerKind), "alerts.mailServer", {
    description:
      "server that takes this mail: smtp(s)://user:password@host:port; set it by environment or file, because other users " +
      "can see flags",
    env: "SVCD_ALERTMAIL_SERVER",
    secret: true,
    defaultNote: "no mail"
  }),
  alertmailfrom: oneOption(Kind.optionalKind(mailAddressKind), "alerts.mailFrom", {
    description: "sender of this mail",
    defaultNote: "the first -alertmail"
  }),
  alertmailplain: oneOption(Kind.onOffKind, "alerts.mailPlain", {
    description:
      "send this mail without encryption, or with a certificate that is not valid, where the server has nothing better"
  })
})
