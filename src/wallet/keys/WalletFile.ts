import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import { isUtf8 } from "node:buffer"
import { lstat, readFile, realpath, stat } from "node:fs/promises"
import { basename, join, resolve } from "node:path"
import type { NetworkName } from "../../protocol/networks.ts"
import { type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import { InvalidWalletRequest, WalletDamaged } from "../errors.ts"
import { documentProblem } from "./documentCheck.ts"
import { Secrets } from "./Secrets.ts"
import { checkSecrets } from "./secretsCheck.ts"
import {
  type DecodedDocument,
  decodeDocument,
  encodeDocument,
  UnfitDocument,
  type Upgrades,
  WALLET_VERSION,
  type WalletDocument
} from "./WalletDocument.ts"
import { dropCopies, dropDrafts, writeCopy, writeWhole } from "./walletDrafts.ts"

/**
 * wallet.json: read once, then written whole at each change. A write that is cut off leaves the file of before, since
 * the new one takes its place only once it is on disk.
 */

/** Most bytes of a file that is read. */
const MAX_FILE_BYTES = 512 * 1024 * 1024

const reasonOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error)

const io = <A>(file: string, doing: string, run: () => Promise<A>): Effect.Effect<A, StorageUnavailable> =>
  Effect.tryPromise({
    try: run,
    catch: (error) => new StorageUnavailable({ file, doing, reason: reasonOf(error) })
  })

const absentWith = (error: unknown): false => {
  if (reasonOf(error) === "ENOENT") return false
  throw error
}

const exists = (path: string): Promise<boolean> => lstat(path).then(() => true, absentWith)

/**
 * Whether something has this name, also a link that leads nowhere: the place that it leads to may only be gone for now,
 * and nothing may take the link's place. That it cannot be told is a failure, not an absence.
 */
export const isThere = (path: string): Effect.Effect<boolean, StorageUnavailable> =>
  io(path, "looking for", () => exists(path))

/** Where links lead; says so of one that leads nowhere. */
const targetOf = (path: string): Effect.Effect<string, StorageUnavailable> =>
  io(path, "opening", () => realpath(path)).pipe(
    Effect.catchIf(({ reason }) => reason === "ENOENT", (failure) =>
      Effect.flatMap(isThere(path), (there) =>
        there
          ? new StorageUnavailable({ file: path, doing: "opening", reason: "it is a link to a file that is not there" })
          : failure))
  )

/** Where a copy goes: a folder takes it under the name of the file. */
const copyPath = async (destination: string, name: string): Promise<string> => {
  const isFolder = await stat(destination).then((found) => found.isDirectory(), absentWith)
  return isFolder ? join(destination, name) : destination
}

const CLOSED = "the wallet is not loaded any more"

interface Waiting {
  readonly change: (document: WalletDocument) => WalletDocument
  readonly done: Deferred.Deferred<WalletDocument, StorageFailure>
}

/** A wallet's file and its content. Belongs to one process: the lock of the data directory sees to that. */
export class WalletFile {
  /** Absolute, or as it was given. */
  readonly path: string
  private readonly target: string
  private current: WalletDocument
  private waiting: Array<Waiting> = []
  private closed = false
  private readonly writing = Effect.unsafeMakeSemaphore(1)
  private readonly copying = Effect.unsafeMakeSemaphore(1)

  /** For `open` and `create`: the document is the one on disk; `target` is where links lead. */
  constructor(path: string, target: string, document: WalletDocument) {
    this.path = path
    this.target = target
    this.current = document
  }

  /** What is on disk. */
  get document(): WalletDocument {
    return this.current
  }

  /**
   * Changes the document, and ends when that is on disk. Changes that come while another is being written share the
   * next write, in their order. `change` may run later, and sees all changes before it; where it throws, its own
   * caller dies of it and the others go on. One that makes a document which cannot be written fails alone as well. A
   * change that returns what it got writes nothing. After `close` it fails.
   */
  update(change: (document: WalletDocument) => WalletDocument): Effect.Effect<WalletDocument, StorageFailure> {
    return Effect.gen(this, function*() {
      const done = yield* Deferred.make<WalletDocument, StorageFailure>()
      this.waiting.push({ change, done })
      yield* this.writing.withPermits(1)(this.flush)
      return yield* Deferred.await(done)
    }).pipe(Effect.uninterruptible)
  }

