import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { basename, dirname } from "node:path"
import { replaceFile } from "../base/atomicFile.ts"
import { checksummed, checkText } from "../base/checksum.ts"
import { entriesAside, fileAside, renameAside } from "../base/disk.ts"
import { DataHealth } from "../storage/DataHealth.ts"
import { type StorageFailure, StorageUnavailable } from "../storage/errors.ts"
import { io } from "../storage/io.ts"

/** JSON files of this folder, with a checksum, replaced as a whole. */

/** Maximum damaged copies. With more, something keeps damaging the file. */
const MOST_ASIDE = 100

const MOST_SHOWN = 3

/** The damaged copies, which are never overwritten. */
const putAside = (path: string): Effect.Effect<ReadonlyArray<string>, StorageUnavailable> =>
  Effect.map(
    io({ file: dirname(path), doing: "reading" }, () => entriesAside(dirname(path))),
    (names) => names.filter((name) => name.startsWith(`${basename(path)}.damaged`)).sort()
  )

const freeName = (path: string, taken: ReadonlyArray<string>): string | undefined =>
  Array.from({ length: MOST_ASIDE }, (_, i) => `${path}.damaged${i === 0 ? "" : `.${i + 1}`}`)
    .find((name) => !taken.includes(basename(name)))

export interface JsonFile<A> {
  readonly path: string
  readonly schema: Schema.Schema<A, string>
  /** The content if there is no file. */
  readonly empty: A
  /** What is lost with the file, and what the operator should do. */
  readonly remedy: string
  /** Fail the node, or put the file aside like a damaged one and continue. */
  readonly ifUnreadable: "fail" | "aside"
}

/**
 * Reads a file. A damaged one is renamed to a free name and counts as empty. While such a file exists, `/health`,
 * getcheckinfo and `svcd-cli doctor` show the damage, even after a restart, as the lost entries are still missing.
 */
export const readJsonFile = <A>(
  { empty, ifUnreadable, path, remedy, schema }: JsonFile<A>
): Effect.Effect<A, StorageFailure, DataHealth> =>
  Effect.gen(function*() {
    const health = yield* DataHealth
    const name = basename(path)
    const found = yield* io({ file: path, doing: "reading" }, () => fileAside(path)).pipe(
      Effect.map((whole) => {
        const { checksum, text } = checkText(whole.toString("utf8"))
        return checksum === "wrong" ? Option.none<A>() : Schema.decodeUnknownOption(schema)(text)
      }),
      Effect.catchIf(({ code }) => code === "ENOENT", () => Effect.succeed(Option.some(empty))),
      Effect.catchIf(
        () => ifUnreadable === "aside",
        ({ message: reason }) => Effect.as(Effect.logError("a file cannot be read", { reason }), Option.none<A>())
      )
    )
    if (Option.isNone(found)) {
      const aside = freeName(path, yield* putAside(path))
      if (aside === undefined) {
        return yield* new StorageUnavailable({
          file: path,
          doing: "renaming",
          reason: `${MOST_ASIDE} damaged copies already exist; move them away`
        })
      }
      yield* io({ file: path, doing: "renaming" }, () => renameAside({ from: path, to: aside }))
      yield* health.damaged(name)
      yield* Effect.logError("renamed a damaged or unreadable file, continuing without it", {
        file: path,
        renamed: aside
      })
    }
    const kept = yield* putAside(path)
    if (kept.length > 0) {
      const reason = `was damaged or unreadable and is kept as ${
        kept.slice(0, MOST_SHOWN).join(", ")
      }: ${remedy}; then move the kept files away and restart`
      yield* Effect.asVoid(health.notice({ what: name, reason }))
    }
    return Option.getOrElse(found, () => empty)
  })

export const writeJsonFile = <A>(
  path: string,
  schema: Schema.Schema<A, string>,
  value: A
): Effect.Effect<void, StorageFailure> =>
  Effect.flatMap(
    Effect.orDie(Schema.encode(schema)(value)),
    (text) => io({ file: path, doing: "writing" }, () => replaceFile(path, [checksummed(`${text}\n`)]))
  ).pipe(Effect.uninterruptible)
