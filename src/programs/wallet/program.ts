import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { escapeUnsafe } from "../../base/safeText.ts"
import { CONNECTION_OPTIONS, decodeConnection } from "../../config/connection.ts"
import type { SettingsInput } from "../../config/gather.ts"
import * as Kind from "../../config/kinds.ts"
import type { UsageError } from "../../config/UsageError.ts"
import { shortAmount } from "../../protocol/amount.ts"
import { MAX_RENEWAL_FEE } from "../../wallet/signing/renewalRule.ts"
import { argvOf, daemonFlags, defaultedFlag, optionalFlag, switchFlag, type Texts } from "../tool/flags.ts"
import type { ProgramOutcome } from "../tool/outcome.ts"
import type { Prompt } from "../tool/prompt.ts"
import { type Printer, run as runTool } from "../tool/run.ts"
import * as Commands from "./commands.ts"
import { type PsbtContext, showPsbt, signPsbtFile } from "./psbtCommands.ts"

/** `svcd-wallet`: maintains the wallet of a data directory while no node runs on it; `export`, `show` and `sign` work beside one. */

const NAME = "svcd-wallet"

export interface WalletToolInput extends SettingsInput {
  readonly version: string
  readonly prompt: Prompt
  readonly stdin: () => AsyncIterable<Uint8Array>
}

const secretFlag = (name: string, placeholder: "PASSPHRASE" | "PHRASE") => (description: string) =>
  optionalFlag(name, { ...Kind.secretKind, placeholder }, { description })

const MAX_LABEL = 1_000

const labelKind: Kind.OptionKind<string> = {
  ...Kind.textKind("TEXT"),
  schema: Kind.fromText(
    () => Schema.String,
    (text) => text.length > MAX_LABEL ? Either.left(`it is longer than ${MAX_LABEL} characters`) : Either.right(text),
    (label) => label
  )
}

const place = {
  wallet: optionalFlag("wallet", Kind.textKind("NAME"), { description: "name of a wallet other than the default" }),
  connection: daemonFlags({
    network: { ...CONNECTION_OPTIONS.network, description: "network of the wallet" },
    datadir: { ...CONNECTION_OPTIONS.datadir, description: "data directory; svcd.conf in it is read" }
  })
}

interface Place {
  readonly wallet: string | undefined
  readonly connection: Texts
}

const password = secretFlag("password", "PASSPHRASE")
const sealing = password("passphrase for encrypting the wallet")
const unlocking = password("passphrase of the wallet, if it is encrypted")
const label = defaultedFlag("label", labelKind, { description: "label of the address", fallback: "" })

const quietLogger = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ logLevel, message }) => {
    if (logLevel._tag !== "Warning" && logLevel._tag !== "Error") return
    const [text] = Array.isArray(message) ? message : [message]
    process.stderr.write(`${NAME}: ${escapeUnsafe(String(text))}\n`)
  })
)

const contextOf = ({ connection, wallet }: Place, input: WalletToolInput): Either.Either<PsbtContext, UsageError> =>
  Either.map(decodeConnection({ ...input, argv: argvOf(connection) }), (decoded) => ({
    connection: decoded.connection,
    prompt: input.prompt,
    stdin: input.stdin,
    wallet
  }))

type Work<F, E> = (context: PsbtContext, flags: F) => Effect.Effect<Commands.Said, E, Scope.Scope>

