import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import { randomBytes } from "node:crypto"
import { lstat, readdir, readFile, realpath, stat, unlink } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import type { NetworkName } from "../../protocol/networks.ts"
import { replaceFile } from "../../storage/atomicFile.ts"
import { type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import { InvalidWalletRequest, WalletDamaged } from "../errors.ts"
import { faultless } from "./descriptors.ts"
import { documentChains } from "./documentChains.ts"
import {
  decodeDocument,
  encodeDocument,
  UnfitDocument,
  type Upgrades,
  WALLET_VERSION,
  type WalletDocument
} from "./WalletDocument.ts"

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

const DRAFT_ID_BYTES = 16
const DRAFT_END = /^\.[0-9a-f]{32}\.new$/

/** Writes beside the file first, under a name that nobody else has. */
const writeWhole = (path: string, text: string): Promise<void> =>
  replaceFile(path, [text], `${path}.${randomBytes(DRAFT_ID_BYTES).toString("hex")}.new`)

/** Deletes what writes that were cut off have left beside a file: there are secrets in it. */
const dropDrafts = async (path: string): Promise<void> => {
  const [directory, name] = [dirname(path), basename(path)]
  for (const entry of await readdir(directory)) {
    if (entry.startsWith(name) && DRAFT_END.test(entry.slice(name.length))) await unlink(join(directory, entry))
  }
}

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
    return Effect.gen(this, function*() {
      const path = yield* io(destination, "looking for", () => copyPath(destination, basename(this.path)))
      if (yield* isThere(path)) {
        return yield* new InvalidWalletRequest({ code: "exists", reason: `${path} exists already` })
      }
      const text = encodeDocument(this.current)
      yield* Effect.uninterruptible(io(path, "writing", () => writeWhole(path, text)))
    })
  }
}

/** What is wrong with the keys in a document, whose form is right. */
const keysProblem = (document: WalletDocument): string | undefined => {
  const chains = faultless(() => documentChains(document, 0))
  return Either.isLeft(chains) ? chains.left.reason : undefined
}

/** Keeps the text of an older format beside the file, under a name that nobody has taken. */
const keepOlder = async (target: string, version: number, text: string): Promise<void> => {
  for (let count = 0;; count++) {
    const name = `${target}.version${version}${count === 0 ? "" : `.${count}`}.bak`
    if (await exists(name)) continue
    return writeWhole(name, text)
  }
}

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
    const damaged = (found: string) => new WalletDamaged({ file: path, found })
    const target = yield* targetOf(path)
    const { size } = yield* io(path, "opening", () => stat(target))
    if (size > MAX_FILE_BYTES) return yield* damaged(`it is too large (${size} bytes)`)
    const text = yield* io(path, "reading", () => readFile(target, "utf8"))
    const decoded = decodeDocument(text, upgrades)
    if (Either.isLeft(decoded)) return yield* damaged(decoded.left)
    const { document, version } = decoded.right
    if (document.network !== network) return yield* damaged(`it is of ${document.network}, not of ${network}`)
    const problem = keysProblem(document)
    if (problem !== undefined) return yield* damaged(problem)
    if (version !== WALLET_VERSION) {
      yield* io(path, "keeping", () => keepOlder(target, version, text))
      yield* io(path, "writing", () => writeWhole(target, encodeDocument(document)))
    }
    yield* io(path, "deleting what was left beside", () => dropDrafts(target)).pipe(
      Effect.catchAll(({ message: reason }) => Effect.logWarning("drafts of a wallet cannot be deleted", { reason }))
    )
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
    yield* Effect.uninterruptible(io(path, "writing", () => writeWhole(path, text)))
    return new WalletFile(path, path, document)
  })
