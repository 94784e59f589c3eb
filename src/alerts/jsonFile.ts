import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFile, rename } from "node:fs/promises"
import { replaceFile } from "../base/atomicFile.ts"
import { checksummed, checkText } from "../base/checksum.ts"
import { codeOf, reasonOf } from "../base/errorCode.ts"
import { type StorageFailure, StorageUnavailable } from "../storage/errors.ts"

/** JSON files of this folder: with a checksum, replaced as a whole. */

const io = <A>(
  { doing, file }: { readonly file: string; readonly doing: string },
  work: () => Promise<A>
): Effect.Effect<A, StorageUnavailable> =>
  Effect.tryPromise({
    try: work,
    catch: (error) => new StorageUnavailable({ file, doing, reason: reasonOf(codeOf(error)) })
  })

/** Reads a file; `empty` if there is none. A damaged file is renamed to `….damaged`, and counts as empty. */
export const readJsonFile = <A>(
  path: string,
  schema: Schema.Schema<A, string>,
  empty: A
): Effect.Effect<A, StorageFailure> =>
  Effect.gen(function*() {
    const whole = yield* io({ file: path, doing: "reading" }, () => readFile(path, "utf8")).pipe(
      Effect.catchIf(({ reason }) => reason === "ENOENT", () => Effect.succeed(undefined))
    )
    if (whole === undefined) return empty
    const { checksum, text } = checkText(whole)
    const found = checksum === "wrong" ? Option.none() : Schema.decodeUnknownOption(schema)(text)
    if (Option.isSome(found)) return found.value
    yield* io({ file: path, doing: "putting aside" }, () => rename(path, `${path}.damaged`))
    yield* Effect.logError("a file is damaged: it was renamed, and the node goes on without it", {
      file: path,
      renamed: `${path}.damaged`
    })
    return empty
  })

/** Replaces a file atomically. */
export const writeJsonFile = <A>(
  path: string,
  schema: Schema.Schema<A, string>,
  value: A
): Effect.Effect<void, StorageFailure> =>
  Effect.flatMap(
    Effect.orDie(Schema.encode(schema)(value)),
    (text) => io({ file: path, doing: "writing" }, () => replaceFile(path, [checksummed(`${text}\n`)]))
  ).pipe(Effect.uninterruptible)