const commandOf = (input: WalletToolInput, printer: Printer) => (name: string) => {
  const handlerOf = <F, E>(work: Work<F, E>) => (flags: F & Place): Effect.Effect<void, E | UsageError> =>
    Effect.flatMap(contextOf(flags, input), (context) => work(context, flags)).pipe(
      Effect.map(({ remarks, result }) => {
        for (const line of result) printer.result(`${line}\n`)
        for (const line of remarks) printer.remark(`${line}\n`)
      }),
      Effect.scoped,
      Effect.provide(quietLogger)
    )

  const create = Command.make("create", {
    words: defaultedFlag("words", Kind.choiceKind(["12", "24"]), {
      description: "number of words in the seed phrase",
      fallback: "24"
    }),
    yes: switchFlag("yes", { description: "do not ask to verify the seed phrase" }),
    password: sealing,
    ...place
  }, handlerOf(Commands.createCommand)).pipe(
    Command.withDescription(
      "create a wallet and print its seed phrase; on a terminal, verify three of the words"
    )
  )

  const recover = Command.make("recover", {
    mnemonic: secretFlag("mnemonic", "PHRASE")("the seed phrase of the wallet"),
    passphrase: secretFlag("passphrase", "PASSPHRASE")("passphrase that was set with the seed phrase, if any"),
    password: sealing,
    ...place
  }, handlerOf(Commands.recover)).pipe(Command.withDescription("restore a wallet from its seed phrase"))

  const importKey = Command.make("import-key", {
    privateKey: Args.text({ name: "private-key" }).pipe(
      Args.withDescription("in wallet import format"),
      Args.optional,
      Args.map(Option.getOrUndefined)
    ),
    label,
    password: unlocking,
    ...place
  }, handlerOf(Commands.importKey)).pipe(Command.withDescription("import a private key into the wallet"))

  const encrypt = Command.make("encrypt", { password: sealing, ...place }, handlerOf(Commands.encrypt)).pipe(
    Command.withDescription("encrypt the private keys of the wallet with a passphrase")
  )

  const address = Command.make("address", {
    type: defaultedFlag("type", Kind.choiceKind(["legacy", "p2sh-segwit", "bech32", "bech32m"]), {
      description: "type of the address",
      fallback: "legacy"
    }),
    label,
    ...place
  }, handlerOf(Commands.addressCommand)).pipe(Command.withDescription("print a new address of the wallet"))

  const balance = Command.make("balance", place, handlerOf(Commands.balance)).pipe(
    Command.withDescription("print the balance of the wallet in the blocks stored by svcd")
  )

  const exporting = Command.make("export", {
    phrase: switchFlag("phrase", { description: "print the seed phrase instead of the descriptors" }),
    private: switchFlag("private", { description: "print the descriptors with private keys" }),
    yes: switchFlag("yes", { description: "do not ask before showing secrets" }),
    password: unlocking,
    ...place
  }, handlerOf(Commands.exportWallet)).pipe(
    Command.withDescription(
      "print the public descriptors of the wallet, which show addresses and history but cannot spend"
    )
  )

  const file = Args.text({ name: "file" }).pipe(
    Args.withDescription("a PSBT in base64 or binary, or an answer with one; - reads standard input")
  )

  const show = Command.make("show", { file, ...place }, handlerOf(showPsbt)).pipe(
    Command.withDescription("say in words what a PSBT does; needs no node and no chain")
  )

  const sign = Command.make("sign", {
    file,
    out: optionalFlag("out", Kind.textKind("FILE"), { description: "file to write; FILE.signed.psbt by default" }),
    yes: switchFlag("yes", { description: "do not ask before signing" }),
    "renewals-only": switchFlag("renewals-only", {
      description: "sign without asking, but only a renewal of an own name that changes nothing else"
    }),
    "max-fee": defaultedFlag("max-fee", Kind.amountKind, {
      description: "highest fee that --renewals-only signs",
      fallback: shortAmount(MAX_RENEWAL_FEE)
    }),
    password: unlocking,
    ...place
  }, handlerOf(signPsbtFile)).pipe(
    Command.withDescription("show what a PSBT does, and sign it after a question; needs no node and no chain")
  )

  return Command.make(name).pipe(
    Command.withSubcommands([create, recover, importKey, encrypt, address, balance, exporting, show, sign])
  )
}

const NOTES =
  `--password is the passphrase of the wallet, if it is or will be encrypted. On a terminal, missing secrets are
asked for. Other users can see the arguments of a program while it starts.
Only "export", "show" and "sign" work while a node runs.`

export const run = (input: WalletToolInput): Effect.Effect<ProgramOutcome> =>
  runTool({
    name: NAME,
    version: input.version,
    argv: input.argv,
    about: "Manages the wallet of a data directory while no node runs on it.",
    notes: NOTES,
    repeatsWords: false,
    allowsEmpty: true,
    command: (name, printer) => commandOf(input, printer)(name)
  })
