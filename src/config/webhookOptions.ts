import * as Kind from "./kinds.ts"
import { listOption, type OptionTable, singleOption } from "./optionRow.ts"
import { webhookKind } from "./webhookKinds.ts"

/** The programs that receive events of names by HTTP. */
export const WEBHOOK_OPTIONS = {
  webhook: listOption(
    webhookKind,
    "webhook",
    "General",
    "tables [[webhook]] in the configuration file: programs that receive events of names",
    { fileOnly: true, secret: true, defaultNote: "no webhook" }
  ),
  webhookprivate: singleOption(
    Kind.onOffKind,
    "webhookprivate",
    "General",
    "let webhooks that are added over RPC send to private addresses and to this machine",
    { default: "0" }
  )
} satisfies OptionTable
