import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFile, rename } from "node:fs/promises"
import { replaceFile } from "../base/atomicFile.ts"
import { checksummed, checkText } from "../base/checksum.ts"
import { codeOf } from "../base/errorCode.ts"
import { type StorageFailure, StorageUnavailable } from "../storage/errors.ts"

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

const decode = Schema.decodeUnknownOption(Schema.parseJson(StartList))

const io = <A>(file: string, doing: string, work: () => Promise<A>): Effect.Effect<A, StorageUnavailable> =>
  Effect.tryPromise({ try: work, catch: (error) => new StorageUnavailable({ file, doing, reason: codeOf(error) }) })

const parsed = (whole: string): StartList | undefined => {
  const { checksum, text } = checkText(whole)
  return checksum === "wrong" ? undefined : Option.getOrUndefined(decode(text))
}

/**
 * Reads the list; an empty one where there is no file. A damaged one is put aside, and all wallets that are there take
 * its place: one that is loaded without need costs little, and one that is not does not renew its names.
 */
export const readStartList = (
  path: string,
  onDisk: Effect.Effect<ReadonlyArray<string>, StorageFailure>
): Effect.Effect<StartList, StorageFailure> =>
  Effect.gen(function*() {
    const text = yield* io(path, "reading", () => readFile(path, "utf8")).pipe(
      Effect.catchIf(({ reason }) => reason === "ENOENT", () => Effect.succeed(undefined))
    )
    if (text === undefined) return EMPTY
    const list = parsed(text)
    if (list !== undefined) return list
    const load = (yield* onDisk).filter((name) => name !== "")
    const all: StartList = { ...EMPTY, load }
    yield* io(path, "putting aside", () => rename(path, `${path}.damaged`))
    yield* writeStartList(path, all)
    yield* Effect.logWarning(
      "wallets.json is damaged: renamed to wallets.json.damaged, all wallets are loaded",
      {
        wallets: load.length
      }
    )
    return all
  })

/** Writes the list: whole, or not at all. */
export const writeStartList = (path: string, list: StartList): Effect.Effect<void, StorageFailure> =>
  io(path, "writing", () => replaceFile(path, [checksummed(`${JSON.stringify(list, undefined, 2)}\n`)])).pipe(
    Effect.uninterruptible
  )

/** The list after somebody said whether a wallet is to be loaded. */
export const withWallet = (list: StartList, name: string, load: boolean): StartList => {
  if (name === "") return { ...list, withoutDefault: !load }
  const others = list.load.filter((each) => each !== name)
  return { ...list, load: load ? [...others, name] : others }
}
