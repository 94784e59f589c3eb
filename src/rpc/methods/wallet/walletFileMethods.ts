import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { StorageFailure } from "../../../storage/errors.ts"
import type { InvalidWalletRequest, WalletDamaged } from "../../../wallet/errors.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import { method } from "../../method/method.ts"
import type { CallContext, Method } from "../../method/methodTable.ts"
import { boolean, optional, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RPC_CODE, RpcError } from "../../method/RpcError.ts"
import { storageError } from "../errors.ts"
import {
  asRpcError,
  type DefineWalletMethod,
  NOT_LOADED,
  notLoaded,
  SCANNING,
  walletError,
  walletMethod
} from "./walletContext.ts"
import { getwalletinfoMethod } from "./walletInfoMethod.ts"

/** Methods for whole wallets: creating, loading, backup (reference/rpc.md 3.9). */

const LOAD_ON_STARTUP = optional(boolean("Whether to load the wallet at each start."), "unchanged")

const WARNINGS = Schema.optional(Schema.Array(Result.string("A warning")).annotations({ description: "Warnings" }))

const NAMED_WALLET = Schema.Struct({ name: Result.string("The wallet"), warnings: WARNINGS })

type FileFailure = InvalidWalletRequest | WalletDamaged | StorageFailure

const pathText = (name: string, kind: "create" | "load"): string =>
  `Wallet file verification failed. Failed to ${kind} database path '${name}'.`

const EXISTS = "Database already exists."
const MISSING = "Path does not exist."
const NO_BACKUP = "Backup file does not exist"
const NO_NAME = "Wallet name cannot be empty"
const LEGACY = "descriptors argument must be set to \"true\"; it is no longer possible to create a legacy wallet."
const NOTHING_TO_SEAL = "Passphrase provided but private keys are disabled. A passphrase is only used to encrypt " +
  "private keys, so cannot be used for wallets with private keys disabled."
const NO_SIGNER = "Compiled without external signing support (required for external signing)"
const NOT_ENCRYPTED = "Empty string given as passphrase, wallet will not be encrypted."

/** What the answer warns of where a wallet is loaded beside one with the same keys. */
const twinWarnings = (names: ReadonlyArray<string>): ReadonlyArray<string> | undefined =>
  names.length === 0 ? undefined : [
    `Wallets with the same keys are loaded: ${
      names.map((name) => `"${name}"`).join(", ")
    }. Each counts the same coins, ` +
    "and may give out the same addresses: unload all but one of them."
  ]

const alreadyLoaded = (name: string): RpcError =>
  new RpcError({ code: RPC_CODE.walletAlreadyLoaded, message: `Wallet "${name}" is already loaded.` })

const createFailure = (name: string) => (failure: FileFailure): RpcError => {
  if (failure._tag !== "InvalidWalletRequest") return walletError(failure)
  switch (failure.code) {
    case "exists":
      return RpcError.wallet(`${pathText(name, "create")} ${EXISTS}`)
    // A file with that name cannot exist.
    case "missing":
      return RpcError.invalidParameter(failure.reason)
    default:
      return walletError(failure)
  }
}

const loadFailure = (name: string) => (failure: FileFailure): RpcError => {
  if (failure._tag !== "InvalidWalletRequest") return walletError(failure)
  switch (failure.code) {
    case "exists":
      return alreadyLoaded(name)
    case "missing":
      return new RpcError({ code: RPC_CODE.walletNotFound, message: `${pathText(name, "load")} ${MISSING}` })
    default:
      return walletError(failure)
  }
}

/** The longest path, and the longest part between two slashes, in bytes, that operating systems accept. */
const MAX_PATH = 4_095
const MAX_PATH_PART = 255

/** Refuses a path that no operating system accepts: it is the caller's error, not the node's. */
const readablePath = (
  { path, what }: { readonly what: string; readonly path: string }
): Effect.Effect<string, RpcError> => {
  const refuse = (why: string) =>
    RpcError.invalidParameter(`${what} ${why}; give the path of a file on the node's machine`)
  if (path.includes("\0")) return refuse("holds a zero byte")
  if (Buffer.byteLength(path) > MAX_PATH) return refuse(`is longer than ${MAX_PATH} bytes`)
  return path.split("/").some((part) => Buffer.byteLength(part) > MAX_PATH_PART)
    ? refuse(`has a part that is longer than ${MAX_PATH_PART} bytes`)
    : Effect.succeed(path)
}

