import * as Either from "effect/Either"
import { type EventFilter, isEventKind } from "../names/events/EventFilter.ts"
import { EVENT_KINDS, isLiveKind, LIVE_KINDS, type LiveKind } from "../names/events/kinds.ts"
import { decodeAddress, scriptOf } from "../protocol/address.ts"
import { type Bytes, toHex } from "../protocol/bytes.ts"
import type { Network } from "../protocol/networks.ts"
import { InvalidRequest } from "./errors.ts"
import type { ChangeFilter, LiveFilter } from "./options.ts"
import { changeFilter, nameBytes, namespaceBytes } from "./text.ts"

/** Values of one part of a filter, as in a daemon. */
const MAX_VALUES = 100

/** In characters. Known forms are shorter. */
const MAX_CURSOR = 100

export interface WantedChanges {
  /** `undefined`: from now on. */
  readonly from: string | undefined
  readonly filter: EventFilter
  readonly live: ReadonlySet<LiveKind>
  /** Whether to have only changes of the wallets' names, or of watched names. */
  readonly mine: boolean
  readonly watched: boolean
  /** As a query of `GET /events`. */
  readonly query: URLSearchParams
}

type Read<A> = Either.Either<A, InvalidRequest>

type Field = keyof ChangeFilter

const invalid = (field: Field, reason: string) => Either.left(new InvalidRequest({ field, reason }))

const textsOf = (field: Field, given: string | ReadonlyArray<string> | undefined): Read<ReadonlyArray<string>> => {
  const texts = given === undefined ? [] : typeof given === "string" ? [given] : given
  if (!Array.isArray(texts)) return invalid(field, "has to be a text or an array of texts")
  return texts.length > MAX_VALUES ? invalid(field, `can have at most ${MAX_VALUES} values`) : Either.right(texts)
}

const cursorOf = (from: string | undefined): Read<string | undefined> =>
  from === undefined || (typeof from === "string" && from !== "" && from.length <= MAX_CURSOR)
    ? Either.right(from === "now" ? undefined : from)
    : invalid("from", "has to be the cursor of a change")

const switchOf = (field: Field, given: boolean | undefined): Read<boolean> =>
  given === undefined || typeof given === "boolean"
    ? Either.right(given ?? false)
    : invalid(field, "has to be a boolean")

export const withoutSubjects = <W extends Pick<WantedChanges, "mine" | "watched">>(
  wanted: W,
  why: string
): Read<W> => wanted.mine ? invalid("mine", why) : wanted.watched ? invalid("watched", why) : Either.right(wanted)

export const withoutLive = <W extends Pick<WantedChanges, "live">>(wanted: W, why: string): Read<W> => {
  const [kind] = wanted.live
  return kind === undefined ? Either.right(wanted) : invalid("types", `${kind}: ${why}`)
}

export const wantedChanges = (asked: ChangeFilter | LiveFilter, network: Network): Read<WantedChanges> =>
  Either.gen(function*() {
    const given = yield* changeFilter(asked)
    const bytesOf = (text: string): Read<Bytes> => {
      const decoded = decodeAddress(network, text)
      return "destination" in decoded ? Either.right(scriptOf(decoded.destination)) : invalid("owner", decoded.error)
    }
    const from = yield* cursorOf(given.from)
    const types: ReadonlyArray<string> = yield* textsOf("types", given.types)
    const live = new Set(types.filter(isLiveKind))
    const unknown = types.find((type) => !isEventKind(type) && !isLiveKind(type))
    if (unknown !== undefined) {
      yield* invalid("types", `has to be one of ${[...EVENT_KINDS, ...LIVE_KINDS].join(", ")}`)
    }
    const owner = yield* textsOf("owner", given.owner)
    const names = yield* Either.all((yield* textsOf("name", given.name)).map(nameBytes))
    const namespaces = (yield* textsOf("namespace", given.namespace)).filter((prefix) => prefix !== "")
    const prefixes = yield* Either.all(namespaces.map(namespaceBytes))
    const owners = yield* Either.all(owner.map(bytesOf))
    const some = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> | undefined => list.length === 0 ? undefined : list
    const query = new URLSearchParams({ nameEncoding: "hex", valueEncoding: "hex" })
    for (const name of names) query.append("name", toHex(name))
    for (const prefix of prefixes) query.append("prefix", toHex(prefix))
    for (const address of owner) query.append("owner", address)
    const mine = yield* switchOf("mine", given.mine)
    const watched = yield* switchOf("watched", given.watched)
    if (mine) query.append("mine", "1")
    if (watched) query.append("watched", "1")
    if (types.length > 0) query.append("types", types.join(","))
    return {
      from,
      filter: {
        names: some(names),
        prefixes: some(prefixes),
        owners: some(owners),
        kinds: types.length === 0 ? undefined : types.filter(isEventKind)
      },
      live,
      mine,
      watched,
      query
    }
  })
