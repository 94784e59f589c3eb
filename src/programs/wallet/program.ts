import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import type * as Scope from "effect/Scope"
import { escapeUnsafe } from "../../base/safeText.ts"
import { readWords, type Words } from "../../config/argv.ts"
import { CONNECTION_OPTIONS, decodeConnection } from "../../config/connection.ts"
import type { DataDirectoryError } from "../../config/DataDirectory.ts"
import { OPTIONS } from "../../config/options.ts"
import type { SettingsInput } from "../../config/settings.ts"
import { nearest } from "../../config/suggest.ts"
import { USAGE_EXIT_CODE, UsageError } from "../../config/UsageError.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { InvalidWalletRequest, KeysLocked, WalletDamaged, WrongPassphrase } from "../../wallet/errors.ts"
import type { CommandContext, WrongArguments } from "./access.ts"
import * as Commands from "./commands.ts"
import type { Prompt } from "./prompt.ts"

/** `svcd-wallet`: maintains the wallet of a data directory while no node runs on it. */

const NAME = "svcd-wallet"

/** What the program prints, and its exit status. */
export interface WalletOutcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface WalletToolInput extends SettingsInput {
  readonly version: string
  readonly prompt: Prompt
}

const switchOption = { ...OPTIONS.version, env: undefined, key: undefined }
const textOption = { ...OPTIONS.rpcuser, env: undefined, key: undefined, placeholder: "TEXT" }

const FLAGS = {
  network: CONNECTION_OPTIONS.network,
  datadir: CONNECTION_OPTIONS.datadir,
  wallet: { ...textOption, placeholder: "NAME" },
  mnemonic: { ...textOption, placeholder: "PHRASE" },
  passphrase: { ...textOption, placeholder: "PASSPHRASE" },
  password: { ...textOption, placeholder: "PASSPHRASE" },
  words: { ...textOption, placeholder: "12|24" },
  label: textOption,
  type: textOption,
  phrase: switchOption,
  private: switchOption,
  yes: switchOption,
  version: OPTIONS.version,
  help: OPTIONS.help
}

type FlagName = keyof typeof FLAGS

const COMMON: ReadonlyArray<FlagName> = ["network", "datadir", "wallet", "version", "help"]

type CommandFailure =
  | WrongArguments
  | DataDirectoryError
  | InvalidWalletRequest
  | StorageFailure
  | WalletDamaged
  | KeysLocked
  | WrongPassphrase

interface Command {
  readonly run: (context: CommandContext) => Effect.Effect<Commands.Said, CommandFailure, Scope.Scope>
  /** Its flags beside the common ones. */
  readonly flags: ReadonlyArray<FlagName>
  readonly argument: boolean
}

const COMMANDS: Readonly<Record<string, Command>> = {
  "create": { run: Commands.createCommand, flags: ["words", "password"], argument: false },
  "recover": { run: Commands.recover, flags: ["mnemonic", "passphrase", "password"], argument: false },
  "import-key": { run: Commands.importKey, flags: ["label", "password"], argument: true },
  "encrypt": { run: Commands.encrypt, flags: ["password"], argument: false },
  "address": { run: Commands.addressCommand, flags: ["type", "label"], argument: false },
  "balance": { run: Commands.balance, flags: [], argument: false },
  "export": { run: Commands.exportWallet, flags: ["phrase", "private", "yes", "password"], argument: false }
}

export const WALLET_HELP = `Usage: ${NAME} [flags] <sub-command> [flags]

Looks after the wallet of a data directory while no node runs on it.

Sub-commands
  create [--words 12|24] [--password PASSPHRASE]
      make a new wallet, and print its words: once, so write them down
  recover --mnemonic PHRASE [--passphrase PASSPHRASE] [--password PASSPHRASE]
      make the wallet from its words; --passphrase is what was chosen along with them, if anything
  import-key PRIVATE_KEY [--label TEXT] [--password PASSPHRASE]
      put a private key into the wallet, in wallet import format
  encrypt --password PASSPHRASE
      encrypt the private keys of the wallet with a passphrase
  address [--type legacy|p2sh-segwit|bech32|bech32m] [--label TEXT]
      print a new address of the wallet
  balance
      print what the wallet has in the blocks that svcd has stored
  export [--phrase|--private] [--yes] [--password PASSPHRASE]
      print the descriptors of the wallet, which show its addresses and history but cannot spend; or its words;
      or the descriptors with private keys

Flags
  -network NAME         network of the wallet (environment: SVCD_NETWORK)
  -datadir PATH         data directory; svcd.conf in it is read (environment: SVCD_DATA_DIR)
  -wallet NAME          a named wallet in place of the default one
  -version              print the version and exit
  -help                 print this text and exit

--password is the passphrase of the wallet, for those that are encrypted or to be encrypted. A secret that is
needed and not given is asked for at the terminal, where there is one. Other users can see the arguments of a
program while it runs.

Exit status: 0; 1 if it cannot be done; 2 for a mistake in the arguments or the configuration.
`

