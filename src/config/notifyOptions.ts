import * as Kind from "./kinds.ts"
import { inGroup, listOption, oneOption, type SettingPath } from "./optionRow.ts"

const command = Kind.textKind("COMMAND")

const commandAt = <P extends SettingPath>(path: P, description: string) =>
  oneOption(Kind.optionalKind(command), path, { description, defaultNote: "no command" })

export const NOTIFY_OPTIONS = inGroup("Notifications", {
  blocknotify: commandAt("notify.blocknotify", "command to run for each new block; %s becomes its hash"),
  walletnotify: commandAt(
    "notify.walletnotify",
    "command to run when a transaction of a wallet is new or changes; %s txid, %w wallet, %b block hash, %h height"
  ),
  namenotify: commandAt(
    "notify.namenotify",
    "command to run for each change of a name in a block; %s becomes the name in hex"
  ),
  alertnotify: commandAt("notify.alertnotify", "command to run for each new warning; %s becomes its quoted text"),
  startupnotify: commandAt("notify.startupnotify", "command to run when the node has started"),
  shutdownnotify: listOption(command, "notify.shutdownnotify", {
    description: "command to run before the node stops; may be repeated",
    defaultNote: "no command"
  })
})
