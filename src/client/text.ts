import * as Either from "effect/Either"
import { MAX_NAME_LENGTH, MAX_SPENDABLE_VALUE } from "../consensus/names.ts"
import { type Bytes, EMPTY } from "../protocol/bytes.ts"
import { decodeText } from "../protocol/nameText.ts"
import { nameFault } from "../values/nameFault.ts"
import { InvalidRequest } from "./errors.ts"

const bytesOf = (
  { field, most, text }: { readonly field: string; readonly text: string; readonly most: number }
): Either.Either<Bytes, InvalidRequest> => {
  if (typeof text !== "string") return Either.left(new InvalidRequest({ field, reason: "has to be a text" }))
  // Each character takes at least one byte.
  const bytes = text.length > most ? EMPTY : decodeText(text, "utf8")
  if (bytes === undefined) return Either.left(new InvalidRequest({ field, reason: "is not Unicode text" }))
  return text.length > most || bytes.length > most
    ? Either.left(new InvalidRequest({ field, reason: `is longer than ${most} bytes` }))
    : Either.right(bytes)
}

export const nameBytes = (name: string): Either.Either<Bytes, InvalidRequest> =>
  bytesOf({ field: "name", text: name, most: MAX_NAME_LENGTH })

const valueBytes = (value: string): Either.Either<Bytes, InvalidRequest> =>
  bytesOf({ field: "value", text: value, most: MAX_SPENDABLE_VALUE })

export const namespaceBytes = (namespace: string | undefined): Either.Either<Bytes, InvalidRequest> =>
  bytesOf({ field: "namespace", text: namespace ?? "", most: MAX_NAME_LENGTH })

const DEFAULT_LIMIT = 100

export const limitOf = (limit: number | undefined): Either.Either<number, InvalidRequest> => {
  if (limit === undefined) return Either.right(DEFAULT_LIMIT)
  return Number.isInteger(limit) && limit >= 0
    ? Either.right(limit)
    : Either.left(new InvalidRequest({ field: "limit", reason: "has to be an integer of 0 or more" }))
}

/** Refuses an unknown choice, which the code would otherwise take for a known one. */
const choiceOf = <A extends string>(
  field: string,
  given: A | undefined,
  words: ReadonlyArray<A>
): Either.Either<void, InvalidRequest> =>
  given === undefined || words.includes(given)
    ? Either.right(undefined)
    : Either.left(new InvalidRequest({ field, reason: `has to be one of ${words.join(", ")}` }))

export interface GivenOperation<W extends string> {
  readonly name: string
  readonly value: string
  readonly waitFor: W | undefined
}

/**
 * As `operationBytes`, for a new name. Unless `anyName` is set, refuses a name that no program would read as the domain
 * or identity of its namespace, before it costs money.
 */
export const registrationBytes = <W extends string>(
  given: GivenOperation<W> & { readonly anyName: boolean | undefined },
  waits: ReadonlyArray<W>
): Either.Either<{ readonly name: Bytes; readonly value: Bytes }, InvalidRequest> =>
  Either.flatMap(operationBytes(given, waits), (bytes) => {
    const fault = given.anyName === true ? undefined : nameFault(bytes.name)
    return fault === undefined
      ? Either.right(bytes)
      : Either.left(
        new InvalidRequest({ field: "name", reason: `${fault}; the option anyName registers it all the same` })
      )
  })

export const operationBytes = <W extends string>(
  { name, value, waitFor }: GivenOperation<W>,
  waits: ReadonlyArray<W>
): Either.Either<{ readonly name: Bytes; readonly value: Bytes }, InvalidRequest> =>
  Either.map(
    Either.all([nameBytes(name), valueBytes(value), choiceOf("waitFor", waitFor, waits)]),
    ([name, value]) => ({ name, value })
  )