const success = (stdout: string): WalletOutcome => ({ code: 0, stdout, stderr: "" })

const failure = (code: number, text: string): WalletOutcome => ({
  code,
  stdout: "",
  stderr: text.split("\n").map((line) => `${NAME}: ${line}\n`).join("")
})

type Arguments = Words<FlagName>

/** What is wrong with words and flags together. Repeats only the name of a sub-command: other words may be secrets. */
const problemsOf = (
  { given, problems, words: [name, ...more] }: Arguments,
  command: Command | undefined
): ReadonlyArray<string> => {
  if (problems.length > 0) return problems
  const names = Object.keys(COMMANDS)
  if (name === undefined) return [`a sub-command is missing: ${names.join(", ")}; see ${NAME} --help`]
  if (command === undefined) {
    const meant = nearest(name, names)
    const hint = meant === undefined ? `there are ${names.join(", ")}` : `did you mean ${meant}?`
    return [`that is not a sub-command; ${hint}`]
  }
  const strange = [...given.keys()].filter((flag) => !COMMON.includes(flag) && !command.flags.includes(flag))
  if (strange.length > 0) return strange.map((flag) => `--${flag}: is not a flag of ${name}`)
  if (more.length > (command.argument ? 1 : 0)) {
    return [`${name}: there are too many arguments; a text with spaces has to be in quotes`]
  }
  return []
}

/** Warnings go where messages go. */
const quietLogger = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ logLevel, message }) => {
    if (logLevel._tag !== "Warning" && logLevel._tag !== "Error") return
    const [text] = Array.isArray(message) ? message : [message]
    process.stderr.write(`${NAME}: ${escapeUnsafe(String(text))}\n`)
  })
)

const lines = (texts: ReadonlyArray<string>): string => texts.map((text) => `${text}\n`).join("")

const finish = (exit: Exit.Exit<Commands.Said, CommandFailure>): WalletOutcome =>
  Exit.match(exit, {
    onSuccess: ({ remarks, result }) => ({ code: 0, stdout: lines(result), stderr: lines(remarks) }),
    onFailure: (cause) => {
      const error = Cause.failureOption(cause)
      if (error._tag === "None") return failure(1, "an error of the program itself, please report it")
      return failure(error.value._tag === "WrongArguments" ? USAGE_EXIT_CODE : 1, error.value.message)
    }
  })

/** Runs the program. Every failure is an outcome. */
export const run = (input: WalletToolInput): Effect.Effect<WalletOutcome> =>
  Effect.suspend(() => {
    const read = readWords(input.argv, FLAGS)
    const isOn = (name: FlagName): boolean => ["1", "true"].includes(read.given.get(name)?.at(-1) ?? "0")
    if (isOn("help")) return Effect.succeed(success(WALLET_HELP))
    if (isOn("version")) return Effect.succeed(success(`${NAME} ${input.version}\n`))
    const [name = "", argument] = read.words
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    const problems = problemsOf(read, command)
    if (problems.length > 0 || command === undefined) return Effect.succeed(usage(new UsageError({ problems })))
    const argv = (["network", "datadir"] as const).flatMap((flag) =>
      (read.given.get(flag) ?? []).map((text) => `-${flag}=${text}`)
    )
    const decoded = decodeConnection({ ...input, argv })
    if (Either.isLeft(decoded)) return Effect.succeed(usage(decoded.left))
    const texts: ReadonlyMap<string, ReadonlyArray<string>> = read.given
    return command.run({
      connection: decoded.right.connection,
      prompt: input.prompt,
      wallet: read.given.get("wallet")?.at(-1),
      flag: (flag) => texts.get(flag)?.at(-1),
      isOn: (flag) => ["1", "true"].includes(texts.get(flag)?.at(-1) ?? "0"),
      argument
    }).pipe(Effect.scoped, Effect.exit, Effect.map(finish), Effect.provide(quietLogger))
  })

const usage = (error: UsageError): WalletOutcome => ({
  code: USAGE_EXIT_CODE,
  stdout: "",
  stderr: lines(error.report(NAME))
})
