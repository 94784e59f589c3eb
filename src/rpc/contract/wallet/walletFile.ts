import * as Schema from "effect/Schema"
import { walletContract } from "../../method/contract.ts"
import { boolean, freeText, optional, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { NOT_LOADED, SCANNING } from "./walletParams.ts"

const LOAD_ON_STARTUP = optional(boolean("Whether to load the wallet at each start."), "unchanged")

const WARNINGS = Schema.optional(Schema.Array(Result.string("A warning")).annotations({ description: "Warnings" }))

const NAMED_WALLET = Schema.Struct({ name: Result.string("The wallet"), warnings: WARNINGS })

export const pathGiven = (name: string, kind: "create" | "load"): string =>
  `Wallet file verification failed. Failed to ${kind} database path '${name}'.`

export const WALLET_EXISTS = "Database already exists."

export const FILE_MISSING = "Path does not exist."

const NO_BACKUP = "Backup file does not exist"

export const NO_NAME = "Wallet name cannot be empty"

export const LEGACY =
  "descriptors argument must be set to \"true\"; it is no longer possible to create a legacy wallet."

export const NOTHING_TO_SEAL =
  "Passphrase provided but private keys are disabled. A passphrase is only used to encrypt " +
  "private keys, so cannot be used for wallets with private keys disabled."

export const NO_SIGNER = "Compiled without external signing support (required for external signing)"

export const LISTWALLETS = walletContract({
  name: "listwallets",
  coins: "any",
  right: "names",
  summary: "Lists the loaded wallets.",
  params: {},
  results: [{ schema: Schema.Array(Result.string("A wallet; empty for the default one")) }],
  examples: [[]]
})

export const LISTWALLETDIR = walletContract({
  name: "listwalletdir",
  coins: "any",
  summary: "Lists the wallet files, loaded or not.",
  params: {},
  results: [{
    schema: Schema.Struct({
      wallets: Schema.Array(Schema.Struct({
        name: Result.string("The wallet; empty for the default one"),
        warnings: WARNINGS
      }))
    })
  }],
  examples: [[]]
})

export const CREATEWALLET = walletContract({
  name: "createwallet",
  coins: "any",
  writes: true,
  summary: "Creates a wallet in a new file and loads it.",
  params: {
    wallet_name: freeText(string("Name of the wallet.")),
    disable_private_keys: withDefault(boolean("Whether the wallet is watch-only and never has private keys."), false),
    blank: withDefault(boolean("Whether the wallet starts without keys."), false),
    passphrase: freeText(optional(string("Passphrase to encrypt the wallet with."))),
    avoid_reuse: withDefault(
      boolean("Whether payments leave out coins of addresses that the wallet has spent from."),
      false
    ),
    descriptors: withDefault(boolean("Must be true."), true),
    load_on_startup: LOAD_ON_STARTUP,
    external_signer: withDefault(boolean("Only false is supported."), false)
  },
  results: [{ schema: NAMED_WALLET }],
  examples: [["savings"], ["watched", true]],
  errors: [
    `-4 ${pathGiven("<name>", "create")} ${WALLET_EXISTS}`,
    `-8 ${NO_NAME}`,
    `-4 ${LEGACY}`,
    `-4 ${NOTHING_TO_SEAL}`,
    `-4 ${NO_SIGNER}`
  ]
})

export const LOADWALLET = walletContract({
  name: "loadwallet",
  coins: "any",
  writes: true,
  summary: "Loads a wallet from its file.",
  params: { filename: freeText(string("Name of the wallet.")), load_on_startup: LOAD_ON_STARTUP },
  results: [{ schema: NAMED_WALLET }],
  examples: [["savings"]],
  errors: ["-35 Wallet \"<name>\" is already loaded.", `-18 ${pathGiven("<name>", "load")} ${FILE_MISSING}`]
})

export const UNLOADWALLET = walletContract({
  name: "unloadwallet",
  coins: "any",
  writes: true,
  summary: "Unloads a wallet. Its file stays.",
  params: {
    wallet_name: freeText(optional(string("Name of the wallet."), "the wallet of the path")),
    load_on_startup: LOAD_ON_STARTUP
  },
  results: [{ schema: Schema.Struct({ warnings: WARNINGS }) }],
  examples: [["savings"]],
  errors: [
    `-18 ${NOT_LOADED}`,
    "-8 Either the RPC endpoint wallet or the wallet name parameter must be provided",
    "-8 The RPC endpoint wallet and the wallet name parameter specify different wallets",
    `-4 ${SCANNING}`
  ]
})

export const RESTOREWALLET = walletContract({
  name: "restorewallet",
  coins: "any",
  writes: true,
  summary: "Creates a wallet from a copy of backupwallet and loads it.",
  params: {
    wallet_name: freeText(string("Name of the new wallet.")),
    backup_file: freeText(string("Path of the copy.")),
    load_on_startup: LOAD_ON_STARTUP
  },
  results: [{ schema: NAMED_WALLET }],
  examples: [["savings", "/media/backup/savings.json"]],
  errors: [
    `-36 Failed to create database path '<name>'. ${WALLET_EXISTS}`,
    `-8 ${NO_BACKUP}`,
    "-8 backup_file has a part that is longer than 255 bytes",
    "-18 <reason why the copy is invalid>"
  ]
})

export const BACKUPWALLET = walletContract({
  name: "backupwallet",
  coins: "any",
  writes: true,
  summary: "Copies the wallet file. The copy has all keys; you need a new one only after an import.",
  params: { destination: freeText(string("Path of the copy, or of its folder, on the node's machine.")) },
  results: [{ schema: Result.nothing("") }],
  examples: [["/media/backup/savings.json"]],
  errors: ["-4 Error: Wallet backup failed! <reason>"]
})
