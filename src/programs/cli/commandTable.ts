import { textKind } from "../../config/kinds.ts"
import { inGroup, listOption, type Option, type OptionTable } from "../../config/optionRow.ts"
import { OPTIONS } from "../../config/options.ts"

/** Commands of svcd-cli itself. No method has such a name. */

export const switchOption = (description: string) => ({ ...OPTIONS.version, description })

interface TextRow {
  readonly placeholder: string
  readonly description: string
}

/** A flag with a value, but no environment variable or entry in the file. */
export const textOption = ({ description, placeholder }: TextRow): Option => ({
  ...OPTIONS.rpcuser,
  env: undefined,
  key: undefined,
  placeholder,
  description
})

const textsOption = ({ description, placeholder }: TextRow): Option =>
  inGroup("General", { text: listOption(textKind(placeholder), "command.text", { description, flagOnly: true }) }).text

const SHARED = { json: switchOption("print JSON"), help: OPTIONS.help }

const SPENDING = { yes: switchOption("do not ask for confirmation") }

const FORCE = {
  force: switchOption("send a value that looks like a secret and, with -yes, a value with errors or a doubtful name")
}

export const DOMAIN_FLAGS = {
  ip: textsOption({ placeholder: "ADDRESS", description: "IPv4 address (domains)" }),
  ip6: textsOption({ placeholder: "ADDRESS", description: "IPv6 address" }),
  alias: textsOption({ placeholder: "HOST", description: "canonical host (CNAME)" }),
  ns: textsOption({ placeholder: "HOST", description: "name server, such as ns1.example.net" }),
  ds: textsOption({ placeholder: "RECORD", description: "DNSSEC key, such as \"12345 8 2 ab01…\"" }),
  tls: textsOption({ placeholder: "RECORD", description: "certificate (TLSA), such as \"443 3 1 1 ab01…\"" }),
  mail: textsOption({ placeholder: "RECORD", description: "mail server, such as \"10 mail.example.net\"" }),
  tor: textsOption({ placeholder: "ONION", description: "onion service address" }),
  text: textsOption({ placeholder: "TEXT", description: "text (TXT)" }),
  sub: textsOption({ placeholder: "ITEM", description: "item of a subdomain, such as \"www 192.0.2.1\"" })
}

export const IDENTITY_FLAGS = {
  email: textsOption({ placeholder: "ADDRESS", description: "email address (identities)" }),
  backup: textsOption({ placeholder: "ADDRESS", description: "fallback email address" }),
  name: textsOption({ placeholder: "TEXT", description: "name of the person" }),
  website: textsOption({ placeholder: "URL", description: "website" }),
  description: textsOption({ placeholder: "TEXT", description: "short description" }),
  photo_url: textsOption({ placeholder: "URL", description: "picture" }),
  xmpp: textsOption({ placeholder: "ADDRESS", description: "XMPP address" }),
  nostr: textsOption({ placeholder: "KEY", description: "nostr public key, npub1… or hexadecimal digits" }),
  fpr: textsOption({ placeholder: "FINGERPRINT", description: "OpenPGP key fingerprint" })
}

const VALUE = {
  ...DOMAIN_FLAGS,
  ...IDENTITY_FLAGS,
  value: textOption({ placeholder: "TEXT", description: "the whole value, instead of flags for its items" }),
  file: textOption({ placeholder: "PATH", description: "read the whole value from a UTF-8 file; - for standard input" })
}

export type CommandGroup = (typeof COMMAND_GROUPS)[number]

export const COMMAND_GROUPS = [
  "Commands for names",
  "Commands for coins",
  "Commands for the wallet",
  "Commands for the node",
  "Commands without a daemon"
] as const

export interface CommandRow {
  readonly group: CommandGroup
  readonly words: string
  readonly takes: readonly [least: number, most: number]
  readonly description: string
  readonly details?: string
  readonly options: OptionTable
}

interface GivenRow extends Partial<Omit<CommandRow, "group">> {
  readonly description: string
}

type OptionsOf<R extends GivenRow> = R extends { readonly options: infer O } ? O : unknown

type RowsOf<T extends Readonly<Record<string, GivenRow>>> = {
  readonly [C in keyof T]: Omit<CommandRow, "options"> & { readonly options: typeof SHARED & OptionsOf<T[C]> }
}