  /**
   * Ends the writing, once what was asked for before is on disk. Whoever still holds an unloaded wallet must not write
   * an old document over what was made of the file since.
   */
  close(): Effect.Effect<void> {
    return this.writing.withPermits(1)(Effect.zipRight(this.flush, Effect.sync(() => void (this.closed = true)))).pipe(
      Effect.uninterruptible
    )
  }

  /** Writes what waits; nothing, where an earlier turn has taken it along. */
  private readonly flush: Effect.Effect<void> = Effect.suspend(() => {
    const batch = this.waiting
    this.waiting = []
    if (!this.closed) return this.write(batch)
    const failure = Exit.fail(new StorageUnavailable({ file: this.path, doing: "writing", reason: CLOSED }))
    return Effect.forEach(batch, ({ done }) => Deferred.done(done, failure), { discard: true })
  })

  /** The text of a document; of one that cannot be written, what is wrong with it. */
  private textOf(document: WalletDocument): Either.Either<string, StorageUnavailable> {
    try {
      return Either.right(encodeDocument(document))
    } catch (error) {
      if (!(error instanceof UnfitDocument)) throw error
      return Either.left(new StorageUnavailable({ file: this.path, doing: "writing", reason: error.message }))
    }
  }

  private write(batch: ReadonlyArray<Waiting>): Effect.Effect<void> {
    return Effect.suspend(() => {
      let document = this.current
      const outcomes = batch.map(({ change, done }) => {
        try {
          document = change(document)
          return { done, defect: undefined }
        } catch (cause) {
          return { done, defect: { cause } }
        }
      })
      const text = document === this.current ? undefined : this.textOf(document)
      // One of the changes makes a document that is none: the others are not to suffer for it.
      if (text !== undefined && Either.isLeft(text) && batch.length > 1) {
        return Effect.forEach(batch, (one) => this.write([one]), { discard: true })
      }
      const store = text === undefined ? Effect.void : Effect.flatMap(text, (each) => this.store(each))
      return Effect.flatMap(Effect.exit(store), (exit) => {
        if (Exit.isSuccess(exit)) this.current = document
        return Effect.forEach(
          outcomes,
          ({ defect, done }) =>
            Deferred.done(done, defect === undefined ? Exit.as(exit, document) : Exit.die(defect.cause)),
          { discard: true }
        )
      })
    })
  }

  private store(text: string): Effect.Effect<void, StorageUnavailable> {
    return io(this.path, "writing", () => writeWhole(this.target, text))
  }

  /** Copies what is on disk to another file, which must not exist, or under its own name into a folder. */
  backup(destination: string): Effect.Effect<void, StorageFailure | InvalidWalletRequest> {
    return this.copying.withPermits(1)(Effect.gen(this, function*() {
      const path = resolve(yield* io(destination, "looking for", () => copyPath(destination, basename(this.path))))
      if (yield* isThere(path)) {
        return yield* new InvalidWalletRequest({ code: "exists", reason: `${path} exists already` })
      }
      yield* withoutCopies(this.path, this.target)
      const text = encodeDocument(this.current)
      yield* Effect.uninterruptible(io(path, "writing", () => writeCopy(this.target, path, text)))
    }))
  }
}

const notDeleted = Effect.catchAll(({ message: reason }: StorageUnavailable) =>
  Effect.logWarning("drafts of a wallet cannot be deleted", { reason })
)

/** Deletes what copies that were cut off have left: there are secrets in it. */
const withoutCopies = (path: string, target: string): Effect.Effect<void> =>
  io(path, "deleting what was left of copies of", () => dropCopies(target)).pipe(
    Effect.flatMap((unreachable) =>
      Effect.forEach(
        unreachable,
        (draft) =>
          Effect.logWarning(
            "a backup was cut off, and what it left may hold keys: it is deleted once it can be reached",
            {
              draft
            }
          ),
        { discard: true }
      )
    ),
    notDeleted
  )

/** Deletes what writes that were cut off have left as well. */
const cleaned = (path: string, target: string): Effect.Effect<void> =>
  io(path, "deleting what was left beside", () => dropDrafts(target)).pipe(
    notDeleted,
    Effect.zipRight(withoutCopies(path, target))
  )

