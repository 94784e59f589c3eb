import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { replaceFile } from "../../base/atomicFile.ts"
import { ChecksummedText } from "../../base/checksum.ts"
import { unixTime } from "../../base/clock.ts"
import { fileAside, renameAside, statAside } from "../../base/disk.ts"
import { bytesFrom, type Random } from "../../base/random.ts"
import { withLoneSpan } from "../../base/spans.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import { io } from "../../storage/io.ts"
import { AddressBook } from "./AddressBook.ts"
import { BanList } from "./BanList.ts"
import { type Anchor, decodePeers, encodePeers, MAX_ANCHORS, MAX_FILE_SIZE, type PeersContent } from "./peersFile.ts"

/** Interval between writes of peers.json (reference/protocol.md 6.10). */
const SAVE_EVERY = "15 minutes"
const DISCOURAGED_KEY_SIZE = 16

export interface AddressStore {
  readonly book: AddressBook
  readonly bans: BanList
  /** Block-relay peers of the last run. Removed from the file at once, so that a crash does not retry them. */
  readonly anchors: ReadonlyArray<Anchor>
  /** At most two, stored at shutdown. */
  readonly setAnchors: (anchors: ReadonlyArray<Anchor>) => void
  /** After a logged failure, the old file stays. */
  readonly save: Effect.Effect<void>
}

export interface AddressStoreOptions {
  readonly path: string
  readonly random: Random
  readonly allowLocal?: boolean
}

const readText = async (path: string): Promise<string | undefined> => {
  const { size } = await statAside(path)
  return size > MAX_FILE_SIZE ? undefined : (await fileAside(path)).toString("utf8")
}

const load = (path: string): Effect.Effect<PeersContent | undefined> =>
  Effect.gen(function*() {
    const text = yield* io({ file: path, doing: "reading" }, () => readText(path))
    const content = text === undefined ? Either.left("file too large") : decodePeers(text)
    if (Either.isRight(content)) return content.right
    yield* io({ file: path, doing: "renaming" }, () => renameAside({ from: path, to: `${path}.damaged` }))
    yield* Effect.logWarning(
      "peers.json is damaged: renamed to peers.json.damaged, the address book starts empty",
      {
        reason: content.left
      }
    )
    return undefined
  }).pipe(Effect.catchTag("StorageUnavailable", ({ code, reason }) =>
    code === "ENOENT"
      ? Effect.succeed(undefined)
      : Effect.as(
        Effect.logWarning("peers.json cannot be read: the address book starts empty", { path, reason }),
        undefined
      )))

/** Reads peers.json, saves it periodically and at the end. Never fails, as the content can be found again. */
export const make = (options: AddressStoreOptions): Effect.Effect<AddressStore, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { path, random } = options
    const content = yield* load(path)
    const bookOptions = { random, allowLocal: options.allowLocal ?? false }
    const book = content === undefined
      ? new AddressBook(bookOptions)
      : AddressBook.fromJSON(content.book, bookOptions)
    const bans = new BanList({ key: bytesFrom(random, DISCOURAGED_KEY_SIZE), bans: content?.bans ?? [] })
    let anchors: ReadonlyArray<Anchor> = []
    const writing = yield* Effect.makeSemaphore(1)

    const save = Effect.gen(function*() {
      const now = yield* unixTime
      const text = new ChecksummedText()
      for (const part of encodePeers({ book: book.snapshot(), bans: bans.list(now), anchors })) {
        text.add(part)
        yield* turnOfEventLoop
      }
      yield* io({ file: path, doing: "writing" }, () => replaceFile(path, text.finish()))
    }).pipe(
      Effect.catchTag(
        "StorageUnavailable",
        ({ reason }) => Effect.logWarning("peers.json cannot be written", { path, reason })
      ),
      writing.withPermits(1),
      // A started write completes anyway, and two writers of one temporary file would mix.
      Effect.uninterruptible,
      Effect.withSpan("svcd.network.saveAddresses")
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
  }).pipe(withLoneSpan("svcd.network.openAddresses"))
