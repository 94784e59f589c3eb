import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import { isUtf8 } from "node:buffer"
import { basename, dirname, join, resolve } from "node:path"
import { lstatAside, realPathAside, statAside } from "../../base/disk.ts"
import { codeOf } from "../../base/errorCode.ts"
import { readGiven } from "../../base/givenFile.ts"
import type { NetworkName } from "../../protocol/networks.ts"
import { type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import { io } from "../../storage/io.ts"
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

/** wallet.json is read once and written as a whole. The new file replaces the old one only once it is on disk. */

const MAX_FILE_BYTES = 512 * 1024 * 1024

const absentWith = (error: unknown): false => {
  if (codeOf(error) === "ENOENT") return false
  throw error
}

const exists = (path: string): Promise<boolean> => lstatAside(path).then(() => true, absentWith)

/** A dangling link counts as present: its target may be temporarily unreachable. A failed check is a failure. */
export const isThere = (path: string): Effect.Effect<boolean, StorageUnavailable> =>
  io({ file: path, doing: "looking for" }, () => exists(path))

const targetOf = (path: string): Effect.Effect<string, StorageUnavailable> =>
  io({ file: path, doing: "opening" }, () => realPathAside(path)).pipe(
    Effect.catchIf(({ code }) => code === "ENOENT", (failure) =>
      Effect.flatMap(isThere(path), (there) =>
        there
          ? new StorageUnavailable({ file: path, doing: "opening", reason: "it is a link to a file that is not there" })
          : failure))
  )

/** In a folder, the copy keeps the file's name. */
const copyPath = async (
  { destination, name }: { readonly destination: string; readonly name: string }
): Promise<string> => {
  const isFolder = await statAside(destination).then((found) => found.isDirectory(), absentWith)
  return isFolder ? join(destination, name) : destination
}

const CLOSED = "the wallet is no longer loaded"

interface Waiting {
  readonly change: (document: WalletDocument) => WalletDocument
  readonly done: Deferred.Deferred<WalletDocument, StorageFailure>
}

interface WalletPath {
  readonly path: string
  /** With links resolved. */
  readonly target: string
}

/** Belongs to one process, ensured by the lock of the data directory. */
export class WalletFile {
  readonly path: string
  private readonly target: string
  private current: WalletDocument
  private waiting: Array<Waiting> = []
  private closed = false
  private readonly writing = Effect.unsafeMakeSemaphore(1)
  private readonly copying = Effect.unsafeMakeSemaphore(1)

  /** For `open` and `create` only. `document` is the one on disk. */
  constructor({ path, target }: WalletPath, document: WalletDocument) {
    this.path = path
    this.target = target
    this.current = document
  }

  get document(): WalletDocument {
    return this.current
  }

  /**
   * Ends when the change is on disk. Changes that arrive during a write share the next one, in order. `change` may run
   * later and sees all earlier changes. A throw or an invalid document fails only its own caller. Returning the
   * argument writes nothing. After `close`, every update fails.
   */
  update(change: (document: WalletDocument) => WalletDocument): Effect.Effect<WalletDocument, StorageFailure> {
    return Effect.gen(this, function*() {
      const done = yield* Deferred.make<WalletDocument, StorageFailure>()
      this.waiting.push({ change, done })
      yield* this.writing.withPermits(1)(this.flush)
      return yield* Deferred.await(done)
    }).pipe(Effect.uninterruptible)
  }

  /** Flushes and stops. A holder of an unloaded wallet must not overwrite the file, which may have changed since. */
  close(): Effect.Effect<void> {
    return this.writing.withPermits(1)(Effect.zipRight(this.flush, Effect.sync(() => void (this.closed = true)))).pipe(
      Effect.uninterruptible
    )
  }

  /** An earlier flush may already have written the changes. */
  private readonly flush: Effect.Effect<void> = Effect.suspend(() => {
    const batch = this.waiting
    this.waiting = []
    if (!this.closed) return this.write(batch)
    const failure = Exit.fail(new StorageUnavailable({ file: this.path, doing: "writing", reason: CLOSED }))
    return Effect.forEach(batch, ({ done }) => Deferred.done(done, failure), { discard: true })
  })

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
      // One change of the batch produced an invalid document; writing each alone lets the others succeed.
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
    return io({ file: this.path, doing: "writing" }, () => writeWhole({ path: this.target, text }))
  }

  /** To a new file, or into a folder under its own name. */
  backup(destination: string): Effect.Effect<void, StorageFailure | InvalidWalletRequest> {
    return this.copying.withPermits(1)(Effect.gen(this, function*() {
      const path = resolve(
        yield* io(
          { file: destination, doing: "looking for" },
          () => copyPath({ destination, name: basename(this.path) })
        )
      )
      if (yield* isThere(path)) {
        return yield* new InvalidWalletRequest({ code: "exists", reason: `${path} exists already` })
      }
      const folder = dirname(path)
      if (!(yield* isThere(folder))) {
        return yield* new InvalidWalletRequest({ code: "missing", reason: `there is no directory ${folder}` })
      }
      yield* withoutCopies({ path: this.path, target: this.target })
      const text = encodeDocument(this.current)
      yield* Effect.uninterruptible(
        io({ file: path, doing: "writing" }, () => writeCopy({ file: this.target, destination: path, text }))
      )
    }))
  }
}

