import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { dirname, join } from "node:path"
import { makeDirectoryDurably } from "../../base/atomicFile.ts"
import { quoted, shownPath } from "../../base/safeText.ts"
import type { ConnectionSettings } from "../../config/connection.ts"
import * as DataDirectory from "../../config/DataDirectory.ts"
import { StorageUnavailable } from "../../storage/errors.ts"
import { InvalidWalletRequest, WalletDamaged } from "../../wallet/errors.ts"
import { encryption } from "../../wallet/keys/makeDocument.ts"
import { openMasterKey } from "../../wallet/keys/seal.ts"
import { Secrets } from "../../wallet/keys/Secrets.ts"
import { checkSecrets } from "../../wallet/keys/secretsCheck.ts"
import type { WalletDocument } from "../../wallet/keys/WalletDocument.ts"
import * as WalletFile from "../../wallet/keys/WalletFile.ts"
import type { Prompt } from "./prompt.ts"

/** How `svcd-wallet` opens a wallet: its file, the lock of the data directory, passphrases. */

/** Missing or wrong arguments. Ends the program with status 2. */
export class WrongArguments extends Data.TaggedError("WrongArguments")<{ readonly problem: string }> {
  override get message(): string {
    return this.problem
  }
}

export interface CommandContext {
  readonly connection: ConnectionSettings
  readonly prompt: Prompt
  /** `undefined` for the default wallet. */
  readonly wallet: string | undefined
  readonly flag: (name: string) => string | undefined
  readonly isOn: (name: string) => boolean
  /** The words behind the sub-command. */
  readonly argument: string | undefined
}

const WALLET_NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}$/

export const walletPath = ({ connection, wallet }: CommandContext): Effect.Effect<string, WrongArguments> => {
  if (wallet === undefined) return Effect.succeed(join(connection.dataDir, "wallet.json"))
  return WALLET_NAME.test(wallet)
    ? Effect.succeed(join(connection.dataDir, "wallets", `${wallet}.json`))
    : Effect.fail(new WrongArguments({ problem: `-wallet: ${quoted(wallet)} is not the name of a wallet` }))
}

const directory = ({ connection }: CommandContext) =>
  DataDirectory.make({ path: connection.dataDir, network: connection.network })

/** Reads a secret from a flag, else from the terminal. Never waits without a terminal. */
export const givenSecret = (
  { flag, prompt }: CommandContext,
  name: string,
  question: string
): Effect.Effect<Redacted.Redacted<string>, WrongArguments> =>
  Effect.gen(function*() {
    const given = flag(name) ?? (yield* prompt.secret(`${question}: `))
    if (given !== undefined) return Redacted.make(given)
    return yield* new WrongArguments({ problem: `--${name} is missing: ${question}` })
  })

/** Reads a new passphrase; a typed one is asked for twice. */
export const newPassphrase = (context: CommandContext): Effect.Effect<Redacted.Redacted<string>, WrongArguments> =>
  Effect.gen(function*() {
    const first = yield* givenSecret(context, "password", "the passphrase to encrypt the wallet with")
    if (Redacted.value(first) === "") {
      return yield* new WrongArguments({ problem: "--password: the passphrase is empty" })
    }
    if (context.flag("password") !== undefined) return first
    const second = yield* context.prompt.secret("the same once more: ")
    if (second === Redacted.value(first)) return first
    return yield* new WrongArguments({ problem: "the two passphrases are not the same" })
  })

const missing = (path: string): InvalidWalletRequest =>
  new InvalidWalletRequest({
    code: "missing",
    reason: `there is no ${shownPath(path)}; make a wallet with "svcd-wallet create" or "svcd-wallet recover"`
  })

export const refuseExisting = (path: string): Effect.Effect<void, InvalidWalletRequest | StorageUnavailable> =>
  Effect.flatMap(WalletFile.isThere(path), (there) =>
    there
      ? new InvalidWalletRequest({
        code: "exists",
        reason: `there is a wallet already: ${shownPath(path)}; move it away first, or give another -datadir`
      })
      : Effect.void)

/** Opens an existing wallet; a directory without one does not become a data directory. */
export const opened = (context: CommandContext) =>
  Effect.gen(function*() {
    const path = yield* walletPath(context)
    if (!(yield* WalletFile.isThere(path))) return yield* missing(path)
    const { chainstate } = yield* directory(context)
    return { file: yield* WalletFile.open(path, context.connection.network), chainstate }
  })

/** Writes a new wallet, encrypted from the first byte on if a passphrase is given. */
export const written = (context: CommandContext, path: string, document: WalletDocument) =>
  Effect.gen(function*() {
    const password = context.flag("password")
    const sealed = password === undefined
      ? document
      : (yield* encryption(document, Redacted.make(password)))(document)
    yield* directory(context)
    // Checked again: under the lock no other program can make one.
    yield* refuseExisting(path)
    yield* Effect.tryPromise({
      try: () => makeDirectoryDurably(dirname(path)),
      catch: (cause) => new StorageUnavailable({ file: dirname(path), doing: "making", reason: String(cause) })
    })
    return yield* WalletFile.create(path, sealed)
  })

const NOTHING_WRONG = { problem: undefined } as const

/** The secrets of a wallet, for as long as the scope is open. */
export const unlocked = (context: CommandContext, file: WalletFile.WalletFile) =>
  Effect.gen(function*() {
    const { encryption: sealing } = file.document
    const masterKey = sealing === undefined
      ? undefined
      : yield* Effect.flatMap(
        givenSecret(context, "password", "the passphrase of the wallet"),
        (passphrase) => openMasterKey(sealing, passphrase)
      )
    const secrets = yield* Effect.acquireRelease(
      Effect.sync(() => new Secrets(() => file.document, masterKey)),
      (secrets) => Effect.sync(() => secrets.wipe())
    )
    // Unsealed secrets were compared when the file was opened.
    const { problem } = sealing === undefined ? NOTHING_WRONG : yield* checkSecrets(file.document, secrets)
    return problem === undefined ? secrets : yield* new WalletDamaged({ file: file.path, found: problem })
  })
