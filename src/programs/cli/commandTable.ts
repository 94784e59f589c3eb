import { textKind } from "../../config/kinds.ts"
import { inGroup, listOption, type Option, type OptionTable } from "../../config/optionRow.ts"
import { OPTIONS } from "../../config/options.ts"

/** The commands that svcd-cli carries out itself, with their flags and texts. No method has such a name. */

export const switchOption = (description: string) => ({ ...OPTIONS.version, description })

interface TextRow {
  readonly placeholder: string
  readonly description: string
}

/** A flag with a value, without an environment variable or an entry in the file. */
export const textOption = ({ description, placeholder }: TextRow): Option => ({
  ...OPTIONS.rpcuser,
  env: undefined,
  key: undefined,
  placeholder,
  description
})

/** The same for a flag that may be repeated. */
const textsOption = ({ description, placeholder }: TextRow): Option =>
  inGroup("General", { text: listOption(textKind(placeholder), "command.text", { description, flagOnly: true }) }).text

/** What each command has. */
const SHARED = { json: switchOption("print JSON"), help: OPTIONS.help }

/** What a command has that spends coins. */
const SPENDING = { yes: switchOption("do it without a question") }

/** What a command has that sets a value. */
const FORCE = {
  force: switchOption("do it also where the value seems to have a secret, and with -yes where it has an error")
}

/** The items of a domain, by flag. Each flag may be repeated. */
export const DOMAIN_FLAGS = {
  ip: textsOption({ placeholder: "ADDRESS", description: "of a domain: its IPv4 address" }),
  ip6: textsOption({ placeholder: "ADDRESS", description: "its IPv6 address" }),
  alias: textsOption({ placeholder: "HOST", description: "the host that it is another name of (CNAME)" }),
  ns: textsOption({ placeholder: "HOST", description: "name server, as ns1.example.net" }),
  ds: textsOption({ placeholder: "RECORD", description: "key of DNSSEC, as \"12345 8 2 ab01…\"" }),
  tls: textsOption({ placeholder: "RECORD", description: "certificate (TLSA), as \"443 3 1 1 ab01…\"" }),
  mail: textsOption({ placeholder: "RECORD", description: "mail server, as \"10 mail.example.net\"" }),
  tor: textsOption({ placeholder: "ONION", description: "address of an onion service" }),
  text: textsOption({ placeholder: "TEXT", description: "text (TXT)" }),
  sub: textsOption({ placeholder: "ITEM", description: "item of a sub-domain, as \"www 192.0.2.1\"" })
}

/** The items of an identity, by flag. */
export const IDENTITY_FLAGS = {
  email: textsOption({ placeholder: "ADDRESS", description: "of a person: the address of e-mail" }),
  backup: textsOption({ placeholder: "ADDRESS", description: "another address, for when the first fails" }),
  name: textsOption({ placeholder: "TEXT", description: "the name of the person" }),
  website: textsOption({ placeholder: "URL", description: "website" }),
  description: textsOption({ placeholder: "TEXT", description: "some words" }),
  photo_url: textsOption({ placeholder: "URL", description: "picture" }),
  xmpp: textsOption({ placeholder: "ADDRESS", description: "address of XMPP" }),
  nostr: textsOption({ placeholder: "KEY", description: "public key of nostr, npub1… or hexadecimal digits" }),
  fpr: textsOption({ placeholder: "FINGERPRINT", description: "fingerprint of an OpenPGP key" })
}

/** What a command has that makes a value. */
const VALUE = {
  ...DOMAIN_FLAGS,
  ...IDENTITY_FLAGS,
  value: textOption({ placeholder: "TEXT", description: "the whole value, in place of flags for its items" }),
  file: textOption({ placeholder: "PATH", description: "the same from a file, in UTF-8; - for standard input" })
}

export type CommandGroup = (typeof COMMAND_GROUPS)[number]

export const COMMAND_GROUPS = [
  "Commands for names",
  "Commands for coins",
  "Commands for the node",
  "Commands without a daemon"
] as const

export interface CommandRow {
  readonly group: CommandGroup
  /** What follows the command in a usage line, without flags. */
  readonly words: string
  /** How many words may follow. */
  readonly takes: readonly [least: number, most: number]
  readonly description: string
  /** More sentences for its own help. */
  readonly details?: string
  readonly options: OptionTable
}