/** Commands of a group. They take no words unless a row says so. */
const commandsOf = <const T extends Readonly<Record<string, GivenRow>>>(group: CommandGroup, rows: T): RowsOf<T> =>
  // Built row by row from the same rows, which the type of Object.fromEntries cannot express.
  Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [name, {
      words: "",
      takes: [0, 0],
      ...row,
      group,
      options: { ...SHARED, ...row.options }
    }])
  ) as RowsOf<T>

const NAME_COMMANDS = commandsOf("Commands for names", {
  name: {
    words: "NAME",
    takes: [1, 1],
    description: "show a name: owner, value, what it resolves to, expiry, renewal and history",
    details:
      "NAME is a name such as d/example, or a domain such as example.bit. A domain in another script, such as zürich.bit, is " +
      "translated. 0x and hexadecimal digits are exactly those bytes.",
    options: {
      last: textOption({ placeholder: "NUMBER", description: "number of history entries to show (default: 10)" })
    }
  },
  register: {
    words: "NAME [VALUE]",
    takes: [1, 2],
    description: "register a name: show the value and the cost, ask, and start",
    details:
      "A registration takes two transactions and 13 blocks, about two hours on mainnet. The node completes it automatically. Flags for items of the " +
      "value may be repeated. For a host below a domain, such as www.example.bit, they set this host alone. With -yes, a doubtful " +
      "NAME is refused.",
    options: {
      ...SPENDING,
      ...FORCE,
      ...VALUE,
      owner: textOption({
        placeholder: "ADDRESS",
        description: "owner of the name (default: the wallet)"
      }),
      renew: switchOption("let the wallet renew the name before it expires (default; -norenew turns it off)"),
      wait: switchOption("wait until the name is registered, with a progress bar on a terminal")
    }
  },
  update: {
    words: "NAME [VALUE]",
    takes: [1, 2],
    description: "change the value of a name: show the change, ask, and send",
    details:
      "Items without a flag stay as they are. A flag replaces all entries of its item; -sub replaces one item of one label, " +
      "and -tls the certificates of one port. Flags for items may be repeated. For a host below a domain, such as " +
      "www.example.bit, they change this host alone.",
    options: {
      ...SPENDING,
      ...FORCE,
      ...VALUE,
      remove: textsOption({
        placeholder: "KEY",
        description: "remove this item from the value, such as ip, sub or map.www; may be repeated"
      })
    }
  },
  renew: {
    words: "[NAME…]",
    takes: [0, 5_000],
    description: "renew names: show the cost, ask, and send",
    details: "Give names, -all, or -within TIME. The exit status is 1 if you give names and none of " +
      "them is renewed. With -all and -within it is 0 if nothing is due, or only names whose renewal is turned off.",
    options: {
      ...SPENDING,
      all: switchOption("all names of the wallet"),
      within: textOption({
        placeholder: "TIME",
        description: "names that expire within this time: 4w, 10d, 12h or a number of blocks"
      })
    }
  },
  transfer: {
    words: "NAME ADDRESS",
    takes: [2, 2],
    description: "give a name to another owner: show it, ask, and send",
    options: { ...SPENDING }
  },
  autorenew: {
    words: "NAME|-all on|off",
    takes: [1, 2],
    description: "let the wallet renew a name, or all its names, before they expire",
    details: "A name that is off stays off with \"renew -all\", until \"autorenew -all\" sets all names again.",
    options: { all: switchOption("all names of the wallet, also future ones") }
  },
  cancel: {
    words: "NAME",
    takes: [1, 1],
    description: "cancel a registration, or a renewal that waits",
    details: "Transactions that were sent stay valid."
  },
  names: {
    words: "[PREFIX]",
    takes: [0, 1],
    description: "list the names of the wallet, the first to expire first",
    details: "With a prefix, list only names that begin with it. foo and foo.bit also find d/foo.",
    options: {
      all: switchOption("include names that expired or were given away, and old failed registrations"),
      expiring: textOption({
        placeholder: "BLOCKS",
        description: "show only names that expire within this number of blocks"
      })
    }
  },
  dismiss: {
    words: "[NAME]",
    takes: [0, 1],
    description: "end the warnings about a name in danger that you know of",
    details: "A later danger to the name warns again. \"svcd-cli status\" and \"svcd-cli names\" show the warnings.",
    options: { all: switchOption("of all names in danger") }
  },
  registrations: {
    description: "list the registrations of the wallet and their progress",
    options: { all: switchOption("include completed registrations, and old failed ones") }
  },
  expiring: {
    description: "list names that expire soon: names of the wallets and watched names, or others",
    options: {
      all: switchOption("names of all owners"),
      owner: textOption({ placeholder: "ADDRESS", description: "the owner of the names" }),
      blocks: textOption({
        placeholder: "NUMBER",
        description: "show names that expire within this number of blocks (default: 4032, four weeks)"
      }),
      limit: textOption({ placeholder: "NUMBER", description: "number of names to show (default: 100)" })
    }
  },
  find: {
    words: "[TEXT]",
    takes: [0, 1],
    description: "find names of all owners by text, an item of the value, or owner",
    details: "TEXT can be owner:ADDRESS, ip:192.0.2.1 or another key, as in the search of the status page.",
    options: {
      key: textOption({ placeholder: "KEY", description: "an item of the value: ip, ip6, ns, email, nostr or tor" }),
      value: textOption({ placeholder: "VALUE", description: "value of that item" }),
      owner: textOption({ placeholder: "ADDRESS", description: "the owner of the names" }),
      namespace: textOption({ placeholder: "PREFIX", description: "prefix of the names, such as d/" }),
      expired: switchOption("include expired names"),
      limit: textOption({ placeholder: "NUMBER", description: "number of names to show (default: 100)" })
    }
  },
  dig: {
    words: "HOST [TYPE]",
    takes: [1, 2],
    description: "show the DNS records of a host below .bit, and the names that they are from",
    details:
      "HOST is a host such as www.example.bit, or a name such as d/example. TYPE is A by default; ANY shows all records. Asks the node " +
      "itself and needs no DNS. The exit status is 1 if there is no such host or record."
  },
  proof: {
    words: "NAME",
    takes: [1, 1],
    description: "print a proof of a name's value, which anyone can verify without a chain",
    details: "\"svcd-cli verify-proof\" and browsers verify it. The exit status is 1 if the name does not exist.",
    options: {
      headers: textOption({
        placeholder: "NUMBER",
        description: "headers of the next blocks to add, 0 to 24 (default: 6)"
      }),
      chain: switchOption("prove all operations since the registration, with the signature of each owner"),
      out: textOption({ placeholder: "FILE", description: "write the proof to this file" })
    }
  },
  zone: {
    words: "[NAME]",
    takes: [0, 1],
    description: "print the DNS records of a name, or of all names, as a zone file",
    details:
      "Without NAME, it prints the zone bit with SOA and NS records, in the order of name_scan; blocks that arrive meanwhile may change " +
      "the names that follow. The serial is the height at the start. With -json, each record is a line of JSON.",
    options: {
      ns: textsOption({
        placeholder: "HOST",
        description: "name server of the zone, the primary first; may be repeated (default: this.x--nmc.bit)"
      }),
      ttl: textOption({ placeholder: "SECONDS", description: "time to live of the records of names (default: 600)" })
    }
  },
  watch: {
    words: "[PREFIX]",
    takes: [0, 1],
    description: "print a line for each change of a name as it happens, until interrupted",
    details:
      "With a prefix, only of names that begin with it. When interrupted, it prints how to continue. An update of your own name " +
      "to a new address of your wallet is not a transfer.",
    options: {
      from: textOption({
        placeholder: "CURSOR",
        description: "start after this cursor; 0 for all past changes"
      }),
      types: textOption({
        placeholder: "KINDS",
        description: "only these comma-separated kinds: registered, updated, renewed, transferred, cleared, " +
          "expired, expiring, undone, block (the end of each block), and of the mempool pending, pending_dropped " +
          "and synced; undone is always included"
      })
    }
  }
})

