import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { open, rename } from "node:fs/promises"
import { replaceFile } from "../../base/atomicFile.ts"
import { ChecksummedText } from "../../base/checksum.ts"
import { unixTime } from "../../base/clock.ts"
import { type Random, randomBytes } from "../../base/random.ts"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import { AddressBook } from "./AddressBook.ts"
import { BanList } from "./BanList.ts"
import { type Anchor, decodePeers, encodePeers, MAX_ANCHORS, MAX_FILE_SIZE, type PeersContent } from "./peersFile.ts"

/** How often peers.json is written (reference/protocol.md 6.10). */
const SAVE_EVERY = "15 minutes"
const DISCOURAGED_KEY_SIZE = 16

/** What is known of peers beyond the run of the node: peers.json, in memory. */
export interface AddressStore {
  readonly book: AddressBook
  readonly bans: BanList
  /** Where the block-relay peers of the last run were. They are in the file no longer: a crash does not try them twice. */
  readonly anchors: ReadonlyArray<Anchor>
  /** Says which anchors the file is to have from now on, two at most: for the end of the node. */
  readonly setAnchors: (anchors: ReadonlyArray<Anchor>) => void
  /** Writes the file now: after a ban. A failure is logged; the file stays as it was. */
  readonly save: Effect.Effect<void>
}

export interface AddressStoreOptions {
  /** Of peers.json; absolute. */
  readonly path: string
  readonly random: Random
  /** Whether addresses of this machine are taken, for test networks. */
  readonly allowLocal?: boolean
}

/** A file operation failed; for the log. */
class FileTrouble extends Data.TaggedError("FileTrouble")<{ readonly reason: string }> {}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : error instanceof Error ? error.name : "unknown"

const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, FileTrouble> =>
  Effect.tryPromise({ try: run, catch: (error) => new FileTrouble({ reason: codeOf(error) }) })

const readText = async (path: string): Promise<string | undefined> => {
  const file = await open(path, "r")
  try {
    const { size } = await file.stat()
    return size > MAX_FILE_SIZE ? undefined : await file.readFile("utf8")
  } finally {
    await file.close()
  }
}

/** What the file holds; `undefined` where there is none, or nothing to be used. A damaged file is kept aside. */
const load = (path: string): Effect.Effect<PeersContent | undefined> =>
  Effect.gen(function*() {
    const text = yield* attempt(() => readText(path))
    const content = text === undefined ? Either.left("it is too large") : decodePeers(text)
    if (Either.isRight(content)) return content.right
    yield* attempt(() => rename(path, `${path}.damaged`))
    yield* Effect.logWarning(
      "peers.json is damaged: renamed to peers.json.damaged, the address book starts empty",
      {
        reason: content.left
      }
    )
    return undefined
  }).pipe(Effect.catchTag("FileTrouble", ({ reason }) =>
    reason === "ENOENT"
      ? Effect.succeed(undefined)
      : Effect.as(
        Effect.logWarning("peers.json cannot be read: the address book starts empty", { path, reason }),
        undefined
      )))

/**
 * Reads peers.json, keeps it up to date while the scope is open, and writes it when the scope closes. Never fails: what
 * is in the file can be found again, so neither a damaged nor an unwritable file stops a node.
 */
export const make = (options: AddressStoreOptions): Effect.Effect<AddressStore, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { path, random } = options
    const content = yield* load(path)
    const bookOptions = { random, allowLocal: options.allowLocal ?? false }
    const book = content === undefined
      ? new AddressBook(bookOptions)
      : AddressBook.fromJSON(content.book, bookOptions)
    const bans = new BanList({ key: randomBytes(random, DISCOURAGED_KEY_SIZE), bans: content?.bans ?? [] })
    let anchors: ReadonlyArray<Anchor> = []
    const writing = yield* Effect.makeSemaphore(1)

    const save = Effect.gen(function*() {
      const now = yield* unixTime
      const text = new ChecksummedText()
      for (const part of encodePeers({ book: book.snapshot(), bans: bans.list(now), anchors })) {
        text.add(part)
        yield* turnOfEventLoop
      }
      yield* attempt(() => replaceFile(path, text.finish()))
    }).pipe(
      Effect.catchTag(
        "FileTrouble",
        ({ reason }) => Effect.logWarning("peers.json cannot be written", { path, reason })
      ),
      writing.withPermits(1),
      // The file system goes on with what it was asked for: two writers of one draft would mix.
      Effect.uninterruptible,
      Effect.withSpan("AddressStore.save")
    )

    yield* Effect.addFinalizer(() => save)
    yield* save.pipe(Effect.delay(SAVE_EVERY), Effect.repeat(Schedule.forever), Effect.forkScoped)
    return {
      book,
      bans,
      anchors: content?.anchors ?? [],
      setAnchors: (list: ReadonlyArray<Anchor>) => {
        anchors = list.slice(0, MAX_ANCHORS)
      },
      save
    }
  }).pipe(Effect.withSpan("AddressStore.make"))
