import * as Kind from "./kinds.ts"
import { inGroup, listOption, oneOption } from "./optionRow.ts"

/** The commands that the daemon runs when something happens. */

const command = { ...Kind.textKind("COMMAND") }

export const NOTIFY_OPTIONS = inGroup("General", {
  blocknotify: oneOption(Kind.optionalKind(command), "notify.blocknotify", {
    description: "command to run for each new block; %s becomes its hash",
    defaultNote: "no command"
  }),
  walletnotify: oneOption(Kind.optionalKind(command), "notify.walletnotify", {
    description:
      "command to run when a transaction of a wallet is new or changes; %s txid, %w wallet, %b block hash, %h height",
    defaultNote: "no command"
  }),
  namenotify: oneOption(Kind.optionalKind(command), "notify.namenotify", {
    description: "command to run for each change of a name in a block; %s becomes the name in hex",
    defaultNote: "no command"
  }),
  alertnotify: oneOption(Kind.optionalKind(command), "notify.alertnotify", {
    description: "command to run for each new warning; %s becomes its quoted text",
    defaultNote: "no command"
  }),
  startupnotify: oneOption(Kind.optionalKind(command), "notify.startupnotify", {
    description: "command to run when the node has started",
    defaultNote: "no command"
  }),
  shutdownnotify: listOption(command, "notify.shutdownnotify", {
    description: "command to run before the node stops; may be repeated",
    defaultNote: "no command"
  })
})
