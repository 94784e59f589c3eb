import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import { access, open as openFile, readFile, realpath, rename, stat, unlink } from "node:fs/promises"
import { dirname } from "node:path"
import type { NetworkName } from "../../protocol/networks.ts"
import { type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import { InvalidWalletRequest, WalletDamaged } from "../errors.ts"
import { faultless } from "./descriptors.ts"
import { documentChains } from "./documentChains.ts"
import { decodeDocument, encodeDocument, type Upgrades, WALLET_VERSION, type WalletDocument } from "./WalletDocument.ts"

/**
 * wallet.json: read once, then written whole at each change. A write that is cut off leaves the file of before, since
 * the new one takes its place only once it is on disk.
 */

const FILE_MODE = 0o600

/** Most bytes of a file that is read. */
const MAX_FILE_BYTES = 512 * 1024 * 1024

const reasonOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error)

const io = <A>(file: string, doing: string, run: () => Promise<A>): Effect.Effect<A, StorageUnavailable> =>
  Effect.tryPromise({
    try: run,
    catch: (error) => new StorageUnavailable({ file, doing, reason: reasonOf(error) })
  })

const exists = (path: string): Promise<boolean> => access(path).then(() => true, () => false)

/** Makes the entries of a directory durable. Not every system lets a directory be opened; those do it themselves. */
const syncDirectory = async (path: string): Promise<void> => {
  try {
    const directory = await openFile(path, "r")
    try {
      await directory.sync()
    } finally {
      await directory.close()
    }
  } catch (error) {
    if (process.platform !== "win32") throw error
  }
}

const writeWhole = async (path: string, text: string): Promise<void> => {
  const draft = `${path}.new`
  try {
    // A draft that was left behind may have other rights.
    await unlink(draft).catch(() => {})
    const file = await openFile(draft, "wx", FILE_MODE)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await unlink(draft).catch(() => {})
    throw error
  }
  await syncDirectory(dirname(path))
}

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
   * caller dies of it and the others go on. A change that returns what it got writes nothing.
   */
  update(change: (document: WalletDocument) => WalletDocument): Effect.Effect<WalletDocument, StorageFailure> {
    return Effect.gen(this, function*() {
      const done = yield* Deferred.make<WalletDocument, StorageFailure>()
      this.waiting.push({ change, done })
      yield* this.writing.withPermits(1)(this.flush)
      return yield* Deferred.await(done)
    }).pipe(Effect.uninterruptible)
  }

  /** Writes what waits; nothing, where an earlier turn has taken it along. */
  private readonly flush: Effect.Effect<void> = Effect.suspend(() => {
    const batch = this.waiting
    this.waiting = []
    return this.write(batch)
  })

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
      const store = document === this.current ? Effect.void : Effect.suspend(() => this.store(encodeDocument(document)))
      return Effect.flatMap(Effect.exit(store), (exit) => {
        // One of the changes makes a document that is none: the others are not to suffer for it.
        if (Exit.isFailure(exit) && Cause.isDie(exit.cause) && batch.length > 1) {
          return Effect.forEach(batch, (one) => this.write([one]), { discard: true })
        }
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

  /** Copies what is on disk to another file, which must not exist. */
  backup(destination: string): Effect.Effect<void, StorageFailure | InvalidWalletRequest> {
    return Effect.gen(this, function*() {
      if (yield* io(destination, "looking for", () => exists(destination))) {
        return yield* new InvalidWalletRequest({ code: "exists", reason: `${destination} exists already` })
      }
      const text = encodeDocument(this.current)
      yield* io(destination, "writing", () => writeWhole(destination, text))
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
    const target = yield* io(path, "opening", () => realpath(path))
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
    return new WalletFile(path, target, document)
  })

/** Makes a wallet's file, which must not exist. */
export const create = (
  path: string,
  document: WalletDocument
): Effect.Effect<WalletFile, InvalidWalletRequest | StorageFailure> =>
  Effect.gen(function*() {
    if (yield* io(path, "looking for", () => exists(path))) {
      return yield* new InvalidWalletRequest({ code: "exists", reason: `${path} exists already` })
    }
    const text = encodeDocument(document)
    yield* Effect.uninterruptible(io(path, "writing", () => writeWhole(path, text)))
    return new WalletFile(path, path, document)
  })
