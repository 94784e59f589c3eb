import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { accessSync, chmodSync, constants, existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { replaceFileNow, syncDirectoryNow } from "../base/atomicFile.ts"
import { codeOf, type ErrorWords, reasonOf, systemCode } from "../base/errorCode.ts"
import { DIRECTORY_MODE, makeDirectory } from "../base/makeDirectory.ts"
import type { NetworkName } from "../protocol/networks.ts"
import { CONFIG_FILE } from "./configFile.ts"
import {
  type DataDirectoryError,
  DataDirectoryInUse,
  DataDirectoryUnusable,
  WrongNetwork
} from "./dataDirectoryErrors.ts"
import { type HeldLock, LOCK_FILE, takeLock } from "./DirectoryLock.ts"

export { type DataDirectoryError, DataDirectoryInUse, DataDirectoryUnusable, WrongNetwork }

/** Belongs to this node until the scope closes. */
export class DataDirectory extends Context.Tag("svcd/DataDirectory")<DataDirectory, {
  readonly path: string
  readonly blocks: string
  readonly chainstate: string
  readonly file: (fileName: string) => string
}>() {}

const NETWORK_FILE = "NETWORK"
const MAX_NETWORK_BYTES = 64

const WORDS: ErrorWords = new Map([
  ["EEXIST", "there is something that is not a directory"],
  ["ENOENT", "the system does not allow creating it"]
])

const attempt = <A>(
  { path, what }: { readonly path: string; readonly what: string },
  run: () => A
): Effect.Effect<A, DataDirectoryUnusable> =>
  Effect.try({
    try: run,
    catch: (error) => {
      const reason = `${what}: ${reasonOf(codeOf(error), WORDS)}`
      return new DataDirectoryUnusable({ path, reason, code: systemCode(error) })
    }
  })

/** Namecoin Core's files, relative to its directory. Sharing it would mix `blocks/` and `chainstate/`. */
const FOREIGN = ["chainstate/CURRENT", "blocks/index", "wallet.dat", "namecoin.conf", "regtest/chainstate"]

const isOurs = (path: string): boolean => existsSync(join(path, NETWORK_FILE))

/** Whether svcd may set permissions, because no other program has files here. A log file may exist. */
const isFresh = (path: string): boolean =>
  readdirSync(path).every((entry) => entry === CONFIG_FILE || entry.endsWith(".log"))

/**
 * Removes the access of other users; returns whether that succeeded. A directory of another user, such as a mounted
 * one, stays unchanged. So do the owner's permissions: read-only may be intended.
 */
const canClose = (path: string, mode: number): boolean => {
  try {
    chmodSync(path, mode & DIRECTORY_MODE)
    return true
  } catch {
    return false
  }
}

/** The name survives a power failure: the directory contains the wallet. */
const makeDurably = (path: string): void => {
  const made = makeDirectory(path)
  if (made === undefined) return
  for (let parent = dirname(path);; parent = dirname(parent)) {
    try {
      syncDirectoryNow(parent)
    } catch (error) {
      // A directory that svcd may write but not read.
      if (codeOf(error) !== "EACCES") throw error
    }
    if (parent.length < made.length) return
  }
}

const prepare = (path: string) =>
  Effect.gen(function*() {
    yield* attempt({ path, what: "cannot be made" }, () => makeDurably(path))
    yield* attempt({ path, what: "cannot be used" }, () =>
      accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK))
    const ours = yield* attempt({ path, what: "cannot be read" }, () =>
      isOurs(path))
    if (!ours) {
      const foreign = FOREIGN.find((name) => existsSync(join(path, name)))
      if (foreign !== undefined) {
        const reason =
          `it holds ${foreign} of Namecoin Core; give another one, and import from this one with -loadblock`
        return yield* new DataDirectoryUnusable({ path, reason })
      }
    }
    const mode = yield* attempt({ path, what: "cannot be read" }, () => statSync(path).mode & 0o777)
    if ((mode & ~DIRECTORY_MODE) === 0) return
    const closed = (ours || (yield* attempt({ path, what: "cannot be read" }, () => isFresh(path)))) &&
      canClose(path, mode)
    const facts = { path, mode: mode.toString(8) }
    yield* closed
      ? Effect.logWarning("data directory closed to other users", facts)
      : Effect.logWarning("other users can read the data directory", facts)
  })

