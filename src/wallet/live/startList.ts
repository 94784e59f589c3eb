import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readFile } from "node:fs/promises"
import { codeOf } from "../../config/errorCode.ts"
import { replaceFile } from "../../storage/atomicFile.ts"
import { StorageCorrupted, type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"

/** Which wallets are loaded when the node starts. */
const StartList = Schema.Struct({
  version: Schema.Literal(1),
  /** Names of further wallets, in the order in which they are loaded. */
  load: Schema.Array(Schema.String.pipe(Schema.maxLength(200))).pipe(Schema.maxItems(10_000)),
  /** Whether somebody said that the default wallet is not to be loaded. */
  withoutDefault: Schema.Boolean
})
export type StartList = typeof StartList.Type

const EMPTY: StartList = { version: 1, load: [], withoutDefault: false }

const REMEDY = "Delete it: then only the default wallet is loaded, and loadwallet loads the others"

const decode = Schema.decodeUnknown(Schema.parseJson(StartList))

/** Reads the list; an empty one where there is no file. */
export const readStartList = (path: string): Effect.Effect<StartList, StorageFailure> =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (error) => new StorageUnavailable({ file: path, doing: "reading", reason: codeOf(error) })
  }).pipe(
    Effect.catchIf(({ reason }) => reason === "ENOENT", () => Effect.succeed(undefined)),
    Effect.flatMap((text) => text === undefined ? Effect.succeed(EMPTY) : decode(text)),
    Effect.catchTag("ParseError", () =>
      new StorageCorrupted({ file: path, found: "it is not the list of wallets to load", remedy: REMEDY }))
  )

/** Writes the list: whole, or not at all. */
export const writeStartList = (path: string, list: StartList): Effect.Effect<void, StorageFailure> =>
  Effect.tryPromise({
    try: () => replaceFile(path, [`${JSON.stringify(list, undefined, 2)}\n`]),
    catch: (error) => new StorageUnavailable({ file: path, doing: "writing", reason: codeOf(error) })
  }).pipe(Effect.uninterruptible)

/** The list after somebody said whether a wallet is to be loaded. */
export const withWallet = (list: StartList, name: string, load: boolean): StartList => {
  if (name === "") return { ...list, withoutDefault: !load }
  const others = list.load.filter((each) => each !== name)
  return { ...list, load: load ? [...others, name] : others }
}