const restoreFailure = (name: string) => (failure: FileFailure): RpcError => {
  if (failure._tag === "WalletDamaged") {
    return new RpcError({ code: RPC_CODE.walletNotFound, message: failure.message })
  }
  if (failure._tag !== "InvalidWalletRequest") return walletError(failure)
  switch (failure.code) {
    case "exists": {
      const message = `Failed to create database path '${name}'. ${EXISTS}`
      return new RpcError({ code: RPC_CODE.walletAlreadyExists, message })
    }
    case "missing":
      return RpcError.invalidParameter(failure.reason)
    default:
      return walletError(failure)
  }
}

/** The wallet to unload: by path, by parameter, or by both with the same name. Upstream `EnsureUniqueWalletName`. */
const nameMeant = ({ wallet }: CallContext, given: string | undefined): Effect.Effect<string, RpcError> => {
  if (wallet === undefined) {
    return given === undefined
      ? RpcError.invalidParameter("Either the RPC endpoint wallet or the wallet name parameter must be provided")
      : Effect.succeed(given)
  }
  return given === undefined || given === wallet
    ? Effect.succeed(wallet)
    : RpcError.invalidParameter("The RPC endpoint wallet and the wallet name parameter specify different wallets")
}

const listwallets = (wallets: typeof Wallets.Service) =>
  method({
    name: "listwallets",
    right: "names",
    group: "Wallet",
    summary: "Lists the loaded wallets.",
    params: {},
    results: [{ schema: Schema.Array(Result.string("A wallet; empty for the default one")) }],
    examples: [[]],
    handler: () => Effect.sync(() => wallets.loaded().map(({ name }) => name))
  })

const listwalletdir = (wallets: typeof Wallets.Service) =>
  method({
    name: "listwalletdir",
    group: "Wallet",
    summary: "Lists the wallets that have a file, loaded or not.",
    params: {},
    results: [{
      schema: Schema.Struct({
        wallets: Schema.Array(Schema.Struct({
          name: Result.string("The wallet; empty for the default one"),
          warnings: WARNINGS
        }))
      })
    }],
    examples: [[]],
    handler: () =>
      wallets.onDisk.pipe(
        Effect.map((names) => ({ wallets: names.map((name) => ({ name, warnings: [] })) })),
        Effect.mapError(storageError)
      )
  })

const createwallet = (wallets: typeof Wallets.Service) =>
  method({
    name: "createwallet",
    writes: true,
    group: "Wallet",
    summary: "Creates a wallet in a new file and loads it.",
    params: {
      wallet_name: string("Name of the wallet."),
      disable_private_keys: withDefault(boolean("Whether the wallet is watch-only and never has private keys."), false),
      blank: withDefault(boolean("Whether the wallet starts without keys."), false),
      passphrase: optional(string("A passphrase that encrypts the secrets of the wallet.")),
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
      `-4 ${pathText("<name>", "create")} ${EXISTS}`,
      `-8 ${NO_NAME}`,
      `-4 ${LEGACY}`,
      `-4 ${NOTHING_TO_SEAL}`,
      `-4 ${NO_SIGNER}`
    ],
    handler: (given) =>
      Effect.gen(function*() {
        const { blank, disable_private_keys, load_on_startup, passphrase = "", wallet_name: name } = given
        if (!given.descriptors) return yield* RpcError.wallet(LEGACY)
        if (given.external_signer) return yield* RpcError.wallet(NO_SIGNER)
        if (name === "") return yield* RpcError.invalidParameter(NO_NAME)
        if (passphrase !== "" && disable_private_keys) return yield* RpcError.wallet(NOTHING_TO_SEAL)
        const wallet = yield* Effect.mapError(
          wallets.create({
            name,
            privateKeys: !disable_private_keys,
            blank,
            avoidReuse: given.avoid_reuse,
            passphrase: passphrase === "" ? undefined : Redacted.make(passphrase),
            loadOnStart: load_on_startup
          }),
          createFailure(name)
        )
        return { name: wallet.name, warnings: given.passphrase === "" ? [NOT_ENCRYPTED] : undefined }
      })
  })