const OTHERS = 0o077

/** The files with secrets that svcd writes: the wallets. */
const secretFiles = (path: string): ReadonlyArray<string> => {
  const named = join(path, "wallets")
  const others = existsSync(named) ? readdirSync(named).map((name) => join(named, name)) : []
  return [join(path, "wallet.json"), ...others.filter((file) => file.endsWith(".json"))]
}

const modeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mode ?? 0

/**
 * Closes wallets to other users, as a copy or a restored backup may have opened them, and reports it. A readable
 * `svcd.conf` is only reported: it is the operator's.
 */
const closeFiles = (path: string) =>
  Effect.gen(function*() {
    const open = (file: string): boolean => (modeOf(file) & OTHERS) !== 0
    const files = yield* attempt({ path, what: "cannot be read" }, () => secretFiles(path).filter(open))
    for (const file of files) {
      const mode = modeOf(file)
      const facts = { file, mode: (mode & 0o777).toString(8) }
      yield* canClose(file, mode)
        ? Effect.logWarning("wallet closed to other users", facts)
        : Effect.logWarning("other users can read a wallet", facts)
    }
    const config = join(path, CONFIG_FILE)
    if (open(path) && open(config)) {
      yield* Effect.logWarning("other users can read the configuration: chmod go= closes it", { file: config })
    }
  })

const lock = (path: string): Effect.Effect<void, DataDirectoryInUse | DataDirectoryUnusable, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.suspend((): Effect.Effect<HeldLock, DataDirectoryInUse | DataDirectoryUnusable> => {
      const outcome = takeLock(join(path, LOCK_FILE))
      switch (outcome._tag) {
        case "Held":
          return Effect.succeed(outcome)
        case "InUse":
          return new DataDirectoryInUse({ path, ...(outcome.pid === undefined ? {} : { pid: outcome.pid }) })
        case "Unusable":
          return new DataDirectoryUnusable({ path, reason: outcome.reason, code: outcome.code })
      }
    }),
    ({ release }) => Effect.sync(release)
  ).pipe(Effect.asVoid)

const readNetwork = (file: string): string | undefined => {
  if (!existsSync(file)) return undefined
  return statSync(file).size > MAX_NETWORK_BYTES ? "" : readFileSync(file, "utf8").trim()
}

const mark = (path: string, wanted: NetworkName) =>
  Effect.gen(function*() {
    const file = join(path, NETWORK_FILE)
    const found = yield* attempt({ path, what: `${NETWORK_FILE} cannot be read` }, () => readNetwork(file))
    if (found === "") {
      const reason = `${NETWORK_FILE} is damaged; write the name of the directory's network into it`
      return yield* new DataDirectoryUnusable({ path, reason })
    }
    if (found === undefined) {
      yield* attempt({ path, what: `${NETWORK_FILE} cannot be written` }, () => replaceFileNow(file, `${wanted}\n`))
    } else if (found !== wanted) return yield* new WrongNetwork({ path, found, wanted })
  })

/**
 * Takes a data directory until the scope closes: creates it with mode 700 if missing, locks it, and marks it with its
 * network. A directory in use, of another network, or of Namecoin Core stays unchanged.
 */
export const make = (options: {
  readonly path: string
  readonly network: NetworkName
}): Effect.Effect<Context.Tag.Service<DataDirectory>, DataDirectoryError, Scope.Scope> =>
  Effect.gen(function*() {
    const { network, path } = options
    yield* prepare(path)
    yield* lock(path)
    yield* mark(path, network)
    yield* closeFiles(path)
    const [blocks, chainstate] = [join(path, "blocks"), join(path, "chainstate")]
    yield* attempt({ path, what: "blocks/ or chainstate/ cannot be made" }, () => {
      makeDirectory(blocks)
      makeDirectory(chainstate)
      syncDirectoryNow(path)
    })
    return DataDirectory.of({ path, blocks, chainstate, file: (fileName) => join(path, fileName) })
  }).pipe(Effect.withSpan("svcd.node.lockDirectory"))

export const layer = (options: {
  readonly path: string
  readonly network: NetworkName
}): Layer.Layer<DataDirectory, DataDirectoryError> => Layer.scoped(DataDirectory, make(options))
