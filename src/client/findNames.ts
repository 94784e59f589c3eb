import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type NameQuery, queryFault } from "../names/search/nameQuery.ts"
import { decodeAddress, scriptOf } from "../protocol/address.ts"
import { toHex } from "../protocol/bytes.ts"
import type { Network } from "../protocol/networks.ts"
import { SEARCH_KEYS } from "../values/searchable.ts"
import { InvalidRequest, NotSynced } from "./errors.ts"
import type { FindFilter } from "./options.ts"
import type { Freshness, NameRecord } from "./records.ts"
import { findFilter, namespaceBytes } from "./text.ts"

export interface WantedNames {
  readonly query: NameQuery
  /** In the form of `name_find`. */
  readonly conditions: Readonly<Record<string, string | number | boolean>>
}

export const FOUND_AT_ONCE = 500

type Read<A> = Either.Either<A, InvalidRequest>

const invalid = (field: keyof FindFilter | "filter", reason: string) =>
  Either.left(new InvalidRequest({ field, reason }))

const WHOLE = 2 ** 31 - 1

const wholeOf = (field: "changedSince" | "expiresWithin", given: number | undefined): Read<number | undefined> =>
  given === undefined || (Number.isInteger(given) && given >= 0 && given <= WHOLE)
    ? Either.right(given)
    : invalid(field, "has to be an integer of 0 or more")

const textOf = (field: "text" | "value" | "owner", given: string | undefined): Read<string | undefined> =>
  given === undefined || typeof given === "string" ? Either.right(given) : invalid(field, "has to be a text")

export const wantedNames = (filter: FindFilter, network: Network): Read<WantedNames> =>
  Either.gen(function*() {
    const given = yield* findFilter(filter)
    const [text, value, owner] = [
      yield* textOf("text", given.text),
      yield* textOf("value", given.value),
      yield* textOf("owner", given.owner)
    ]
    const key = SEARCH_KEYS.find((each) => each === given.key)
    if (given.key !== undefined && key === undefined) {
      yield* invalid("key", `has to be one of ${SEARCH_KEYS.join(", ")}`)
    }
    const decoded = owner === undefined ? undefined : decodeAddress(network, owner)
    if (decoded !== undefined && !("destination" in decoded)) yield* invalid("owner", decoded.error)
    const { includeExpired = false, namespace } = given
    const prefix = namespace === undefined ? undefined : yield* namespaceBytes(namespace)
    const changedSince = yield* wholeOf("changedSince", given.changedSince)
    const expiresWithin = yield* wholeOf("expiresWithin", given.expiresWithin)
    const script = decoded !== undefined && "destination" in decoded ? scriptOf(decoded.destination) : undefined
    const query = { text, key, value, owner: script, prefix, changedSince, expiresWithin, includeExpired }
    const fault = queryFault(query)
    if (fault !== undefined) yield* invalid("filter", fault)
    const conditions = Object.entries({
      text,
      key,
      value,
      owner,
      namespace: prefix === undefined ? undefined : toHex(prefix),
      changedSince,
      expiresWithin,
      includeExpired
    }).flatMap(([name, condition]) => condition === undefined ? [] : [[name, condition] as const])
    return { query, conditions: Object.fromEntries(conditions) }
  })

export const stillIndexing = ({ height }: Pick<Freshness, "height">, indexed: number): NotSynced =>
  new NotSynced({ height, reason: `the node builds its search indexes: ${Math.floor(100 * indexed)} % done` })

export interface FoundPage {
  readonly records: ReadonlyArray<NameRecord>
  readonly next: string | undefined
  /** Set if blocks are missing, so that there may be other names. */
  readonly missing: NotSynced | undefined
  readonly isPartial: boolean
}

/** Incomplete indexes fail the stream at its end; missing blocks only if nothing was found, as in a list. */
export const pagesOfNames = <E>(
  read: (cursor: string | undefined) => Effect.Effect<FoundPage, E>
): Stream.Stream<NameRecord, E | NotSynced> => {
  interface Place {
    readonly cursor: string | undefined
    readonly found: number
    readonly end: NotSynced | undefined
  }
  const begin: Place = { cursor: undefined, found: 0, end: undefined }
  return Stream.paginateChunkEffect(begin, ({ cursor, end, found }) =>
    Effect.gen(function*() {
      if (end !== undefined) return yield* Effect.fail(end)
      const { isPartial, missing, next, records } = yield* read(cursor)
      const count = found + records.length
      const failure = next === undefined && (isPartial || count === 0) ? missing : undefined
      const place: Place = { cursor: next, found: count, end: failure }
      const isLast = next === undefined && failure === undefined
      return [Chunk.unsafeFromArray([...records]), isLast ? Option.none() : Option.some(place)] as const
    }))
}
