import * as Effect from "effect/Effect"
import { join } from "node:path"
import { makeDirectoryDurably } from "../base/atomicFile.ts"
import { entriesAside } from "../base/disk.ts"
import type { StorageFailure, StorageUnavailable } from "../storage/errors.ts"
import { io } from "../storage/io.ts"
import { InvalidWalletRequest } from "./errors.ts"
import * as WalletFile from "./keys/WalletFile.ts"
import { indexFileOf } from "./ledger/openStore.ts"
import { readStartList, withWallet, writeStartList } from "./startList.ts"

/** Letters, digits and signs without meaning in a path, after at most one leading dot. */
const NAME = /^\.?[\p{L}\p{N}](?:[\p{L}\p{N} ._-]*[\p{L}\p{N}_-])?$/u
const LONGEST_NAME = 80

const FILE_SUFFIX = ".json"

export const checkName = (name: string): Effect.Effect<void, InvalidWalletRequest> => {
  const bytes = new TextEncoder().encode(name).length
  if (name === "" || (bytes <= LONGEST_NAME && NAME.test(name))) return Effect.void
  const reason = `a wallet's name has only letters, digits, spaces and ._-, and at most ${LONGEST_NAME} bytes`
  return new InvalidWalletRequest({ code: "missing", reason })
}

/** Paths of wallet.json, the named wallets and the start list. */
export interface WalletPlaces {
  readonly pathOf: (name: string) => string
  readonly indexOf: (name: string) => string
  readonly onDisk: Effect.Effect<ReadonlyArray<string>, StorageFailure>
  readonly makeFolder: (name: string) => Effect.Effect<void, StorageUnavailable>
  readonly requireFree: (name: string) => Effect.Effect<void, InvalidWalletRequest | StorageUnavailable>
  readonly startList: ReturnType<typeof readStartList>
  /** Sets whether the wallet is loaded at each start; `undefined` keeps the setting. */
  readonly remember: (name: string, load: boolean | undefined) => Effect.Effect<void, StorageFailure>
}

export const walletPlaces = (
  options: { readonly directory: string; readonly chainstateDirectory: string }
): WalletPlaces => {
  const folder = join(options.directory, "wallets")
  const listFile = join(options.directory, "wallets.json")

  const pathOf = (name: string): string =>
    name === "" ? join(options.directory, "wallet.json") : join(folder, `${name}${FILE_SUFFIX}`)
  const indexOf = (name: string): string => indexFileOf(options.chainstateDirectory, { name })

  const onDisk: WalletPlaces["onDisk"] = Effect.gen(function*() {
    const named = (yield* WalletFile.isThere(folder))
      ? yield* io({ file: folder, doing: "reading" }, () => entriesAside(folder))
      : []
    const names = named.filter((file) => file.endsWith(FILE_SUFFIX)).map((file) => file.slice(0, -FILE_SUFFIX.length))
    const known = names.filter((name) => name.length > 0 && NAME.test(name)).sort()
    return (yield* WalletFile.isThere(pathOf(""))) ? ["", ...known] : known
  })

  const startList = readStartList(listFile, onDisk)

  const remember = (name: string, load: boolean | undefined): Effect.Effect<void, StorageFailure> =>
    load === undefined
      ? Effect.void
      : Effect.flatMap(
        startList,
        (list) => writeStartList(listFile, withWallet(list, name, load))
      )

  const requireFree = (name: string): Effect.Effect<void, InvalidWalletRequest | StorageUnavailable> =>
    Effect.flatMap(
      WalletFile.isThere(pathOf(name)),
      (there) =>
        there ? new InvalidWalletRequest({ code: "exists", reason: `${pathOf(name)} exists already` }) : Effect.void
    )

  const makeFolder = (name: string): Effect.Effect<void, StorageUnavailable> =>
    name === "" ? Effect.void : io({ file: folder, doing: "making" }, () => makeDirectoryDurably(folder))

  return { pathOf, indexOf, onDisk, makeFolder, requireFree, startList, remember }
}
