import * as Either from "effect/Either"
import { quoted } from "../base/safeText.ts"
import { MAX_NAME_LENGTH, MAX_SPENDABLE_VALUE } from "../consensus/names.ts"
import { NameNotFound, requestedName } from "../names/errors.ts"
import { type Bytes, EMPTY } from "../protocol/bytes.ts"
import { decodeText, encodeText } from "../protocol/nameText.ts"
import { nameFault } from "../values/nameFault.ts"
import { readName } from "../values/readName.ts"
import { InvalidRequest } from "./errors.ts"
import type { ChangeFilter, FindFilter, ListFilter, LiveFilter } from "./options.ts"

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

/** Unless the caller gives a limit. */
const NAMES_LISTED = 100

const limitOf = (limit: number | undefined): Either.Either<number, InvalidRequest> => {
  if (limit === undefined) return Either.right(NAMES_LISTED)
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
    const fault = given.anyName === true ? undefined : nameFault(bytes.name) ?? mistyped(given.name)
    return fault === undefined
      ? Either.right(bytes)
      : Either.left(
        new InvalidRequest({ field: "name", reason: `${fault}; the option anyName registers it all the same` })
      )
  })

/** Says which name the text means if that is another one, such as `d/x` for `x.bit`. */
const mistyped = (name: string): string | undefined => {
  const reading = readName(name)
  if (reading._tag === "Unread") return reading.why.replace(/\.$/, "")
  return reading.text === name ? undefined : `${quoted(name)} means ${reading.what}, the name ${quoted(reading.text)}`
}

/** For a name without a record. A text that means another name does not say that it is free. */
export const absentName = (name: Bytes): NameNotFound | InvalidRequest => {
  const text = encodeText(name, "utf8") ?? ""
  // Applications may have names without a namespace, and names beyond ASCII in one.
  const isExact = /^[a-z]+\/.*[^\0-\x7f]/.test(text) && text === text.trim()
  const reason = !isExact && (/[/.]/.test(text) || text !== text.trim()) ? mistyped(text) : undefined
  return reason === undefined ? new NameNotFound(requestedName(name)) : new InvalidRequest({ field: "name", reason })
}

/** Refuses conditions that would be ignored, such as those of another call. */
const checkedFilter = <A extends object>(
  given: A,
  { call, known }: { readonly call: string; readonly known: Readonly<Record<keyof A, true>> }
): Either.Either<A, InvalidRequest> => {
  const filter: unknown = given
  if (typeof filter !== "object" || filter === null) {
    return Either.left(
      new InvalidRequest({ field: "filter", reason: "has to be an object such as { namespace: \"d/\" }" })
    )
  }
  const unknown = Object.keys(given).find((field) => !Object.hasOwn(known, field))
  return unknown === undefined ? Either.right(given) : Either.left(
    new InvalidRequest({
      field: unknown,
      reason: `is not a condition of ${call}, which has ${Object.keys(known).join(", ")}`
    })
  )
}

const LIST_FIELDS: Readonly<Record<keyof ListFilter, true>> = { namespace: true, limit: true, requireProof: true }

const FIND_FIELDS: Readonly<Record<keyof FindFilter, true>> = {
  text: true,
  key: true,
  value: true,
  owner: true,
  namespace: true,
  changedSince: true,
  expiresWithin: true,
  includeExpired: true,
  requireProof: true
}

const CHANGE_FIELDS: Readonly<Record<keyof ChangeFilter, true>> = {
  from: true,
  types: true,
  name: true,
  namespace: true,
  owner: true,
  watched: true,
  mine: true
}

export const findFilter = (given: FindFilter): Either.Either<FindFilter, InvalidRequest> =>
  checkedFilter(given, { call: "findNames", known: FIND_FIELDS })

export const changeFilter = <F extends ChangeFilter | LiveFilter>(given: F): Either.Either<F, InvalidRequest> =>
  Either.map(checkedFilter<ChangeFilter | LiveFilter>(given, { call: "changes", known: CHANGE_FIELDS }), () => given)

interface WantedList {
  readonly prefix: Bytes
  readonly most: number
  readonly options: Pick<ListFilter, "requireProof">
}

export const listing = (given: ListFilter): Either.Either<WantedList, InvalidRequest> =>
  Either.gen(function*() {
    const { limit, namespace, requireProof } = yield* checkedFilter(given, { call: "listNames", known: LIST_FIELDS })
    const [prefix, most] = [yield* namespaceBytes(namespace), yield* limitOf(limit)]
    return { prefix, most, options: requireProof === undefined ? {} : { requireProof } }
  })

export const operationBytes = <W extends string>(
  { name, value, waitFor }: GivenOperation<W>,
  waits: ReadonlyArray<W>
): Either.Either<{ readonly name: Bytes; readonly value: Bytes }, InvalidRequest> =>
  Either.map(
    Either.all([nameBytes(name), valueBytes(value), choiceOf("waitFor", waitFor, waits)]),
    ([name, value]) => ({ name, value })
  )