const COIN_COMMANDS = commandsOf("Commands for coins", {
  receive: {
    words: "[LABEL]",
    takes: [0, 1],
    description: "create a receiving address; on a terminal with a QR code"
  },
  pay: {
    words: "ADDRESS AMOUNT",
    takes: [2, 2],
    description: "send coins: show amount, fee and address, ask, and send",
    details: "AMOUNT is in NMC. The word send is an RPC method with other parameters.",
    options: {
      ...SPENDING,
      comment: textOption({ placeholder: "TEXT", description: "private note in the wallet" })
    }
  },
  tx: {
    words: "TXID",
    takes: [1, 1],
    description: "show a transaction of the wallet: confirmations, payments and fee"
  }
})

const WALLET_COMMANDS = commandsOf("Commands for the wallet", {
  unlock: {
    description: "unlock the wallet for some time, or for renewals of names only",
    details: "Asks for the passphrase, without echo. Commands that sign ask for it and need no unlock first.",
    options: {
      renewals: switchOption("sign renewals of names only, so that a locked wallet loses no name"),
      for: textOption({
        placeholder: "TIME",
        description: "such as 10m, 12h, 30d or 4w (default: 10m; with -renewals 365d)"
      })
    }
  },
  lock: {
    description: "lock the wallet, for renewals too"
  },
  encrypt: {
    description: "encrypt the wallet with a passphrase, or replace its passphrase",
    details: "Asks for the new passphrase twice, without echo.",
    options: { change: switchOption("replace the passphrase of an encrypted wallet") }
  },
  backup: {
    words: "FILE",
    takes: [1, 1],
    description: "copy the wallet to a file on the machine of the daemon",
    details: "It replaces no file. FILE may be a directory that exists. The daemon's user must be able to write there."
  },
  seed: {
    words: "check [-]",
    takes: [1, 2],
    description: "verify your seed phrase: ask for three of its words",
    details:
      "Read the words from your paper; they are not echoed. With -, it reads the whole phrase from standard input. A word is never " +
      "an argument, because other users could see it. The exit status is 1 if a word is wrong."
  }
})

