import * as Kind from "./kinds.ts"
import { listOption, type OptionTable, singleOption } from "./optionRow.ts"

/** The commands that the daemon runs when something happens. */

const command = { ...Kind.textKind("COMMAND") }

export const NOTIFY_OPTIONS = {
  blocknotify: singleOption(
    Kind.optionalKind(command),
    "blocknotify",
    "General",
    "command to run for each new block; %s becomes its hash",
    { defaultNote: "no command" }
  ),
  walletnotify: singleOption(
    Kind.optionalKind(command),
    "walletnotify",
    "General",
    "command to run when a transaction of a wallet is new or changes; %s txid, %w wallet, %b block hash, %h height",
    { defaultNote: "no command" }
  ),
  namenotify: singleOption(
    Kind.optionalKind(command),
    "namenotify",
    "General",
    "command to run for each change of a name in a block; %s becomes the name in hex",
    { defaultNote: "no command" }
  ),
  alertnotify: singleOption(
    Kind.optionalKind(command),
    "alertnotify",
    "General",
    "command to run for each new warning; %s becomes its quoted text",
    { defaultNote: "no command" }
  ),
  startupnotify: singleOption(
    Kind.optionalKind(command),
    "startupnotify",
    "General",
    "command to run when the node has started",
    { defaultNote: "no command" }
  ),
  shutdownnotify: listOption(
    command,
    "shutdownnotify",
    "General",
    "command to run before the node stops; may be repeated",
    { defaultNote: "no command" }
  )
} satisfies OptionTable
