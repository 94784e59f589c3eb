import * as Effect from "effect/Effect"
import { grouped } from "../../base/quantities.ts"
import type { JsonValue } from "../../rpc/json/encodeJson.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { Daemon } from "./daemon.ts"
import { at, indented, objectOf, textAt } from "./jsonText.ts"
import { type OwnNameEntry, ownNamesOf } from "./ownNames.ts"

/** Reads pages of a method such as `name_find` until there are enough names, and notes whether names are missing. */

const PAGE = 500

export interface NamesFound {
  readonly names: ReadonlyArray<OwnNameEntry>
  readonly more: boolean
  readonly complete: boolean
}

export interface NamesWanted {
  readonly method: "name_expiring" | "name_find"
  readonly conditions: Readonly<Record<string, JsonValue>>
  readonly limit: number
  /** Filters the daemon's names; all by default. */
  readonly fits?: (entry: OwnNameEntry) => boolean
}

const MOST_READ = 100_000

export const gatherNames = (
  daemon: Daemon,
  { conditions, fits, limit, method }: NamesWanted
): Effect.Effect<NamesFound, RpcClientError> =>
  Effect.gen(function*() {
    const names: Array<OwnNameEntry> = []
    let read = 0
    for (let cursor: string | undefined = undefined;;) {
      const query: Readonly<Record<string, JsonValue>> = {
        ...conditions,
        nameEncoding: "hex",
        valueEncoding: "hex",
        limit: fits === undefined ? Math.min(PAGE, Math.max(1, limit - names.length)) : PAGE,
        ...(cursor === undefined ? {} : { cursor })
      }
      const page: Json = yield* daemon.ask(method, { query })
      const entries = ownNamesOf(at(page, "names"))
      read += entries.length
      names.push(...fits === undefined ? entries : entries.filter(fits))
      cursor = textAt(page, "next")
      if (cursor === undefined || names.length >= limit || read >= MOST_READ) {
        return {
          names: names.slice(0, limit),
          more: cursor !== undefined || names.length > limit,
          complete: at(page, "complete") !== false
        }
      }
    }
  })

export const listText = (
  { complete, more, names }: NamesFound,
  { incomplete, lines }: { readonly lines: ReadonlyArray<string>; readonly incomplete: string }
): string =>
  [
    ...lines,
    ...(more ? ["", `Only the first ${grouped(names.length)} are shown; -limit shows more.`] : []),
    ...(complete ? [] : ["", incomplete]),
    ""
  ].join("\n")

export const listJson = ({ complete, more, names }: NamesFound, members: ReadonlyArray<string>): string => {
  const list = names.map(({ name, said, value }) =>
    objectOf({
      name: name.text ?? null,
      name_hex: name.hex,
      value: value?.text ?? null,
      value_hex: value?.hex,
      ...Object.fromEntries(members.map((member) => [member, at(said, member)]))
    })
  )
  return `${indented(objectOf({ names: list, more, complete }))}\n`
}