const NODE_COMMANDS = commandsOf("Commands for the node", {
  status: {
    description: "show the state of the node: sync, peers, mempool, wallet (also -getinfo)",
    options: {
      wait: switchOption("wait until all names are known, with a progress bar on a terminal"),
      watch: switchOption("keep running: redraw on a terminal, otherwise print a line for each change")
    }
  },
  desk: {
    description: "print a link that opens the desk, the pages for your names and coins, in a browser",
    details: "The link works once, within ten minutes. With -rpcwallet, the desk opens with that wallet.",
    options: {
      open: switchOption("open the link in the browser"),
      url: textOption({ placeholder: "URL", description: "address of the proxy in front of the desk" })
    }
  },
  doctor: {
    description: "diagnose problems and suggest remedies; works without a daemon too",
    details: "The exit status is 1 if a check fails.",
    options: {
      resolver: textOption({
        placeholder: "ADDRESS",
        description: "check too whether this DNS resolver finds and validates .bit; tls://ADDRESS#NAME over TLS"
      })
    }
  },
  peers: {
    description: "list the connected peers"
  },
  webhooks: {
    words: "[test ID]",
    takes: [0, 2],
    description: "list the webhooks that receive name events, or test one"
  },
  dnskey: {
    words: "[list|show|roll]",
    takes: [0, 1],
    description: "list the DNSSEC keys of the zone bit, show what resolvers need to trust them, or replace the key",
    details: "roll begins a rollover as in RFC 5011: the new key signs after 30 days."
  }
})

const LOCAL_COMMANDS = commandsOf("Commands without a daemon", {
  lint: {
    words: "NAME VALUE",
    takes: [0, 2],
    description: "check a name and a value before you pay for them",
    details: "VALUE - reads standard input, in UTF-8. The exit status is 1 for an error."
  },
  "verify-proof": {
    words: "FILE",
    takes: [1, 1],
    description: "verify the proof of a name, signatures included",
    details: "FILE - reads standard input. The exit status is 1 if the proof is not valid.",
    options: {
      confirmations: textOption({
        placeholder: "NUMBER",
        description: "blocks with work that the proof must have at least (default: 1)"
      })
    }
  },
  rpcauth: {
    words: "USER [PASSWORD]",
    takes: [0, 2],
    description: "create an RPC user: print a line for svcd.conf, and a password",
    details: "Without PASSWORD, it generates one and prints it; - reads it from standard input."
  }
})

export const CLI_COMMANDS = {
  ...NAME_COMMANDS,
  ...COIN_COMMANDS,
  ...WALLET_COMMANDS,
  ...NODE_COMMANDS,
  ...LOCAL_COMMANDS
}

export type CommandName = keyof typeof CLI_COMMANDS

export const COMMAND_ROWS: Readonly<Record<CommandName, CommandRow>> = CLI_COMMANDS

const isCommand = (word: string): word is CommandName => Object.hasOwn(CLI_COMMANDS, word)

export const COMMAND_NAMES: ReadonlyArray<CommandName> = Object.keys(CLI_COMMANDS).filter(isCommand)

export const isCliCommand = (word: string | undefined): word is CommandName => word !== undefined && isCommand(word)
