import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { StorageFailure } from "../../../storage/errors.ts"
import type { InvalidWalletRequest, WalletDamaged } from "../../../wallet/errors.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import {
  BACKUPWALLET,
  CREATEWALLET,
  FILE_MISSING,
  LEGACY,
  LISTWALLETDIR,
  LISTWALLETS,
  LOADWALLET,
  NO_NAME,
  NO_SIGNER,
  NOTHING_TO_SEAL,
  pathGiven,
  RESTOREWALLET,
  UNLOADWALLET,
  WALLET_EXISTS
} from "../../contract/wallet/walletFile.ts"
import { SCANNING } from "../../contract/wallet/walletParams.ts"
import { method } from "../../method/method.ts"
import type { CallContext, Methods } from "../../method/methodTable.ts"
import { RPC_CODE, RpcError } from "../../method/RpcError.ts"
import { storageError, storageReason } from "../errors.ts"
import { asRpcError, type DefineWalletMethod, notLoaded, walletError, walletMethod } from "./walletContext.ts"
import { getwalletinfoMethod } from "./walletInfoMethod.ts"

/** reference/rpc.md 3.9. */

type FileFailure = InvalidWalletRequest | WalletDamaged | StorageFailure

const NOT_ENCRYPTED = "Empty string given as passphrase, wallet will not be encrypted."

/** Warnings about other wallets with the same keys. */
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
      return RpcError.wallet(`${pathGiven(name, "create")} ${WALLET_EXISTS}`)
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
      return new RpcError({ code: RPC_CODE.walletNotFound, message: `${pathGiven(name, "load")} ${FILE_MISSING}` })
    default:
      return walletError(failure)
  }
}

/** Bytes of a path, and between two slashes, that operating systems accept. */
const MAX_PATH = 4_095
const MAX_PATH_PART = 255

/** Refuses paths that no operating system accepts, as the caller's error. */
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
      const message = `Failed to create database path '${name}'. ${WALLET_EXISTS}`
      return new RpcError({ code: RPC_CODE.walletAlreadyExists, message })
    }
    case "missing":
      return RpcError.invalidParameter(failure.reason)
    default:
      return walletError(failure)
  }
}

/** By path, by parameter, or by both with the same name. Upstream `EnsureUniqueWalletName`. */
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
  method(LISTWALLETS, () => Effect.sync(() => wallets.loaded().map(({ name }) => name)))

const listwalletdir = (wallets: typeof Wallets.Service) =>
  method(LISTWALLETDIR, () =>
    wallets.onDisk.pipe(
      Effect.map((names) => ({ wallets: names.map((name) => ({ name, warnings: [] })) })),
      Effect.mapError(storageError)
    ))

const createwallet = (wallets: typeof Wallets.Service) =>
  method(CREATEWALLET, (given) =>
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
    }))

const loadwallet = (wallets: typeof Wallets.Service) =>
  method(LOADWALLET, ({ filename, load_on_startup }) =>
    Effect.gen(function*() {
      if (wallets.get(filename) !== undefined) return yield* alreadyLoaded(filename)
      const { name } = yield* Effect.mapError(wallets.load(filename, load_on_startup), loadFailure(filename))
      return { name, warnings: twinWarnings(wallets.twinsOf(name)) }
    }))

const unloadwallet = (wallets: typeof Wallets.Service) =>
  method(UNLOADWALLET, ({ load_on_startup, wallet_name }, context) =>
    Effect.gen(function*() {
      const name = yield* nameMeant(context, wallet_name)
      const wallet = wallets.get(name)
      if (wallet === undefined) return yield* notLoaded()
      if (wallet.ledger.scanning() !== undefined) return yield* RpcError.wallet(SCANNING)
      yield* Effect.mapError(wallets.unload(name, load_on_startup), asRpcError)
      return {}
    }))

const restorewallet = (wallets: typeof Wallets.Service) =>
  method(RESTOREWALLET, ({ backup_file, load_on_startup, wallet_name }) =>
    Effect.flatMap(
      readablePath({ what: "backup_file", path: backup_file }),
      (path) =>
        wallets.restore({ name: wallet_name, file: path, loadOnStart: load_on_startup }).pipe(
          Effect.map(({ name }) => ({ name, warnings: twinWarnings(wallets.twinsOf(name)) })),
          Effect.mapError(restoreFailure(wallet_name))
        )
    ))

const backupwallet = (make: DefineWalletMethod) =>
  make(BACKUPWALLET, ({ destination }, wallet) =>
    wallet.recovery.backup(destination).pipe(
      Effect.as(null),
      Effect.tapError(({ message: reason }) => Effect.logWarning("wallet backup failed", { reason })),
      // Core gives no reason. Programs compare the beginning.
      Effect.mapError((failure) =>
        RpcError.wallet(`Error: Wallet backup failed! ${failure.message}`, storageReason(failure))
      )
    ))

export const walletFileMethods: Methods<Wallets> = Effect.gen(function*() {
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
