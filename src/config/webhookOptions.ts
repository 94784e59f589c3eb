import * as Kind from "./kinds.ts"
import { inGroup, listOption, oneOption } from "./optionRow.ts"
import { webhookKind } from "./webhookKinds.ts"

export const WEBHOOK_OPTIONS = inGroup("Notifications", {
  webhook: listOption(webhookKind, "webhooks.configured", {
    description: "tables [[webhook]] in the configuration file: programs that receive events of names",
    fileOnly: true,
    secret: true,
    defaultNote: "no webhook"
  }),
  webhookprivate: oneOption(Kind.onOffKind, "webhooks.allowPrivate", {
    description: "let webhooks that are added over RPC send to private addresses and to this machine"
  })
})
