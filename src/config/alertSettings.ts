import * as Either from "effect/Either"
import { quoted } from "../base/safeText.ts"
import { type Bytes, compare } from "../protocol/bytes.ts"
import { decodeText } from "../protocol/nameText.ts"
import { UsageError } from "./UsageError.ts"
import type { Values } from "./values.ts"

/** The settings of notices before names expire. */
export interface AlertSettings {
  /** Names of `-watch`, each once, in the order of their bytes. */
  readonly watch: ReadonlyArray<Bytes>
}

/** Maximum number of names of the settings: as many as the whole list of watched names has room for. */
export const MAX_WATCHED = 10_000

/** Maximum length of a name in bytes. Consensus. */
export const LONGEST_WATCHED = 255

const distinct = (names: ReadonlyArray<Bytes>): ReadonlyArray<Bytes> => {
  const sorted = names.toSorted(compare)
  return sorted.filter((name, at) => at === 0 || compare(name, sorted[at - 1] ?? name) !== 0)
}

/** The names are texts in the encoding of names. */
export const alertSettingsOf = (
  { nameencoding, watch }: Pick<Values, "nameencoding" | "watch">
): Either.Either<AlertSettings, UsageError> => {
  const problems: Array<string> = []
  if (watch.length > MAX_WATCHED) problems.push(`-watch: there can be ${MAX_WATCHED} names at most`)
  const names = watch.flatMap((text) => {
    const name = decodeText(text, nameencoding)
    if (name === undefined) problems.push(`-watch: ${quoted(text)} is not ${nameencoding}, the nameencoding`)
    else if (name.length > LONGEST_WATCHED) problems.push(`-watch: ${quoted(text)} is longer than a name can be`)
    return name === undefined ? [] : [name]
  })
  return problems.length > 0 ? Either.left(new UsageError({ problems })) : Either.right({ watch: distinct(names) })
}
