import { CONNECTION_OPTIONS } from "../../config/connection.ts"
import { entry } from "../../config/help.ts"
import { optionNamesOf, type OptionTable } from "../../config/options.ts"
import {
  GENERAL_OPTIONS,
  LOG_OPTIONS,
  LOOKUP_OPTIONS,
  NAMESPACE_OPTIONS,
  SERVE_OPTIONS,
  VALUE_OPTIONS
} from "./options.ts"

/** What `svcd-mail --help` prints. */

const flags = (table: OptionTable, dashes: string): string =>
  optionNamesOf(table).flatMap((name) => {
    const option = table[name]
    return option === undefined ? [] : [entry(name, option, dashes)]
  }).join("\n")

const { datadir: _datadir, ...LOG_FLAGS } = LOG_OPTIONS

/** Of the daemon these flags say how to listen, here where to call. */
const CONNECTION_FLAGS: OptionTable = {
  ...CONNECTION_OPTIONS,
  network: {
    ...CONNECTION_OPTIONS.network,
    description: "network that the daemon has to be on",
    defaultNote: "whichever it is on"
  },
  datadir: { ...CONNECTION_OPTIONS.datadir, description: "data directory; svcd.conf in it is read" },
  rpcaddr: { ...CONNECTION_OPTIONS.rpcaddr, description: "address of the daemon" },
  rpcuser: { ...CONNECTION_OPTIONS.rpcuser, description: "user name for the daemon" },
  rpcpassword: {
    ...CONNECTION_OPTIONS.rpcpassword,
    description: "password for the daemon; better given by environment or file"
  }
}

export const MAIL_HELP = `Usage: svcd-mail <sub-command> [label] [flags]

Forwards mail to the address that the owner of a name has put into its value. The label is what stands before the @
of an address, and behind the namespace in the name: mail for alice@… is the business of id/alice.

Sub-commands
  register <label> --forward EMAIL [--backup EMAIL]… [--pubkey BASE64]
      print the value of a new name, and the calls that register it
  update <label> --forward EMAIL [--backup EMAIL]… [--pubkey BASE64]
      print a new value for a name, and the call that sets it in place of everything that it says now
  lookup <label> [--json]
      print where mail for a label goes
  serve --upstream HOST [--upstreamport N] [--smtpuser NAME] [--listen HOST:PORT]
      take mail for labels, and hand it to a mail server with the addresses of their owners

register and update only print: they change nothing and need no daemon.

Flags of register and update
${flags(VALUE_OPTIONS, "--")}

Flags of lookup
${flags(LOOKUP_OPTIONS, "--")}

Flags of serve
${flags(SERVE_OPTIONS, "--")}
${flags(LOG_FLAGS, "-")}

Flags of all of them
${flags(NAMESPACE_OPTIONS, "--")}
${flags(CONNECTION_FLAGS, "-")}
${flags(GENERAL_OPTIONS, "-")}

-flag value, -flag=value, --flag value and --flag=value mean the same. Where the daemon is, and how to log, is also
read from the environment and from svcd.conf in the data directory, as svcd does.

Exit status: 0; 1 if it cannot be done; 2 for a mistake in flags or configuration.
`
