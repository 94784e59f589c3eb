import * as Either from "effect/Either"
import { type Bytes, EMPTY } from "../protocol/bytes.ts"
import { decodeText } from "../protocol/nameText.ts"
import { InvalidRequest } from "./errors.ts"

/** Names and values as applications write them, and their bytes. */

/** Bytes of a name (consensus). */
const MAX_NAME = 255
/** Bytes of a value that a wallet sends: more could never be spent. */
const MAX_VALUE = 520

const bytesOf = (field: string, text: string, most: number): Either.Either<Bytes, InvalidRequest> => {
  if (typeof text !== "string") return Either.left(new InvalidRequest({ field, reason: "has to be a text" }))
  // No character takes less than a byte.
  const bytes = text.length > most ? EMPTY : decodeText(text, "utf8")
  if (bytes === undefined) return Either.left(new InvalidRequest({ field, reason: "is not Unicode text" }))
  return text.length > most || bytes.length > most
    ? Either.left(new InvalidRequest({ field, reason: `is longer than ${most} bytes` }))
    : Either.right(bytes)
}

/** The bytes of a name. */
export const nameBytes = (name: string): Either.Either<Bytes, InvalidRequest> => bytesOf("name", name, MAX_NAME)

/** The bytes of a value that is to be sent. */
export const valueBytes = (value: string): Either.Either<Bytes, InvalidRequest> => bytesOf("value", value, MAX_VALUE)

/** The bytes that names of a namespace begin with. */
export const namespaceBytes = (namespace: string | undefined): Either.Either<Bytes, InvalidRequest> =>
  bytesOf("namespace", namespace ?? "", MAX_NAME)

const DEFAULT_LIMIT = 100

/** How many names are wanted. */
export const limitOf = (limit: number | undefined): Either.Either<number, InvalidRequest> => {
  if (limit === undefined) return Either.right(DEFAULT_LIMIT)
  return Number.isInteger(limit) && limit >= 0
    ? Either.right(limit)
    : Either.left(new InvalidRequest({ field: "limit", reason: "has to be an integer of 0 or more" }))
}

/** Refuses a word that is none of those that there are: it would be taken for one of them. */
export const choiceOf = <A extends string>(
  field: string,
  given: A | undefined,
  words: ReadonlyArray<A>
): Either.Either<void, InvalidRequest> =>
  given === undefined || words.includes(given)
    ? Either.right(undefined)
    : Either.left(new InvalidRequest({ field, reason: `has to be one of ${words.join(", ")}` }))