const notDeleted = Effect.catchAll(({ message: reason }: StorageUnavailable) =>
  Effect.logWarning("wallet drafts cannot be deleted", { reason })
)

/** Interrupted backups leave drafts that contain secrets. */
const withoutCopies = ({ path, target }: WalletPath): Effect.Effect<void> =>
  io({ file: path, doing: "deleting the copy drafts of" }, () => dropCopies(target)).pipe(
    Effect.flatMap((unreachable) =>
      Effect.forEach(
        unreachable,
        (draft) =>
          Effect.logWarning(
            "wallet backup interrupted: its draft may hold keys, and is deleted once it is reachable",
            {
              draft
            }
          ),
        { discard: true }
      )
    ),
    notDeleted
  )

const cleaned = ({ path, target }: WalletPath): Effect.Effect<void> =>
  io({ file: path, doing: "deleting the drafts beside" }, () => dropDrafts(target)).pipe(
    notDeleted,
    Effect.zipRight(withoutCopies({ path, target }))
  )

const keepOlder = async (target: string, version: number, text: string): Promise<void> => {
  for (let count = 0;; count++) {
    const name = `${target}.version${version}${count === 0 ? "" : `.${count}`}.bak`
    if (await exists(name)) continue
    return writeWhole({ path: name, text })
  }
}

const judged = (
  { checksummed, document }: DecodedDocument
): Effect.Effect<Either.Either<WalletDocument, string>> =>
  Effect.gen(function*() {
    const problem = documentProblem(document)
    if (problem !== undefined) return Either.left(problem)
    // Sealed secrets are checked on unlock.
    if (document.encryption !== undefined) return Either.right(document)
    const { seed } = document
    const finding = yield* Effect.acquireUseRelease(
      Effect.sync(() => new Secrets(() => document, undefined)),
      (secrets) => checkSecrets(document, secrets, !checksummed),
      (secrets) => Effect.sync(() => secrets.wipe())
    )
    if (finding.problem !== undefined) return Either.left(finding.problem)
    if (seed?.mnemonic === undefined || seed.mnemonicPassphrase !== undefined) return Either.right(document)
    // Files of 0.1.0 lack this.
    const mnemonicPassphrase = finding.wordsSuffice !== true
    if (mnemonicPassphrase) {
      yield* Effect.logWarning(
        "the words of the wallet give its keys only with the passphrase that was chosen along with them; if none was, " +
          "the words in the file are damaged: compare them with those on paper"
      )
    }
    return Either.right({ ...document, seed: { ...seed, mnemonicPassphrase } })
  })

interface ReadWallet extends DecodedDocument {
  readonly target: string
  readonly text: string
}

/** Changes nothing on disk. */
export const read = (
  path: string,
  network: NetworkName,
  upgrades?: Upgrades
): Effect.Effect<ReadWallet, WalletDamaged | StorageFailure> =>
  Effect.gen(function*() {
    const damaged = (found: string) => new WalletDamaged({ file: path, found })
    const target = yield* targetOf(path)
    const { size } = yield* io({ file: path, doing: "opening" }, () => statAside(target))
    if (size > MAX_FILE_BYTES) return yield* damaged(`it is too large (${size} bytes)`)
    const bytes = yield* io({ file: path, doing: "reading" }, () => readGiven(target, MAX_FILE_BYTES))
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

/** A damaged file stays unchanged. An older format is kept as `wallet.json.version0.bak` and so on. */
export const open = (
  path: string,
  network: NetworkName,
  upgrades?: Upgrades
): Effect.Effect<WalletFile, WalletDamaged | StorageFailure> =>
  Effect.gen(function*() {
    const { document, target, text, version } = yield* read(path, network, upgrades)
    if (version !== WALLET_VERSION) {
      yield* io({ file: path, doing: "keeping" }, () => keepOlder(target, version, text))
      yield* io({ file: path, doing: "writing" }, () => writeWhole({ path: target, text: encodeDocument(document) }))
    }
    yield* cleaned({ path, target })
    return new WalletFile({ path, target }, document)
  })

/** Refuses an existing path, even a dangling link. */
export const create = (
  path: string,
  document: WalletDocument
): Effect.Effect<WalletFile, InvalidWalletRequest | StorageFailure> =>
  Effect.gen(function*() {
    if (yield* isThere(path)) {
      return yield* new InvalidWalletRequest({ code: "exists", reason: `${path} exists already` })
    }
    const text = encodeDocument(document)
    yield* cleaned({ path, target: path })
    yield* Effect.uninterruptible(io({ file: path, doing: "writing" }, () => writeWhole({ path, text })))
    return new WalletFile({ path, target: path }, document)
  })