const loadwallet = (wallets: typeof Wallets.Service) =>
  method({
    name: "loadwallet",
    writes: true,
    group: "Wallet",
    summary: "Loads a wallet from its file.",
    params: { filename: string("Name of the wallet."), load_on_startup: LOAD_ON_STARTUP },
    results: [{ schema: NAMED_WALLET }],
    examples: [["savings"]],
    errors: ["-35 Wallet \"<name>\" is already loaded.", `-18 ${pathText("<name>", "load")} ${MISSING}`],
    handler: ({ filename, load_on_startup }) =>
      Effect.gen(function*() {
        if (wallets.get(filename) !== undefined) return yield* alreadyLoaded(filename)
        const { name } = yield* Effect.mapError(wallets.load(filename, load_on_startup), loadFailure(filename))
        return { name, warnings: twinWarnings(wallets.twinsOf(name)) }
      })
  })

const unloadwallet = (wallets: typeof Wallets.Service) =>
  method({
    name: "unloadwallet",
    writes: true,
    group: "Wallet",
    summary: "Unloads a wallet. Its file stays.",
    params: {
      wallet_name: optional(string("Name of the wallet."), "the wallet of the path"),
      load_on_startup: LOAD_ON_STARTUP
    },
    results: [{ schema: Schema.Struct({ warnings: WARNINGS }) }],
    examples: [["savings"]],
    errors: [
      `-18 ${NOT_LOADED}`,
      "-8 Either the RPC endpoint wallet or the wallet name parameter must be provided",
      "-8 The RPC endpoint wallet and the wallet name parameter specify different wallets",
      `-4 ${SCANNING}`
    ],
    handler: ({ load_on_startup, wallet_name }, context) =>
      Effect.gen(function*() {
        const name = yield* nameMeant(context, wallet_name)
        const wallet = wallets.get(name)
        if (wallet === undefined) return yield* notLoaded()
        if (wallet.ledger.scanning() !== undefined) return yield* RpcError.wallet(SCANNING)
        yield* Effect.mapError(wallets.unload(name, load_on_startup), asRpcError)
        return {}
      })
  })

const restorewallet = (wallets: typeof Wallets.Service) =>
  method({
    name: "restorewallet",
    writes: true,
    group: "Wallet",
    summary: "Creates a wallet from a copy of backupwallet and loads it.",
    params: {
      wallet_name: string("Name of the new wallet."),
      backup_file: string("Path of the copy."),
      load_on_startup: LOAD_ON_STARTUP
    },
    results: [{ schema: NAMED_WALLET }],
    examples: [["savings", "/media/backup/savings.json"]],
    errors: [
      `-36 Failed to create database path '<name>'. ${EXISTS}`,
      `-8 ${NO_BACKUP}`,
      "-8 backup_file has a part that is longer than 255 bytes",
      "-18 <reason why the copy is invalid>"
    ],
    handler: ({ backup_file, load_on_startup, wallet_name }) =>
      Effect.flatMap(
        readablePath({ what: "backup_file", path: backup_file }),
        (path) =>
          wallets.restore({ name: wallet_name, file: path, loadOnStart: load_on_startup }).pipe(
            Effect.map(({ name }) => ({ name, warnings: twinWarnings(wallets.twinsOf(name)) })),
            Effect.mapError(restoreFailure(wallet_name))
          )
      )
  })

const backupwallet = (make: DefineWalletMethod) =>
  make({
    name: "backupwallet",
    writes: true,
    summary: "Copies the file of the wallet. The copy holds all keys; a new one is needed only after an import.",
    params: { destination: string("A path on the node's machine: of the copy, or of its folder.") },
    results: [{ schema: Result.nothing("") }],
    examples: [["/media/backup/savings.json"]],
    errors: ["-4 Error: Wallet backup failed! <reason>"],
    handler: ({ destination }, wallet) =>
      wallet.recovery.backup(destination).pipe(
        Effect.as(null),
        Effect.tapError(({ message: reason }) => Effect.logWarning("wallet backup failed", { reason })),
        // Core gives no reason. Programs compare the beginning.
        Effect.mapError(({ message: reason }) => RpcError.wallet(`Error: Wallet backup failed! ${reason}`))
      )
  })

export const walletFileMethods: Effect.Effect<ReadonlyArray<Method>, never, Wallets> = Effect.gen(function*() {
  const wallets = yield* Wallets
  const make = walletMethod(wallets)

  return [
    listwallets(wallets),
    listwalletdir(wallets),
    createwallet(wallets),
    loadwallet(wallets),
    unloadwallet(wallets),
    restorewallet(wallets),
    backupwallet(make),
    getwalletinfoMethod(make)
  ]
})
