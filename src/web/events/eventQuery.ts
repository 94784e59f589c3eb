import * as Either from "effect/Either"
import { quoted } from "../../base/safeText.ts"
import { type EventFilter, isStreamKind } from "../../names/events/EventFilter.ts"
import { readFilter } from "../../names/events/filterTexts.ts"
import { isLiveKind, LIVE_KINDS, type LiveKind, STREAM_KINDS } from "../../names/events/kinds.ts"
import { NAME_ENCODINGS, type NameEncoding } from "../../protocol/nameText.ts"
import type { ShapeContext } from "../../rpc/shapes/context.ts"
import type { EventContext } from "../../rpc/shapes/nameEvent.ts"

export interface EventQuery {
  /** The text of a cursor; `undefined`: from now on. */
  readonly from: string | undefined
  readonly filter: EventFilter
  /** Wanted kinds of live events; usually empty. */
  readonly live: ReadonlySet<LiveKind>
  /** Only names of loaded wallets, or only watched names; with both, their union. */
  readonly mine: boolean
  readonly watched: boolean
  readonly context: ShapeContext & Pick<EventContext, "bytes">
  /** Seconds to wait for one page; `undefined` for a stream. */
  readonly wait: number | undefined
  readonly limit: number
}

const MAX_WAIT = 60

export const MAX_LIMIT = 1_000

const PARTS = [
  "from",
  "name",
  "prefix",
  "owner",
  "mine",
  "watched",
  "types",
  "wait",
  "limit",
  "form",
  "nameEncoding",
  "valueEncoding"
]

const SINGLE = ["from", "mine", "watched", "wait", "limit", "form", "nameEncoding", "valueEncoding"]

type Read<A> = Either.Either<A, string>

const encodingOf = (name: string, given: string | null, fallback: NameEncoding): Read<NameEncoding> => {
  if (given === null) return Either.right(fallback)
  const found = NAME_ENCODINGS.find((encoding) => encoding === given)
  return found === undefined
    ? Either.left(`${name}: ${quoted(given)} is not one of ${NAME_ENCODINGS.join(", ")}`)
    : Either.right(found)
}

const integerOf = (
  query: URLSearchParams,
  { least = 0, most, part }: { readonly part: string; readonly least?: number; readonly most: number }
): Read<number | undefined> => {
  const given = query.get(part)
  if (given === null) return Either.right(undefined)
  return /^\d{1,6}$/.test(given) && Number(given) >= least && Number(given) <= most
    ? Either.right(Number(given))
    : Either.left(`${part}: ${quoted(given)} is not a whole number from ${least} to ${most}`)
}

/** `watched=1`, or `watched` alone. */
export const switchOf = (query: URLSearchParams, part: string): Read<boolean> => {
  const given = query.get(part)
  if (given === null || given === "0") return Either.right(false)
  return given === "" || given === "1"
    ? Either.right(true)
    : Either.left(`${part}: ${quoted(given)} is not one of 0, 1`)
}

/** Refuses unknown parts, and repeated ones of `single`. */
export const checkParts = (
  query: URLSearchParams,
  parts: ReadonlyArray<string>,
  single: ReadonlyArray<string> = SINGLE
): Read<void> =>
  Either.gen(function*() {
    for (const part of query.keys()) {
      if (!parts.includes(part)) yield* Either.left(`${quoted(part)} is not one of ${parts.join(", ")}`)
    }
    for (const part of single) {
      if (query.getAll(part).length > 1) yield* Either.left(`${part}: is given more than once`)
    }
  })

/** Only live kinds leave no kind of a block but `undone`. */
const kindsOf = (
  query: URLSearchParams
): Read<{ readonly types: ReadonlyArray<string>; readonly live: Set<LiveKind> }> => {
  const given = query.getAll("types").flatMap((list) => list.split(","))
  const wrong = given.find((type) => !isStreamKind(type) && !isLiveKind(type))
  return wrong === undefined
    ? Either.right({ types: given.filter(isStreamKind), live: new Set(given.filter(isLiveKind)) })
    : Either.left(`types: ${quoted(wrong)} is not one of ${[...STREAM_KINDS, ...LIVE_KINDS].join(", ")}`)
}

/** Live events have no cursor and are not for copies. */
const checkLive = (
  [kind]: ReadonlyArray<LiveKind>,
  { bytes, wait }: { readonly bytes: boolean; readonly wait: number | undefined }
): Read<void> => {
  if (kind === undefined) return Either.void
  if (wait !== undefined) return Either.left(`types: ${kind} has no cursor, so it needs a stream: omit wait`)
  return bytes ? Either.left(`types: ${kind} has no form=bytes: omit form`) : Either.void
}

export const readEventQuery = (query: URLSearchParams, settings: ShapeContext): Read<EventQuery> =>
  Either.gen(function*() {
    yield* checkParts(query, PARTS)
    const nameEncoding = yield* encodingOf("nameEncoding", query.get("nameEncoding"), settings.nameEncoding)
    const valueEncoding = yield* encodingOf("valueEncoding", query.get("valueEncoding"), settings.valueEncoding)
    const { live, types } = yield* kindsOf(query)
    const filter = yield* readFilter({
      names: query.getAll("name"),
      prefixes: query.getAll("prefix"),
      owners: query.getAll("owner"),
      types
    }, { network: settings.network, nameEncoding })
    const from = query.get("from") ?? undefined
    const form = query.get("form") ?? "records"
    if (form !== "records" && form !== "bytes") yield* Either.left(`form: ${quoted(form)} is not one of records, bytes`)
    const bytes = form === "bytes"
    const wait = yield* integerOf(query, { part: "wait", most: MAX_WAIT })
    yield* checkLive([...live], { bytes, wait })
    return {
      from: from === "now" ? undefined : from,
      filter: live.size > 0 && types.length === 0 ? { ...filter, kinds: [] } : filter,
      live,
      mine: yield* switchOf(query, "mine"),
      watched: yield* switchOf(query, "watched"),
      context: { network: settings.network, nameEncoding, valueEncoding, bytes },
      wait,
      limit: (yield* integerOf(query, { part: "limit", least: 1, most: MAX_LIMIT })) ?? MAX_LIMIT
    }
  })

const CALENDAR_PARTS = ["name", "owner", "mine", "watched", "nameEncoding"]

/** The names that match each given part. */
export interface CalendarQuery extends Pick<EventFilter, "names" | "owners"> {
  /** As in `EventQuery`; both if neither is given. */
  readonly mine: boolean
  readonly watched: boolean
}

export const readCalendarQuery = (
  query: URLSearchParams,
  settings: Pick<ShapeContext, "nameEncoding" | "network">
): Read<CalendarQuery> =>
  Either.gen(function*() {
    yield* checkParts(query, CALENDAR_PARTS)
    const { names, owners } = yield* readFilter(
      { names: query.getAll("name"), prefixes: [], owners: query.getAll("owner"), types: [] },
      {
        network: settings.network,
        nameEncoding: yield* encodingOf("nameEncoding", query.get("nameEncoding"), settings.nameEncoding)
      }
    )
    const mine = yield* switchOf(query, "mine")
    const watched = yield* switchOf(query, "watched")
    const all = ["name", "owner", "mine", "watched"].every((part) => !query.has(part))
    return { names, owners, mine: mine || all, watched: watched || all }
  })