export const CLI_COMMANDS = {
  name: {
    group: "Commands for names",
    words: "NAME",
    takes: [1, 1],
    description: "show a name: owner, value, what it resolves to, expiry, renewal and history",
    details: "NAME is a name as d/example, or a domain as example.bit; one in another script, such as zürich.bit, is " +
      "translated.",
    options: {
      ...SHARED,
      last: textOption({ placeholder: "NUMBER", description: "show so many entries of the history (default: 10)" })
    }
  },
  register: {
    group: "Commands for names",
    words: "NAME [VALUE]",
    takes: [1, 2],
    description: "register a name: show the value and the cost, ask, and begin",
    details:
      "It takes two transactions and 13 blocks, about two hours on the main network; the node does the rest by itself. Flags for items of the " +
      "value may be repeated.",
    options: {
      ...SHARED,
      ...SPENDING,
      ...FORCE,
      ...VALUE,
      owner: textOption({
        placeholder: "ADDRESS",
        description: "register it for this owner; the wallet itself without"
      }),
      renew: switchOption("let the wallet renew the name before it expires (default); -norenew does not"),
      wait: switchOption("wait until the name is registered, with a progress bar on a terminal")
    }
  },
  update: {
    group: "Commands for names",
    words: "NAME [VALUE]",
    takes: [1, 2],
    description: "change the value of a name: show before and after, ask, and send",
    details:
      "Items without a flag stay as they are; a flag replaces all entries of its item, -sub one item of one label, " +
      "and -tls the certificates of one port. Flags for items may be repeated.",
    options: {
      ...SHARED,
      ...SPENDING,
      ...FORCE,
      ...VALUE,
      remove: textsOption({
        placeholder: "KEY",
        description: "take this item out of the value, as ip, sub or map.www; may be repeated"
      })
    }
  },
  renew: {
    group: "Commands for names",
    words: "[NAME…]",
    takes: [0, 5_000],
    description: "renew names: show what it costs, ask, and send",
    details:
      "Give one name or more, or -all, or -within TIME: one of the three. The exit status is 1 if names are given and none of " +
      "them is renewed. With -all and -within it is 0 where nothing is due, or only names whose renewal is switched off.",
    options: {
      ...SHARED,
      ...SPENDING,
      all: switchOption("all names of the wallet"),
      within: textOption({
        placeholder: "TIME",
        description: "those that expire within this time, as 4w, 10d, 12h or a number of blocks"
      })
    }
  },
  transfer: {
    group: "Commands for names",
    words: "NAME ADDRESS",
    takes: [2, 2],
    description: "give a name to another owner, after a question",
    options: { ...SHARED, ...SPENDING }
  },
  names: {
    group: "Commands for names",
    words: "[PREFIX]",
    takes: [0, 1],
    description: "list the names of the wallet, those first that have to be renewed first",
    details: "With a prefix, names that begin so.",
    options: {
      ...SHARED,
      all: switchOption("show names too that have expired or were given away, and old registrations that failed"),
      expiring: textOption({ placeholder: "BLOCKS", description: "show only names that expire within so many blocks" })
    }
  },
  registrations: {
    group: "Commands for names",
    words: "",
    takes: [0, 0],
    description: "list the registrations of the wallet, and how far they are",
    options: { ...SHARED, all: switchOption("show those too that are done, and those that failed long ago") }
  },
  expiring: {
    group: "Commands for names",
    words: "",
    takes: [0, 0],
    description: "list names that expire soon: those of the wallets and the watched ones, or others",
    options: {
      ...SHARED,
      all: switchOption("names of all owners"),
      owner: textOption({ placeholder: "ADDRESS", description: "the owner of the names" }),
      blocks: textOption({
        placeholder: "NUMBER",
        description: "show names that expire within so many blocks (default: 4032, four weeks)"
      }),
      limit: textOption({ placeholder: "NUMBER", description: "show so many names (default: 100)" })
    }
  },
  find: {
    group: "Commands for names",
    words: "[TEXT]",
    takes: [0, 1],
    description: "find names of all owners by a text, an item of the value, or the owner",
    details: "TEXT can be owner:ADDRESS, ip:192.0.2.1 or another key, as in the search of the pages.",
    options: {
      ...SHARED,
      key: textOption({ placeholder: "KEY", description: "an item of the value: ip, ip6, ns, email, nostr or tor" }),
      value: textOption({ placeholder: "VALUE", description: "the value of that item" }),
      owner: textOption({ placeholder: "ADDRESS", description: "the owner of the names" }),
      namespace: textOption({ placeholder: "PREFIX", description: "how the names begin, such as d/" }),
      expired: switchOption("show expired names too"),
      limit: textOption({ placeholder: "NUMBER", description: "show so many names (default: 100)" })
    }
  },
  watch: {
    group: "Commands for names",
    words: "[PREFIX]",
    takes: [0, 1],
    description: "print a line for each change of a name, as it happens, until it is interrupted",
    details:
      "With a prefix, of names that begin so. When interrupted, it prints where to go on. A line of the kind transferred " +
      "says updated or renewed, with (new address); -json says transferred.",
    options: {
      ...SHARED,
      from: textOption({
        placeholder: "CURSOR",
        description: "begin behind this place; 0 for all changes of the past"
      }),
      types: textOption({
        placeholder: "KINDS",
        description:
          "only these kinds, with commas between them: registered, updated, renewed, transferred, cleared, " +
          "expired, expiring, undone, block (the end of each block), and of the mempool pending, pending_dropped " +
          "and synced; undone comes in any case"
      })
    }
  },
  receive: {
    group: "Commands for coins",
    words: "[LABEL]",
    takes: [0, 1],
    description: "make an address for payments to the wallet; on a terminal with a QR code",
    options: SHARED
  },
  pay: {
    group: "Commands for coins",
    words: "ADDRESS AMOUNT",
    takes: [2, 2],
    description: "send coins: show amount, fee and address, ask, and send",
    details: "AMOUNT is in NMC. The word send is a method of the daemon, with other parameters.",
    options: {
      ...SHARED,
      ...SPENDING,
      comment: textOption({ placeholder: "TEXT", description: "a note for the wallet alone" })
    }
  },
  tx: {
    group: "Commands for coins",
    words: "TXID",
    takes: [1, 1],
    description: "show a transaction of the wallet: whether a block has it, what it pays, the fee",
    options: SHARED
  },
  checkwords: {
    group: "Commands for coins",
    words: "[-]",
    takes: [0, 1],
    description: "check that your recovery words are those of the wallet: ask for three of them",
    details:
      "Read the words from paper; they are not shown. With - it reads the whole phrase from standard input. A word is never " +
      "an argument: other users could see it. The exit status is 1 if a word is wrong.",
    options: SHARED
  },
  status: {
    group: "Commands for the node",
    words: "",
    takes: [0, 0],
    description: "tell how the node is: sync, peers, mempool, wallet (also -getinfo)",
    options: {
      ...SHARED,
      wait: switchOption("first wait until all names are known, with a progress bar on a terminal"),
      watch: switchOption("go on: draw again on a terminal, else print a line for each change")
    }
  },
  doctor: {
    group: "Commands for the node",
    words: "",
    takes: [0, 0],
    description: "look for what is wrong, and say what to do; works without a daemon too",
    details: "The exit status is 1 if a check fails.",
    options: SHARED
  },
  peers: {
    group: "Commands for the node",
    words: "",
    takes: [0, 0],
    description: "list the connected peers",
    options: SHARED
  },
  webhooks: {
    group: "Commands for the node",
    words: "[test ID]",
    takes: [0, 2],
    description: "list the programs that receive events of names, or test one",
    options: SHARED
  },
  lint: {
    group: "Commands without a daemon",
    words: "NAME VALUE",
    takes: [0, 2],
    description: "check a name and a value before you pay for them",
    details: "The value - is standard input, in UTF-8. The exit status is 1 for an error.",
    options: SHARED
  },
  rpcauth: {
    group: "Commands without a daemon",
    words: "USER [PASSWORD]",
    takes: [0, 2],
    description: "make a user of RPC: a line for svcd.conf, and a password",
    details: "Without a password it makes one and prints it; - reads it from standard input.",
    options: SHARED
  }
} as const satisfies Readonly<Record<string, CommandRow>>

export type CommandName = keyof typeof CLI_COMMANDS

/** The rows without the types of their flags. */
export const COMMAND_ROWS: Readonly<Record<CommandName, CommandRow>> = CLI_COMMANDS

const isCommand = (word: string): word is CommandName => Object.hasOwn(CLI_COMMANDS, word)

export const COMMAND_NAMES: ReadonlyArray<CommandName> = Object.keys(CLI_COMMANDS).filter(isCommand)

export const isCliCommand = (word: string | undefined): word is CommandName => word !== undefined && isCommand(word)
