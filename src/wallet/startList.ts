import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { replaceFile } from "../base/atomicFile.ts"
import { checksummed, checkText } from "../base/checksum.ts"
import { fileAside, renameAside } from "../base/disk.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { io } from "../storage/io.ts"

const StartList = Schema.Struct({
  version: Schema.Literal(1),
  /** In loading order, without the default wallet. */
  load: Schema.Array(Schema.String.pipe(Schema.maxLength(200))).pipe(Schema.maxItems(10_000)),
  withoutDefault: Schema.Boolean
})
export type StartList = typeof StartList.Type

const EMPTY: StartList = { version: 1, load: [], withoutDefault: false }

const decode = Schema.decodeUnknownOption(Schema.parseJson(StartList))

const parsed = (whole: string): StartList | undefined => {
  const { checksum, text } = checkText(whole)
  return checksum === "wrong" ? undefined : Option.getOrUndefined(decode(text))
}

/** A damaged list is renamed, and the new one has all wallets: an unloaded wallet would not renew its names. */
export const readStartList = (
  path: string,
  onDisk: Effect.Effect<ReadonlyArray<string>, StorageFailure>
): Effect.Effect<StartList, StorageFailure> =>
  Effect.gen(function*() {
    const text = yield* io({ file: path, doing: "reading" }, () => fileAside(path)).pipe(
      Effect.catchIf(({ code }) => code === "ENOENT", () => Effect.succeed(undefined))
    )
    if (text === undefined) return EMPTY
    const list = parsed(text.toString("utf8"))
    if (list !== undefined) return list
    const load = (yield* onDisk).filter((name) => name !== "")
    const all: StartList = { ...EMPTY, load }
    yield* io({ file: path, doing: "renaming" }, () => renameAside({ from: path, to: `${path}.damaged` }))
    yield* writeStartList(path, all)
    yield* Effect.logWarning(
      "wallets.json is damaged: renamed to wallets.json.damaged, all wallets are loaded",
      {
        wallets: load.length
      }
    )
    return all
  })

/** Atomic. */
export const writeStartList = (path: string, list: StartList): Effect.Effect<void, StorageFailure> =>
  io(
    { file: path, doing: "writing" },
    () => replaceFile(path, [checksummed(`${JSON.stringify(list, undefined, 2)}\n`)])
  ).pipe(
    Effect.uninterruptible
  )

export const withWallet = (list: StartList, name: string, load: boolean): StartList => {
  if (name === "") return { ...list, withoutDefault: !load }
  const others = list.load.filter((each) => each !== name)
  return { ...list, load: load ? [...others, name] : others }
}
