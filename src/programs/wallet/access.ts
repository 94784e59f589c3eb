import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { dirname, join } from "node:path"
import { makeDirectoryDurably } from "../../base/atomicFile.ts"
import { quoted, shownPath } from "../../base/safeText.ts"
import type { ConnectionSettings } from "../../config/connection.ts"
import * as DataDirectory from "../../config/DataDirectory.ts"
import { UsageError } from "../../config/UsageError.ts"
import type { StorageUnavailable } from "../../storage/errors.ts"
import { io } from "../../storage/io.ts"
import { InvalidWalletRequest, WalletDamaged } from "../../wallet/errors.ts"
import { encryption } from "../../wallet/keys/makeDocument.ts"
import { openMasterKey } from "../../wallet/keys/seal.ts"
import { Secrets } from "../../wallet/keys/Secrets.ts"
import { checkSecrets } from "../../wallet/keys/secretsCheck.ts"
import type { Encryption, WalletDocument } from "../../wallet/keys/WalletDocument.ts"
import * as WalletFile from "../../wallet/keys/WalletFile.ts"
import { MOST_TRIES, typedTwice } from "../tool/newPassphrase.ts"
import type { Prompt } from "../tool/prompt.ts"

export const wrong = (problem: string): UsageError => new UsageError({ problems: [problem] })

export interface CommandContext {
  readonly connection: ConnectionSettings
  readonly prompt: Prompt
  /** `undefined` for the default wallet. */
  readonly wallet: string | undefined
}

/** From the command line; `undefined` asks the terminal. */
export type GivenSecret = Redacted.Redacted<string> | undefined

const WALLET_NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}$/

export const walletPath = ({ connection, wallet }: CommandContext): Effect.Effect<string, UsageError> => {
  if (wallet === undefined) return Effect.succeed(join(connection.dataDir, "wallet.json"))
  return WALLET_NAME.test(wallet)
    ? Effect.succeed(join(connection.dataDir, "wallets", `${wallet}.json`))
    : wrong(`--wallet: ${quoted(wallet)} is not the name of a wallet`)
}

const directory = ({ connection }: CommandContext) =>
  DataDirectory.make({ path: connection.dataDir, network: connection.network })

interface Question {
  readonly flag: string
  readonly given: GivenSecret
  readonly text: string
}

/** From a flag, else from the terminal. Never waits without a terminal. */
export const givenSecret = (
  { prompt }: CommandContext,
  { flag, given, text }: Question
): Effect.Effect<Redacted.Redacted<string>, UsageError> =>
  Effect.gen(function*() {
    if (given !== undefined) return given
    const typed = yield* prompt.secret(`Type ${text}: `)
    return typed === undefined ? yield* wrong(`--${flag} is missing: ${text}`) : Redacted.make(typed)
  })

export const newPassphrase = (
  context: CommandContext,
  given: GivenSecret
): Effect.Effect<Redacted.Redacted<string>, UsageError> =>
  Effect.gen(function*() {
    if (given !== undefined) {
      return Redacted.value(given) === "" ? yield* wrong("--password: the passphrase is empty") : given
    }
    return yield* Effect.mapError(
      typedTwice(context.prompt),
      ({ message, reason }) =>
        wrong(reason === "no-terminal" ? "--password is missing: the new passphrase of the wallet" : message)
    )
  })

const missing = (path: string): InvalidWalletRequest =>
  new InvalidWalletRequest({
    code: "missing",
    reason: `there is no ${shownPath(path)}; create a wallet with "svcd-wallet create" or "svcd-wallet recover"`
  })

export const refuseExisting = (path: string): Effect.Effect<void, InvalidWalletRequest | StorageUnavailable> =>
  Effect.flatMap(WalletFile.isThere(path), (there) =>
    there
      ? new InvalidWalletRequest({
        code: "exists",
        reason: `there is already a wallet: ${shownPath(path)}; move it first, or set another -datadir`
      })
      : Effect.void)

/** Does not turn a directory without a wallet into a data directory. */
export const opened = (context: CommandContext) =>
  Effect.gen(function*() {
    const path = yield* walletPath(context)
    if (!(yield* WalletFile.isThere(path))) return yield* missing(path)
    const { chainstate } = yield* directory(context)
    return { file: yield* WalletFile.open(path, context.connection.network), chainstate }
  })

/** Works beside a running node: `keep` stores a change only if no node runs, and returns whether it did. */
export const openedForReading = (context: CommandContext) =>
  opened(context).pipe(
    Effect.map(({ file }) => ({
      file: { path: file.path, document: file.document },
      keep: (change: (document: WalletDocument) => WalletDocument) => Effect.as(file.update(change), true)
    })),
    Effect.catchTag("DataDirectoryInUse", () =>
      Effect.gen(function*() {
        const path = yield* walletPath(context)
        const { document } = yield* WalletFile.read(path, context.connection.network)
        return { file: { path, document }, keep: () => Effect.succeed(false) }
      }))
  )

interface NewWallet {
  readonly path: string
  readonly document: WalletDocument
  readonly password: GivenSecret
}

/** With a passphrase, the file is encrypted from the start. */
export const written = (context: CommandContext, { document, password, path }: NewWallet) =>
  Effect.gen(function*() {
    const sealed = password === undefined ? document : (yield* encryption(document, password))(document)
    const { chainstate } = yield* directory(context)
    // Checked again: under the lock no other program can make one.
    yield* refuseExisting(path)
    yield* io({ file: dirname(path), doing: "making" }, () => makeDirectoryDurably(dirname(path)))
    return { file: yield* WalletFile.create(path, sealed), chainstate }
  })

/** Asks again for a passphrase that was typed wrongly. */
const masterKeyOf = (context: CommandContext, sealing: Encryption, given: GivenSecret) => {
  const attempt = Effect.flatMap(
    givenSecret(context, { flag: "password", given, text: "the passphrase of the wallet" }),
    (passphrase) => openMasterKey(sealing, passphrase)
  )
  return Effect.retry(attempt, {
    times: MOST_TRIES - 1,
    while: ({ _tag }) => given === undefined && _tag === "WrongPassphrase"
  })
}

const NOTHING_WRONG = { problem: undefined } as const

export const unlocked = (
  context: CommandContext,
  file: Pick<WalletFile.WalletFile, "path" | "document">,
  given: GivenSecret
) =>
  Effect.gen(function*() {
    const { encryption: sealing } = file.document
    const masterKey = sealing === undefined ? undefined : yield* masterKeyOf(context, sealing, given)
    const secrets = yield* Effect.acquireRelease(
      Effect.sync(() => new Secrets(() => file.document, masterKey)),
      (secrets) => Effect.sync(() => secrets.wipe())
    )
    // Unsealed secrets were checked when the file was opened.
    const { problem } = sealing === undefined ? NOTHING_WRONG : yield* checkSecrets(file.document, secrets)
    return problem === undefined ? secrets : yield* new WalletDamaged({ file: file.path, found: problem })
  })