/** Keeps the text of an older format beside the file, under a name that nobody has taken. */
const keepOlder = async (target: string, version: number, text: string): Promise<void> => {
  for (let count = 0;; count++) {
    const name = `${target}.version${version}${count === 0 ? "" : `.${count}`}.bak`
    if (await exists(name)) continue
    return writeWhole(name, text)
  }
}

/** A document that was compared with itself, or what is wrong with it. */
const judged = (
  { checksummed, document }: DecodedDocument
): Effect.Effect<Either.Either<WalletDocument, string>> =>
  Effect.gen(function*() {
    const problem = documentProblem(document)
    if (problem !== undefined) return Either.left(problem)
    // What is sealed is compared when it is unlocked.
    if (document.encryption !== undefined) return Either.right(document)
    const { seed } = document
    const finding = yield* Effect.acquireUseRelease(
      Effect.sync(() => new Secrets(() => document, undefined)),
      (secrets) => checkSecrets(document, secrets, !checksummed),
      (secrets) => Effect.sync(() => secrets.wipe())
    )
    if (finding.problem !== undefined) return Either.left(finding.problem)
    if (seed?.mnemonic === undefined || seed.mnemonicPassphrase !== undefined) return Either.right(document)
    // A file of 0.1.0 does not say it. From now on the words are known to give the seed, or not to.
    const mnemonicPassphrase = finding.wordsSuffice !== true
    if (mnemonicPassphrase) {
      yield* Effect.logWarning(
        "the words of the wallet give its keys only with the passphrase that was chosen along with them; if none was, " +
          "the words in the file are damaged: compare them with those on paper"
      )
    }
    return Either.right({ ...document, seed: { ...seed, mnemonicPassphrase } })
  })

/** What a wallet's file holds. */
interface ReadWallet extends DecodedDocument {
  /** Where links lead. */
  readonly target: string
  readonly text: string
}

/** Reads a wallet's file and compares its content with itself. Changes nothing on disk. */
export const read = (
  path: string,
  network: NetworkName,
  upgrades?: Upgrades
): Effect.Effect<ReadWallet, WalletDamaged | StorageFailure> =>
  Effect.gen(function*() {
    const damaged = (found: string) => new WalletDamaged({ file: path, found })
    const target = yield* targetOf(path)
    const { size } = yield* io(path, "opening", () => stat(target))
    if (size > MAX_FILE_BYTES) return yield* damaged(`it is too large (${size} bytes)`)
    const bytes = yield* io(path, "reading", () => readFile(target))
    if (!isUtf8(bytes)) return yield* damaged("it is not text in UTF-8")
    const text = bytes.toString("utf8")
    const decoded = decodeDocument(text, upgrades)
    if (Either.isLeft(decoded)) return yield* damaged(decoded.left)
    const { document } = decoded.right
    if (document.network !== network) return yield* damaged(`it is of ${document.network}, not of ${network}`)
    const sound = yield* judged(decoded.right)
    if (Either.isLeft(sound)) return yield* damaged(sound.left)
    return { ...decoded.right, document: sound.right, target, text }
  })

/**
 * Reads a wallet's file. One that does not read is left as it is; one of an older format is kept as
 * `wallet.json.version0.bak` and the like, and written anew.
 */
export const open = (
  path: string,
  network: NetworkName,
  upgrades?: Upgrades
): Effect.Effect<WalletFile, WalletDamaged | StorageFailure> =>
  Effect.gen(function*() {
    const { document, target, text, version } = yield* read(path, network, upgrades)
    if (version !== WALLET_VERSION) {
      yield* io(path, "keeping", () => keepOlder(target, version, text))
      yield* io(path, "writing", () => writeWhole(target, encodeDocument(document)))
    }
    yield* cleaned(path, target)
    return new WalletFile(path, target, document)
  })

/** Makes a wallet's file, which must not exist, not even as a link that leads nowhere. */
export const create = (
  path: string,
  document: WalletDocument
): Effect.Effect<WalletFile, InvalidWalletRequest | StorageFailure> =>
  Effect.gen(function*() {
    if (yield* isThere(path)) {
      return yield* new InvalidWalletRequest({ code: "exists", reason: `${path} exists already` })
    }
    const text = encodeDocument(document)
    yield* cleaned(path, path)
    yield* Effect.uninterruptible(io(path, "writing", () => writeWhole(path, text)))
    return new WalletFile(path, path, document)
  })
